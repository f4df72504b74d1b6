"""KAI Scheduler's time-based fair share.

After kai-scheduler's plugins proportion, reclaim and minruntime (Apache 2.0), read in 2026. At each level a queue has
min(deserved, requested); the rest is divided in rounds (`division.py`), where past use in the window lowers a queue's
weight; queues are served by saturation, allocated over fair share. A job whose queue stays within its fair share may
reclaim from queues above theirs, or, within its deserved quota, from queues above that; the reclaimer has to stay less
saturated than whom it took from. What runs for less than its minimum runtime is not reclaimed; there that is a setting
of the queue, here of the job.

Chosen: `quota` of the claims is deserved, by default none, so that history weighs everywhere; use is looked up once a
minute; reclaim is tried when work begins to wait and once a minute. Work that asks for no budget counts for nothing
and yields. Left out: consolidation, elastic gangs, preemption within a queue, the candidate's own size in the order of
queues.
"""

from collections.abc import Iterator
from fractions import Fraction

from app.core.scheduling.policy import MINUTE
from app.core.scheduling.usage import Series
from app.simulate.policies.baseline import Baseline, Floor
from app.simulate.policies.division import Asking, divide
from app.simulate.policies.fleet import Gang
from app.simulate.policies.walking import Ticking, Turn, by_leaf, funded, pick
from app.simulate.settings import Settings
from app.simulate.shares import Group, fork
from app.simulate.workloads import Job, Trace

Victims = tuple[Group, Group, Group, list[Gang]]
"""A leaf; the reclaimer's queue and the leaf's own below their lowest common ancestor; gangs, the youngest first."""


