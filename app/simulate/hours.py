"""What was owed, asked for and used in each measured hour: GPU-milliseconds, exactly."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise

from app.core.scheduling.policy import HOUR
from app.simulate.checking import leaves_of
from app.simulate.engine import second_of
from app.simulate.records import NEVER, Run
from app.simulate.workloads import Job, Share, Trace


class Hourly:
    """The integral of a step function over each hour from `begins` to `ends`, told as intervals in any order."""

    def __init__(self, begins: int, ends: int) -> None:
        self.begins = begins
        self.ends = ends
        count = -(-(ends - begins) // HOUR)
        self._parts = [0] * (count + 1)
        self._steps = [0] * (count + 1)

    def add(self, start: int, end: int, gpus: int) -> None:
        """So many GPUs more from start to end, as far as that is measured."""
        start, end = max(start, self.begins) - self.begins, min(end, self.ends) - self.begins
        if start >= end:
            return
        first, last = start // HOUR, end // HOUR
        self._steps[first] += gpus
        self._steps[last] -= gpus
        self._parts[first] -= gpus * (start - first * HOUR)
        self._parts[last] += gpus * (end - last * HOUR)

    def hours(self) -> list[int]:
        """GPU-milliseconds by hour."""
        levels = accumulate(self._steps)
        return [part + level * HOUR for part, level in zip(self._parts, levels, strict=True)][:-1]


@dataclass(slots=True)
class Hours:
    """By hour; what is by leaf has a list for each."""

    capacity: list[int]
    held: list[int]
    """By anybody."""
    charged: list[int]
    """By funded work."""
    claims: dict[str, Fraction]
    used: dict[str, list[int]] = field(default_factory=dict)
    """Funded, by leaf."""
    demand: dict[str, list[int]] = field(default_factory=dict)
    """Of funded work that runs or waits, and that the fleet could hold."""

    @property
    def owed(self) -> dict[str, list[int]]:
        """Each leaf's claim on the capacity, in no hour more than it asked for."""
        return {
            leaf: [
                min(claim.numerator * capacity // claim.denominator, demand)
                for capacity, demand in zip(self.capacity, self.demand[leaf], strict=True)
            ]
            for leaf, claim in self.claims.items()
        }


def claims_of(shares: Sequence[Share]) -> dict[str, Fraction]:
    """Each leaf's part of the whole: the product of the fractions on its path (FS-1)."""
    known = {share.id: share for share in shares}
    totals: dict[str, int] = {}
    for share in shares:
        totals[share.parent] = totals.get(share.parent, 0) + share.weight
    found = {}
    for leaf in leaves_of(shares):
        claim, name = Fraction(1), leaf
        while name:
            share = known[name]
            claim *= Fraction(share.weight, totals[share.parent] or 1)
            name = share.parent
        found[leaf] = claim
    return found


def hours_of(run: Run) -> Hours:
    """The measured hours of a run."""
    trace = run.trace
    claims = claims_of(trace.shares)
    capacity = Hourly(trace.begins, trace.ends)
    for (start, gpus), (end, _) in pairwise([*run.capacity, (trace.ends, 0)]):
        capacity.add(start, end, gpus)
    held, charged = Hourly(trace.begins, trace.ends), Hourly(trace.begins, trace.ends)
    used = {leaf: Hourly(trace.begins, trace.ends) for leaf in claims}
    for number, gpus, start, end, funded in run.segments:
        held.add(start, end, gpus)
        leaf = trace.jobs[number].leaf
        if funded and leaf is not None:
            charged.add(start, end, gpus)
            used[leaf].add(start, end, gpus)
    found = Hours(capacity.hours(), held.hours(), charged.hours(), claims)
    found.used = {leaf: hourly.hours() for leaf, hourly in used.items()}
    found.demand = _demand(run, list(claims))
    return found


def _demand(run: Run, leaves: list[str]) -> dict[str, list[int]]:
    trace = run.trace
    demand = {leaf: Hourly(trace.begins, trace.ends) for leaf in leaves}
    holds = Holds(trace)
    for job, ended in zip(trace.jobs, run.ended, strict=True):
        if job.leaf is not None and job.min_runtime and holds(job):
            demand[job.leaf].add(second_of(job.submit), trace.ends if ended == NEVER else ended, job.size)
    return {leaf: hourly.hours() for leaf, hourly in demand.items()}


class Holds:
    """Whether the whole fleet, empty, could hold a job's gang."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._known: dict[tuple[str, int], int] = {}

    def __call__(self, job: Job) -> bool:
        key = (job.model, job.gpus)
        if key not in self._known:
            fitting = [node for node in self._trace.nodes if job.model in ("", node.model)]
            self._known[key] = sum(node.gpus // job.gpus for node in fitting)
        return self._known[key] >= job.replicas
