"""Slurm's Fair Tree with decaying use.

After Slurm's pages on Fair Tree, multifactor priority, backfill and preemption. At each level LF = S / U, own shares
over those of the siblings, by own use over the parent's; the tree is gone through depth first, highest LF first; a
leaf's rank is its priority. Use loses 0.693 / half-life of itself a second, as Slurm's code has it, and ranks are
computed every five minutes, stale in between. The main pass starts jobs in order until one does not fit; every 30
seconds others are backfilled (EASY: `backfill.py` says whose limits).

`fairtree-preempt` lets that first blocked job evict work of leaves ranked below it which has run for its minimum
runtime (PreemptExemptTime, youngest_first, REQUEUE). Without it nothing funded is evicted.

Work that asks for no budget is in a scavenger QOS: it counts for nothing and yields. Left out: age, size, partition
and TRES factors, reservations for more than one job.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import groupby

from app.core.scheduling.policy import MINUTE, SECOND
from app.simulate.policies.backfill import DEPTH, Backfill
from app.simulate.policies.baseline import FOREVER, Baseline, Floor
from app.simulate.policies.fleet import Gang
from app.simulate.policies.queue import Shape
from app.simulate.settings import Settings
from app.simulate.shares import Group
from app.simulate.workloads import Job, Trace

PERIOD = 5 * MINUTE
"""Slurm's PriorityCalcPeriod."""

_ONE = 1 << 32

Level = tuple[int, Fraction]
"""LF, highest first: infinite, then by value."""


class Decayed:
    """GPU-milliseconds by leaf that lose worth with age; whole periods of time have passed."""

    def __init__(self, half_life: int) -> None:
        seconds = half_life // SECOND
        period = PERIOD // SECOND
        self.kept = _ONE * (1_000 * seconds - 693) ** period // (1_000 * seconds) ** period
        """What is left of a use after a period, in parts of 2 to the 32nd."""
        self.usage: dict[str, int] = {}
        self._new: dict[str, int] = {}
        self._running: dict[str, int] = {}
        self._since = 0
        self._due = PERIOD

    def change(self, now: int, leaf: str, gpus: int) -> None:
        """So many more GPUs run for the leaf from now on."""
        self.advance(now)
        self._running[leaf] = self._running.get(leaf, 0) + gpus

    def advance(self, now: int) -> bool:
        """Time is `now`; whether a period has ended since it last was told."""
        rolled = False
        while self._due <= now:
            self._accrue(self._due)
            for leaf in self._running:
                self.usage[leaf] = self.usage.get(leaf, 0) * self.kept // _ONE + self._new.get(leaf, 0)
            self._new.clear()
            self._due += PERIOD
            rolled = True
        self._accrue(now)
        return rolled

    def _accrue(self, until: int) -> None:
        if until > self._since:
            for leaf, gpus in self._running.items():
                self._new[leaf] = self._new.get(leaf, 0) + gpus * (until - self._since)
            self._since = until


def rank_leaves(root: Group, usage: Mapping[str, int]) -> dict[str, int]:
    """The rank of each leaf, 0 the first.

    Siblings with one LF share a rank if they are leaves; other groups have their children merged before these are
    compared; a leaf that is alike to a group has the rank of the best below it.
    """
    levels: dict[str, Level] = {}
    _measure(root, usage, levels)
    ranks: dict[str, int] = {}
    _visit(root.children, levels, ranks, None)
    return ranks


def _measure(group: Group, usage: Mapping[str, int], levels: dict[str, Level]) -> int:
    """The use below the group; the levels of its children are noted."""
    if not group.children:
        return usage.get(group.id, 0)
    used = {child.id: _measure(child, usage, levels) for child in group.children}
    below, weights = sum(used.values()), sum(child.weight for child in group.children)
    for child in group.children:
        if not child.weight:
            levels[child.id] = (1, Fraction(0))
        elif not used[child.id]:
            levels[child.id] = (0, Fraction(0))
        else:
            levels[child.id] = (1, -Fraction(child.weight * below, weights * used[child.id]))
    return below