class Window:
    """GPU-milliseconds of the leaves and of the fleet over a sliding window."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.capacity = self._series()
        self.leaves: dict[str, Series] = {}

    def _series(self) -> Series:
        series = Series()
        series.add(-self.length, 0)
        return series

    def change(self, now: int, leaf: str, gpus: int) -> None:
        self.leaves.setdefault(leaf, self._series()).add(now, gpus)

    def size_up(self, now: int, capacity: int) -> None:
        if capacity != self.capacity.slope:
            self.capacity.add(now, capacity - self.capacity.slope)

    def usage(self, now: int) -> dict[str, int]:
        return {leaf: self._within(series, now) for leaf, series in self.leaves.items()}

    def available(self, now: int) -> int:
        return self._within(self.capacity, now)

    def _within(self, series: Series, now: int) -> int:
        return series.total(now) - series.total_at(now - self.length)


class Kai:
    """`k` and `quota` are thousandths; of the past it knows the window."""

    def __init__(self, window: int, k: int, quota: int) -> None:
        self.window = Window(window)
        self.k = k
        self.quota = quota
        self.ticking = Ticking(MINUTE)
        self.looked_up_at = -MINUTE
        self.usage: dict[str, int] = {}
        self.available = 0
        self.fair: dict[str, int] = {}
        self.deserved: dict[str, int] = {}

    def arrange(self, floor: Floor, now: int) -> None:
        self._look_up(floor, now)
        looking = self.ticking.leaves(floor, now)
        if looking or any(floor.fits_funded(shape) for shape in floor.queue.shapes):
            self._share_out(floor)
            self._start_all(floor, now)
            for leaf in looking:
                victims = self._in_reach(floor, leaf, now)
                while victims and any(
                    self._reclaim(floor, job, victims, now) for job in floor.queue.heads(leaf, funded)
                ):
                    victims = self._in_reach(floor, leaf, now)
            self._start_all(floor, now)
        floor.scavenge(now)

    def next_due(self, floor: Floor, now: int) -> int | None:
        return self.ticking.next_due(floor, now)

    def _look_up(self, floor: Floor, now: int) -> None:
        self.window.size_up(now, floor.fleet.capacity)
        if now >= self.looked_up_at + MINUTE:
            self.looked_up_at = now
            leaves = self.window.usage(now)
            self.usage = {}
            for leaf, used in leaves.items():
                for group in floor.tree.groups[leaf].path:
                    self.usage[group.id] = self.usage.get(group.id, 0) + used
            self.available = self.window.available(now)

    def _share_out(self, floor: Floor) -> None:
        """Fair shares of all queues, the fleet's GPUs divided down the tree."""
        capacity = floor.fleet.capacity
        self.fair = {"": capacity}
        groups = [floor.tree.root]
        for group in groups:
            asking = [self._asking(child, capacity) for child in group.children]
            parts = divide(self.fair[group.id], asking, self.available, self.k)
            self.fair.update(zip([child.id for child in group.children], parts, strict=True))
            self.deserved.update((child.id, each.deserved) for child, each in zip(group.children, asking, strict=True))
            groups += group.children

    def _asking(self, group: Group, capacity: int) -> Asking:
        deserved = int(group.claim * capacity * self.quota / 1_000) if self.quota else 0
        requested = group.running + group.waiting
        return Asking(group.id, group.weight, deserved, requested, self.usage.get(group.id, 0))

    def _turn(self, group: Group) -> Turn:
        """Below its fair share first, then below its deserved quota, then the less saturated."""
        fair, running = self.fair[group.id], group.running
        order = 4 * (running > fair) + 2 * (running >= self.deserved[group.id]) + (not fair)
        return (order, Fraction(running, fair or 1), group.id)

    def _start_all(self, floor: Floor, now: int) -> None:
        while (job := pick(floor, self._turn)) is not None:
            floor.begin(job, now, until=now + job.min_runtime)

    def _in_reach(self, floor: Floor, leaf: str, now: int) -> list[Victims]:
        """From whom the leaf might reclaim, and what has run its minimum there; the most saturated queue first."""
        gangs = by_leaf(floor, lambda gang: gang.start + gang.job.min_runtime <= now)
        pairs = [
            (theirs, mine, over, gangs[theirs.id])
            for theirs in sorted(floor.tree.leaves, key=self._turn, reverse=True)
            if theirs.id in gangs
            for mine, over in fork(floor.tree.groups[leaf], theirs)
        ]
        return [pair for pair in pairs if pair[2].running > min(self.fair[pair[2].id], self.deserved[pair[2].id])]

    def _reclaim(self, floor: Floor, job: Job, reach: list[Victims], now: int) -> bool:
        """Start the job on what others give up, if they have to."""
        leaf = floor.tree.groups[job.leaf or ""]
        if leaf.running + job.size > self.fair[leaf.id] or not any(self._may_lose(each, job) for each in reach):
            return False
        victims = floor.fleet.victims(job, self._candidates(floor, job, reach))
        if victims is None or not self._stays_less_saturated(floor, leaf, job, victims):
            return False
        for gang in victims:
            floor.evict(gang, now)
        floor.begin(job, now, until=now + job.min_runtime)
        return True

    def _may_lose(self, victims: Victims, job: Job, lost: int = 0) -> bool:
        """Whether the queue, which has lost so much, is above its fair share, or its quota if the job is within its."""
        _, mine, over, _ = victims
        left = over.running - lost
        within = mine.running + job.size <= self.deserved[mine.id]
        return left > self.fair[over.id] or (within and left > self.deserved[over.id])

    def _candidates(self, floor: Floor, job: Job, reach: list[Victims]) -> Iterator[Gang]:
        """What yields, the youngest first; then what may be reclaimed."""
        yield from reversed(list(floor.fleet.yielding.values()))
        lost: dict[str, int] = {}
        for victims in reach:
            theirs, _, over, gangs = victims
            for gang in gangs:
                if not self._may_lose(victims, job, lost.get(over.id, 0)):
                    break
                for group in theirs.path:
                    lost[group.id] = lost.get(group.id, 0) + gang.job.size
                yield gang

    def _stays_less_saturated(self, floor: Floor, leaf: Group, job: Job, victims: list[Gang]) -> bool:
        """On every level, than each sibling that it takes from; no matter while it is within its fair share."""
        left: dict[str, int] = {}
        for gang in victims:
            if not gang.yields:
                for group in floor.tree.groups[gang.job.leaf or ""].path:
                    left[group.id] = left.get(group.id, group.running) - gang.job.size
        for mine in leaf.path[1:]:
            after, fair = left.get(mine.id, mine.running) + job.size, self.fair[mine.id]
            siblings = mine.parent.children if mine.parent is not None else []
            for sibling in siblings:
                theirs = self.fair[sibling.id]
                if sibling is mine or sibling.id not in left or after <= fair or not theirs:
                    continue
                if after * theirs >= left[sibling.id] * fair:
                    return False
        return True


def kai(trace: Trace, settings: Settings) -> Baseline:
    rule = Kai(settings.budget.window, settings.k, settings.quota)
    return Baseline(trace, rule, observe=rule.window.change)
