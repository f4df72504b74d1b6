"""Instantaneous weighted max-min over the tree, by the GPUs that run now, without any history.

After Hadoop's Fair Scheduler as it has been since MAPREDUCE-706 and Kueue's fair sharing: the tree is walked to the
child with the least running GPUs per weight; fair shares are the water-filling of what runs and waits; a leaf that
would stay within its share may take work that another borrowed, which is what leaves that one at its share or above.
Preemption is looked for when work begins to wait and once a minute. Minimum runtimes protect nothing. Work that asks
for no budget runs on what is left, uncounted, and yields to all other.

Left out: timeouts before preemption (Hadoop waits for them; here there is none), minimum shares, and everything for
large gangs: a gang that does not fit is passed by.
"""

from collections.abc import Iterator
from fractions import Fraction

from app.core.scheduling.policy import MINUTE
from app.simulate.filling import fill_tree
from app.simulate.policies.baseline import Baseline, Floor
from app.simulate.policies.fleet import Gang
from app.simulate.policies.walking import Ticking, by_leaf, funded, pick
from app.simulate.settings import Settings
from app.simulate.shares import Group
from app.simulate.workloads import Job, Trace


def by_running(group: Group) -> tuple[int, Fraction, str]:
    """Its turn among its siblings; weight 0 comes last."""
    return (0 if group.weight else 1, Fraction(group.running, group.weight or 1), group.id)


class MaxMin:
    """It remembers when it last looked for preemptions, and nothing else."""

    def __init__(self) -> None:
        self.ticking = Ticking(MINUTE)

    def arrange(self, floor: Floor, now: int) -> None:
        start_all(floor, now)
        looking = self.ticking.leaves(floor, now)
        if looking:
            shares = fair_shares(floor)
            for leaf in looking:
                borrowed = _borrowed(floor, leaf, shares)
                while borrowed and any(
                    self._take(floor, job, shares, borrowed, now) for job in floor.queue.heads(leaf, funded)
                ):
                    borrowed = _borrowed(floor, leaf, shares)
            start_all(floor, now)
        floor.scavenge(now)

    def _take(
        self,
        floor: Floor,
        job: Job,
        shares: dict[str, Fraction],
        borrowed: list[tuple[str, list[Gang]]],
        now: int,
    ) -> bool:
        """Start the job on what others borrowed, if it is within its leaf's share."""
        leaf = job.leaf or ""
        if floor.tree.groups[leaf].running + job.size > shares[leaf]:
            return False
        victims = floor.fleet.victims(job, _candidates(floor, borrowed, shares))
        if victims is None:
            return False
        for gang in victims:
            floor.evict(gang, now)
        floor.begin(job, now, until=now)
        return True

    def next_due(self, floor: Floor, now: int) -> int | None:
        return self.ticking.next_due(floor, now)


def start_all(floor: Floor, now: int) -> None:
    """Start all funded work for which there is room, the least served leaf first."""
    while (job := pick(floor, by_running)) is not None:
        floor.begin(job, now, until=now)


def fair_shares(floor: Floor) -> dict[str, Fraction]:
    """GPUs of each leaf by water-filling of what runs and waits."""
    demands = {leaf.id: leaf.running + leaf.waiting for leaf in floor.tree.leaves}
    return fill_tree(floor.tree.root, floor.fleet.capacity, demands)


def _borrowed(floor: Floor, taker: str, shares: dict[str, Fraction]) -> list[tuple[str, list[Gang]]]:
    """The leaves above their shares, the furthest first, with what runs there, the youngest first."""
    over = {
        leaf.id: leaf.running - shares[leaf.id]
        for leaf in floor.tree.leaves
        if leaf.id != taker and leaf.running > shares[leaf.id]
    }
    gangs = by_leaf(floor, lambda gang: gang.job.size <= over.get(gang.job.leaf or "", 0)) if over else {}
    return [(leaf, gangs[leaf]) for leaf in sorted(gangs, key=lambda each: (-over[each], each))]


def _candidates(floor: Floor, borrowed: list[tuple[str, list[Gang]]], shares: dict[str, Fraction]) -> Iterator[Gang]:
    """What yields, the youngest first; then what is borrowed, as long as it leaves its owner its share."""
    yield from reversed(list(floor.fleet.yielding.values()))
    for leaf, gangs in borrowed:
        over = floor.tree.groups[leaf].running - shares[leaf]
        for gang in gangs:
            if gang.job.size <= over:
                over -= gang.job.size
                yield gang


def maxmin(trace: Trace, settings: Settings) -> Baseline:
    return Baseline(trace, MaxMin())
