"""What people do to a policy to get more than their share: each turns a trace into the one with the attack (FS-18).

They compose: `inflate(squat(trace, leaf, 64), (leaf,))`. Honest jobs keep their ids, so that waits can be compared.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from app.core.scheduling.policy import HOUR
from app.simulate.workloads import Job, Trace

LONGEST = 8 * HOUR
"""The longest minimum runtime that may be declared (FS-4)."""
SECOND = 1000


def inflate(trace: Trace, leaves: Collection[str] | None = None) -> Trace:
    """These leaves, or all, write the highest priority that anybody writes on all that they submit."""
    highest = max((job.priority for job in trace.jobs), default=0)
    return _changed(trace, "inflated", leaves, lambda job: (replace(job, priority=highest),))


def declare(trace: Trace, leaves: Collection[str] | None = None, minimum: int = LONGEST) -> Trace:
    """All funded jobs of these leaves, or of all, declare this minimum runtime, whatever they need."""
    return _changed(
        trace,
        "declared",
        leaves,
        lambda job: (replace(job, min_runtime=minimum) if job.min_runtime else job,),
    )


def chain(trace: Trace, leaf: str, slice_: int = LONGEST) -> Trace:
    """The leaf kills its long funded jobs at the end of each `slice_` and submits the rest again, to be protected.

    The owner goes by the clock: the parts are submitted one slice apart, whether or not the one before has started.
    """

    def parts(job: Job) -> Iterator[Job]:
        if not job.min_runtime or job.runtime <= slice_:
            yield job
            return
        for at, done in enumerate(range(0, job.runtime, slice_)):
            runtime = min(slice_, job.runtime - done)
            name = job.id if at == 0 else f"{job.id}+{at}"
            yield replace(job, id=name, submit=job.submit + done, runtime=runtime, min_runtime=min(runtime, LONGEST))

    return _changed(trace, "chained", (leaf,), parts)


def split(trace: Trace, leaf: str) -> Trace:
    """The leaf submits each replica of its funded gangs, and each GPU of a node, as a job of its own."""

    def parts(job: Job) -> Iterator[Job]:
        if not job.min_runtime:
            yield job
            return
        for at in range(job.size):
            yield replace(job, id=job.id if at == 0 else f"{job.id}+{at}", gpus=1, replicas=1)

    return _changed(trace, "split", (leaf,), parts)


def squat(trace: Trace, leaf: str, gpus: int) -> Trace:
    """The leaf parks no-op jobs on so many GPUs for all the measured time, and debugs inside of them.

    Its debug jobs no longer queue; what it parks asks for the longest minimum runtime, resumes, and loses nothing.
    """
    node = max(node.gpus for node in trace.nodes)
    highest = max((job.priority for job in trace.jobs), default=0)
    parked = [
        Job(
            id=f"squat-{at:04d}",
            submit=trace.begins,
            runtime=trace.ends - trace.begins,
            gpus=min(node, gpus - held),
            leaf=leaf,
            min_runtime=LONGEST,
            priority=highest,
            checkpoint=SECOND,
        )
        for at, held in enumerate(range(0, gpus, node))
    ]
    queued = (job for job in trace.jobs if job.leaf != leaf or not job.debug)
    return _trace(trace, "squatted", [*queued, *parked])


def flood(trace: Trace, leaf: str, count: int, at: int, runtime: int = 4 * HOUR) -> Trace:
    """The leaf submits `count` jobs of one GPU in the second `at`, each with a minimum runtime of one second."""
    burst = [
        Job(id=f"flood-{at}-{n:05d}", submit=at, runtime=runtime, gpus=1, leaf=leaf, min_runtime=SECOND)
        for n in range(count)
    ]
    return _trace(trace, "flooded", [*trace.jobs, *burst])


def feint(trace: Trace, leaf: str, replicas: int, patience: int, every: int) -> Trace:
    """Again and again the leaf queues a gang of whole nodes, so that the fleet empties for it, and withdraws it."""
    node = max(node.gpus for node in trace.nodes)
    gangs = [
        Job(
            id=f"feint-{at:04d}",
            submit=submit,
            runtime=LONGEST,
            gpus=node,
            replicas=replicas,
            leaf=leaf,
            min_runtime=LONGEST,
            withdraw=submit + patience,
        )
        for at, submit in enumerate(range(trace.begins, trace.ends, every))
    ]
    return _trace(trace, "feinted", [*trace.jobs, *gangs])


def _changed(trace: Trace, word: str, leaves: Collection[str] | None, change: Callable[[Job], Iterable[Job]]) -> Trace:
    changed: list[Job] = []
    for job in trace.jobs:
        changed += change(job) if leaves is None or job.leaf in leaves else (job,)
    return _trace(trace, word, changed)


def _trace(trace: Trace, word: str, jobs: Iterable[Job]) -> Trace:
    """What would be submitted after the trace's end is not submitted."""
    ordered = sorted((job for job in jobs if job.submit < trace.ends), key=lambda job: (job.submit, job.id))
    return replace(trace, name=f"{trace.name}, {word}", jobs=tuple(ordered))
