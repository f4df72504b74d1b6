"""When the funded jobs are submitted: large ones where most demand is missing, small ones in what is left."""

from collections.abc import Callable, Mapping, Sequence

from app.core.scheduling.policy import HOUR, MINUTE
from app.simulate.asking import NODE_SIZES, SECOND
from app.simulate.demand import EXPONENTIAL, Level, Openings
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
        self.jobs: list[tuple[int, Job]] = []

    def put(self, job: Job, submit: int) -> None:
        """Submitted then; what is past the end of the trace is not submitted at all."""
        if submit >= self._lab.ends:
            return
        self.jobs.append((submit, job))
        self.level.add(submit, submit + job.runtime, job.size)
        self.leaves[str(job.leaf)].add(submit, submit + job.runtime, job.size)

    def place_large(self, jobs: Sequence[Job]) -> None:
        """The largest first, each at the best of some hours: where the fleet and its leaf are furthest below aim."""
        for job in sorted(jobs, key=lambda job: -job.size * job.runtime):
            starts = [self._stream.below(self._hours) for _ in range(CANDIDATES)]
            best = min(starts, key=lambda hour: self._crowding(job, hour))
            self.put(job, best * HOUR + self._stream.below(3600) * SECOND)

    def _crowding(self, job: Job, start: int) -> int:
        """How far above aim the hours would be on average, and tenfold where the fleet's bound is broken."""
        end = min(self._hours, start + -(-job.runtime // HOUR))
        added = job.size * min(3600, job.runtime // SECOND)
        most = self._lab.gpus * 3600 * self._lab.funded_most // WHOLE
        leaf, aim = self.leaves[str(job.leaf)].hours, self._aims[str(job.leaf)]
        level, whole = self.level.hours, self._aim
        total = sum(level[h] - whole[h] + leaf[h] - aim[h] for h in range(start, end))
        total += 10 * sum(max(0, level[h] + added - most) for h in range(start, end))
        return total // (end - start)

    def place_small(self, leaf: str, jobs: Sequence[Job]) -> None:
        """In sweeps, at hours in which people are busy and demand is missing."""
        size = max(1, -(-len(jobs) // ROUNDS))
        for first in range(0, len(jobs), size):
            openings = self._openings(leaf, self._missing)
            left = list(jobs[first : first + size])
            while left:
                submit = openings.draw(self._stream)
                for _ in range(1 + (self._lab.sweep - 1) * EXPONENTIAL.quantile(self._stream.share()) // 1000):
                    if left:
                        self.put(left.pop(), submit)

    def place_debug(self, leaf: str, jobs: Sequence[Job]) -> None:
        """In chains, when people are busy and their leaf is active: it failed, is mended, and is tried again."""
        openings = self._openings(leaf, lambda leaf, hour: self._aims[leaf][hour])
        left = list(jobs)
        while left:
            submit = openings.draw(self._stream)
            for _ in range(1 + self._stream.below(5)):
                if left:
                    job = left.pop()
                    self.put(job, submit)
                    submit += job.runtime + MINUTE + self._stream.below(600) * SECOND

    def _openings(self, leaf: str, room: Callable[[str, int], int]) -> Openings:
        return Openings(self._lab, [room(leaf, hour) for hour in range(self._hours)])

    def _missing(self, leaf: str, hour: int) -> int:
        """Of the leaf's aim, as far as the fleet's is not reached either."""
        most = self._aim[hour] - self.level.hours[hour]
        return max(self._aims[leaf][hour] // 20, min(most, self._aims[leaf][hour] - self.leaves[leaf].hours[hour]))
