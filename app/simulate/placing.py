"""When the funded jobs are submitted: large ones where most demand is missing, small ones in what is left."""

from collections.abc import Mapping, Sequence

from app.core.scheduling.policy import HOUR, MINUTE
from app.simulate.asking import NODE_SIZES, SECOND
from app.simulate.demand import EXPONENTIAL, Level, Openings, claims
from app.simulate.distributions import WHOLE, Stream
from app.simulate.lab import Lab
from app.simulate.workloads import Job

CANDIDATES = 16
"""Hours that a large job's people look at."""
LONG = 6 * HOUR
ROUNDS = 20
"""How often the small jobs look again at what is missing."""


def is_large(job: Job) -> bool:
    return job.size > NODE_SIZES or job.runtime >= LONG


class Placing:
    """Keeps the aims and what has been placed, of the fleet and of each leaf."""

    def __init__(self, lab: Lab, seed: int, aims: Mapping[str, Sequence[int]]) -> None:
        self._lab, self._aims, self._stream = lab, aims, Stream(seed, "placing")
        self._hours = lab.ends // HOUR
        self.level = Level(self._hours)
        self.leaves = {leaf: Level(self._hours) for leaf in aims}
        self._aim: list[int] = [sum(levels) for levels in zip(*aims.values(), strict=True)]
        self._whole = lab.gpus * 3600
        self._calm = [min(level, self._whole * lab.funded_mean // WHOLE) for level in self._aim]
        self._own = {
            leaf: self._whole * claim // WHOLE * lab.large_most // WHOLE for leaf, claim in claims(lab.shares).items()
        }
        self.jobs: list[tuple[int, Job]] = []

    def put(self, job: Job, submit: int) -> None:
        """Submitted then; what is past the end of the trace is not submitted at all."""
        if submit >= self._lab.ends:
            return
        self.jobs.append((submit, job))
        self.level.add(submit, submit + job.runtime, job.size)
        self.leaves[str(job.leaf)].add(submit, submit + job.runtime, job.size)

    def place_large(self, jobs: Sequence[Job]) -> None:
        """The largest first, each at the best of some hours: where its leaf and the fleet have most room."""
        for job in sorted(jobs, key=lambda job: -job.size * job.runtime):
            starts = [self._stream.below(self._hours) for _ in range(CANDIDATES)]
            best = min(starts, key=lambda hour: self._crowding(job, hour))
            self.put(job, best * HOUR + self._stream.below(3600) * SECOND)

    def _crowding(self, job: Job, start: int) -> int:
        """How full the fleet and the leaf's bound would be on average; tenfold for what is above the bound.

        Who runs for hours on many GPUs plans it: bursts are made of small jobs, but on slack days all rest.
        """
        end = min(self._hours, start + -(-job.runtime // HOUR))
        added = job.size * min(3600, job.runtime // SECOND)
        leaf, level, own = self.leaves[str(job.leaf)].hours, self.level.hours, self._own[str(job.leaf)]
        fleet = (sum(level[start:end]) - sum(self._calm[start:end])) * WHOLE // self._whole
        held = leaf[start:end]
        mine = sum(held)
        if max(held) + added > own:
            mine += 10 * sum(max(0, hour + added - own) for hour in held)
        return (fleet + mine * WHOLE // own) // (end - start)

    def place_small(self, leaf: str, jobs: Sequence[Job]) -> None:
        """In sweeps, at hours in which people are busy and demand is missing."""
        size = max(1, -(-len(jobs) // ROUNDS))
        for first in range(0, len(jobs), size):
            openings = Openings(self._lab, self._missing(leaf))
            left = list(jobs[first : first + size])
            while left:
                submit = openings.draw(self._stream)
                for _ in range(1 + (self._lab.sweep - 1) * EXPONENTIAL.quantile(self._stream.share()) // 1000):
                    if left:
                        self.put(left.pop(), submit)

    def place_debug(self, leaf: str, jobs: Sequence[Job]) -> None:
        """In chains, when people are busy and their leaf is active: it failed, is mended, and is tried again."""
        openings = Openings(self._lab, self._aims[leaf])
        left = list(jobs)
        while left:
            submit = openings.draw(self._stream)
            for _ in range(1 + self._stream.below(5)):
                if left:
                    job = left.pop()
                    self.put(job, submit)
                    submit += job.runtime + MINUTE + self._stream.below(600) * SECOND

    def _missing(self, leaf: str) -> list[int]:
        """Of the leaf's aim by hour, as far as the fleet's is not reached either."""
        return [
            max(own // 20, min(aim - level, own - mine))
            for own, mine, aim, level in zip(
                self._aims[leaf], self.leaves[leaf].hours, self._aim, self.level.hours, strict=True
            )
        ]
