"""What people of the laboratory ask for: one job after the other, drawn from the published mixes."""

from collections.abc import Iterator

from app.core.scheduling.policy import HOUR, MINUTE
from app.core.scheduling.workload import Kind
from app.simulate.distributions import KALOS, SEREN, WHOLE, Cluster, Curve, Stream, between
from app.simulate.lab import Lab
from app.simulate.workloads import Job

SECOND = 1000
NODE_SIZES = 8
"""Up to here a job of the published mixes has one node."""

SESSION = Curve((HOUR // SECOND, 10 * HOUR // SECOND), (0, WHOLE))
"""Seconds that somebody stays at an interactive session (chosen)."""


def gang_cap(lab: Lab, claim: int) -> int:
    """The largest power of two that the claim carries, at least one GPU."""
    return 1 << max(1, lab.gpus * claim // WHOLE * lab.gang_cap // WHOLE).bit_length() - 1


class Asking:
    """Draws the jobs of one leaf; their submit times are zero until they are placed."""

    def __init__(self, lab: Lab, seed: int, leaf: str, claim: int) -> None:
        self._lab, self._leaf, self._cap = lab, leaf, gang_cap(lab, claim)
        self._work, self._tests = Stream(seed, f"work/{leaf}"), Stream(seed, f"debug/{leaf}")
        self._rest = Stream(seed, f"unfunded/{leaf}")

    def work(self) -> Job:
        """A funded job that is no debugging: a session, a small job of over 15 minutes, or a gang of any length."""
        lab, stream = self._lab, self._work
        if stream.below(WHOLE - lab.debug) < lab.sessions:
            seconds = SESSION.quantile(stream.share())
            return self._job(stream, 1, seconds, lab.session_minimum, kind=Kind.SESSION, resumable=False)
        cluster, size = self._drawn(stream, self._cap)
        if size > NODE_SIZES:
            seconds = between(cluster.pretraining, 0, lab.longest // SECOND, stream.share())
            return self._job(stream, size, seconds, stream.pick(lab.gang_minimums))
        curve = cluster.pretraining if stream.share() < lab.training else cluster.durations
        seconds = between(curve, lab.debug_longest // SECOND, lab.longest // SECOND, stream.share())
        resumable = stream.share() >= lab.not_resumable
        return self._job(stream, size, seconds, stream.pick(lab.small_minimums), resumable=resumable)

    def debug(self) -> Job:
        """A funded job of at most 15 minutes on one node; nobody waits for it a second time."""
        lab, stream = self._lab, self._tests
        cluster, size = self._drawn(stream, min(self._cap, NODE_SIZES))
        seconds = between(cluster.debugging, 0, lab.debug_longest // SECOND, stream.share())
        minimum = min(lab.debug_longest, max(stream.pick(lab.debug_minimums), -(-seconds // 60) * MINUTE))
        return self._job(stream, size, seconds, minimum, resumable=False, debug=True)

    def unfunded(self) -> Job:
        """A job that takes what is left over."""
        lab, stream = self._lab, self._rest
        cluster, size = self._drawn(stream, lab.unfunded_largest)
        shortest, longest = lab.debug_longest // SECOND, lab.unfunded_longest // SECOND
        return self._job(stream, size, between(cluster.pretraining, shortest, longest, stream.share()), 0)

    def _drawn(self, stream: Stream, cap: int) -> tuple[Cluster, int]:
        cluster = KALOS if stream.share() < self._lab.kalos else SEREN
        return cluster, min(cap, stream.pick(cluster.sizes))

    def _job(
        self,
        stream: Stream,
        size: int,
        seconds: int,
        min_runtime: int,
        *,
        kind: Kind = Kind.BATCH,
        resumable: bool = True,
        debug: bool = False,
    ) -> Job:
        """Debugging has the highest priority; what cannot resume saves nothing."""
        lab = self._lab
        replicas = max(1, size // lab.gpus_per_node)
        written = stream.pick(lab.priorities)
        return Job(
            id="",
            submit=0,
            runtime=max(1, seconds) * SECOND,
            gpus=size // replicas,
            replicas=replicas,
            leaf=self._leaf,
            min_runtime=min_runtime,
            priority=lab.highest if lab.inflated or debug else written,
            resumable=resumable,
            checkpoint=stream.pick(lab.checkpoints) if resumable else None,
            kind=kind,
            debug=debug,
        )


def until(jobs: Iterator[Job], gpu_seconds: int) -> list[Job]:
    """The first of the jobs that together need about so much: the last one is left out if that comes closer."""
    found = []
    for job in jobs:
        work = job.size * job.runtime // SECOND
        if work // 2 > gpu_seconds:
            break
        found.append(job)
        gpu_seconds -= work
        if gpu_seconds <= 0:
            break
    return found
