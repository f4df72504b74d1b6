"""Whether a trace can be run at all: its names, its tree and its order."""

from collections.abc import Iterable, Sequence

from app.core.errors import Invalid
from app.simulate.workloads import Job, Share, Trace


def check(trace: Trace) -> None:
    """Invalid: it says what contradicts what."""
    if not 0 <= trace.begins < trace.ends:
        raise Invalid(f"What is measured begins at {trace.begins} ms and ends at {trace.ends} ms: it must end later.")
    _distinct("node", (node.id for node in trace.nodes))
    _distinct("budget", (share.id for share in trace.shares))
    _distinct("job", (job.id for job in trace.jobs))
    leaves = set(leaves_of(trace.shares))
    before = 0
    for job in trace.jobs:
        _check_job(job, leaves)
        if job.submit < before:
            raise Invalid(f"Job {job.id} is submitted before the one above it. Sort the jobs by submit time.")
        before = job.submit
    nodes = {node.id for node in trace.nodes}
    for mishap in trace.mishaps:
        if mishap.node not in nodes:
            raise Invalid(f"A mishap names node {mishap.node}, which is not in the fleet.")


def leaves_of(shares: Sequence[Share]) -> list[str]:
    """The budgets that are not split further, in the order of the trace. Invalid: they are no tree."""
    known = {share.id: share.parent for share in shares}
    for share in shares:
        if share.weight < 0:
            raise Invalid(f"The weight of budget {share.id} is {share.weight}; it may be 0 or more.")
        above, steps = share.id, 0
        while above != "":
            if above not in known or steps > len(known):
                raise Invalid(f"Budget {share.id} does not hang on the root: its parent is {share.parent!r}.")
            above, steps = known[above], steps + 1
    parents = set(known.values())
    return [share.id for share in shares if share.id not in parents]


def _distinct(kind: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not name or name in seen:
            raise Invalid(f"Two of the trace's {kind}s are called {name!r}." if name else f"A {kind} has no name.")
        seen.add(name)


def _check_job(job: Job, leaves: set[str]) -> None:
    if job.gpus < 1 or job.replicas < 1 or job.runtime < 0 or job.submit < 0 or job.min_runtime < 0:
        raise Invalid(f"Job {job.id} needs a replica, a GPU for each, and times of 0 ms or more.")
    if job.leaf is not None and job.leaf not in leaves:
        raise Invalid(f"Job {job.id} is charged to {job.leaf!r}, which is no budget, or one that is split into others.")
