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
from app.simulate.policies.walking import Ticking, Turn, funded, pick
from app.simulate.settings import Settings
from app.simulate.shares import Group, fork
from app.simulate.workloads import Job, Trace


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
        if floor.queue.jobs:
            self._share_out(floor)
            self._start_all(floor, now)
            for leaf in self.ticking.leaves(floor, now):
                while any(self._reclaim(floor, job, now) for job in floor.queue.heads(leaf, funded)):
                    pass
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

    def _reclaim(self, floor: Floor, job: Job, now: int) -> bool:
        """Start the job on what others give up, if they have to."""
        leaf = floor.tree.groups[job.leaf or ""]
        if leaf.running + job.size > self.fair[leaf.id]:
            return False
        victims = floor.fleet.victims(job, self._candidates(floor, leaf, job, now))
        if victims is None or not self._stays_less_saturated(floor, leaf, job, victims):
            return False
        for gang in victims:
            floor.evict(gang, now)
        floor.begin(job, now, until=now + job.min_runtime)
        return True

    def _candidates(self, floor: Floor, leaf: Group, job: Job, now: int) -> Iterator[Gang]:
        """What yields; then what may be reclaimed, of the most saturated queue first, the youngest first."""
        gangs = list(reversed(floor.fleet.running.values()))
        yield from [gang for gang in gangs if gang.yields]
        left = {group.id: group.running for group in floor.tree.groups.values()}
        for theirs in sorted(floor.tree.leaves, key=self._turn, reverse=True):
            for mine, over in fork(leaf, theirs):
                within = mine.running + job.size <= self.deserved[mine.id]
                for gang in gangs:
                    if gang.job.leaf != theirs.id or gang.yields or gang.start + gang.job.min_runtime > now:
                        continue
                    if left[over.id] > self.fair[over.id] or (within and left[over.id] > self.deserved[over.id]):
                        for group in theirs.path:
                            left[group.id] -= gang.job.size
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