def _visit(siblings: list[Group], levels: dict[str, Level], ranks: dict[str, int], tied: int | None) -> None:
    ordered = sorted(siblings, key=lambda group: levels[group.id])
    for _, several in groupby(ordered, key=lambda group: levels[group.id]):
        alike = list(several)
        leaves = [group for group in alike if not group.children]
        rank = len(ranks) if tied is None else tied
        for leaf in leaves:
            ranks[leaf.id] = rank
        below = [child for group in alike for child in group.children]
        _visit(below, levels, ranks, rank if leaves else tied)
        tied = None


def _funded(floor: Floor) -> set[Shape]:
    return {shape for shape in floor.queue.shapes if shape[0]}


class FairTree:
    """Decayed use, and the ranks of five minutes ago."""

    def __init__(self, half_life: int, *, preempts: bool) -> None:
        self.usage = Decayed(half_life)
        self.preempts = preempts
        self.ranks: dict[str, int] = {}
        self.backfill = Backfill()

    def arrange(self, floor: Floor, now: int) -> None:
        if self.usage.advance(now) or not self.ranks:
            self.ranks = rank_leaves(floor.tree.root, self.usage.usage)
        self._start_in_order(floor, now)
        if self.backfill.is_due(now):
            self._pass_head(floor, now)
        floor.scavenge(now)

    def _start_in_order(self, floor: Floor, now: int) -> None:
        while (head := floor.queue.head(self.ranks, _funded(floor))) is not None:
            if not floor.fleet.has_room_after_yielding(head.model, head.gpus, head.replicas):
                victims = floor.fleet.victims(head, self._candidates(floor, head, now)) if self.preempts else None
                if victims is None:
                    return
                for gang in victims:
                    floor.evict(gang, now)
            self._begin(floor, head, now)

    def _begin(self, floor: Floor, job: Job, now: int, passed_over: frozenset[str] = frozenset()) -> None:
        until = now + job.min_runtime if self.preempts else FOREVER
        floor.begin(job, now, until=until, passed_over=passed_over)

    def _candidates(self, floor: Floor, job: Job, now: int) -> Iterator[Gang]:
        """What yields; then what has run its minimum in leaves ranked behind: the last leaf, the youngest first."""
        gangs = list(reversed(floor.fleet.running.values()))
        yield from [gang for gang in gangs if gang.yields]
        mine = self.ranks[job.leaf or ""]
        behind = [
            (-self.ranks[gang.job.leaf or ""], number)
            for number, gang in enumerate(gangs)
            if not gang.yields and gang.start + gang.job.min_runtime <= now and self.ranks[gang.job.leaf or ""] > mine
        ]
        for _, number in sorted(behind):
            yield gangs[number]

    def _pass_head(self, floor: Floor, now: int) -> None:
        def begin(job: Job, passed_over: frozenset[str]) -> None:
            self._begin(floor, job, now, passed_over)

        head = floor.queue.head(self.ranks, _funded(floor))
        if head is not None:
            line = floor.queue.line(
                self.ranks, {shape for shape in floor.queue.shapes if floor.fits_funded(shape)}, DEPTH
            )
            self.backfill.run(floor, head, line, begin, now)

    def next_due(self, floor: Floor, now: int) -> int | None:
        if not any(shape[0] for shape in floor.queue.shapes):
            return None
        return self.backfill.next_due(now)


def fairtree(trace: Trace, settings: Settings) -> Baseline:
    rule = FairTree(settings.half_life, preempts=False)
    return Baseline(trace, rule, observe=rule.usage.change)


def fairtree_preempt(trace: Trace, settings: Settings) -> Baseline:
    rule = FairTree(settings.half_life, preempts=True)
    return Baseline(trace, rule, observe=rule.usage.change)
