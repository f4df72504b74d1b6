"""How the fair schedulers look around: down the tree to the next job, and at blocked work once in a while."""

from collections.abc import Callable
from fractions import Fraction

from app.simulate.policies.baseline import Floor
from app.simulate.policies.fleet import Gang
from app.simulate.policies.queue import Shape
from app.simulate.shares import Group
from app.simulate.workloads import Job

Turn = tuple[int, Fraction, str]
"""The place among siblings, lowest first."""


def funded(shape: Shape) -> bool:
    return shape[0]


def pick(floor: Floor, turn: Callable[[Group], Turn]) -> Job | None:
    """The next funded job for which there is room: down the tree by turn among groups that have one."""
    shapes = {shape for shape in floor.queue.shapes if floor.fits_funded(shape)}
    if not shapes:
        return None
    leaves = [leaf for leaf, waiting in floor.queue.leaves.items() if not shapes.isdisjoint(waiting)]
    reached = floor.tree.above(leaves)
    group = floor.tree.root
    while group.children:
        group = min([child for child in group.children if child.id in reached], key=turn)
    return floor.queue.first(group.id, shapes.__contains__)


def by_leaf(floor: Floor, is_ready: Callable[[Gang], bool]) -> dict[str, list[Gang]]:
    """What runs, does not yield and is ready to be a victim, the youngest first."""
    found: dict[str, list[Gang]] = {}
    for gang in reversed(floor.fleet.running.values()):
        if not gang.yields and is_ready(gang):
            found.setdefault(gang.job.leaf or "", []).append(gang)
    return found


class Ticking:
    """Whose blocked work to look at: of all leaves once in an interval, in between of those where work came."""

    def __init__(self, interval: int) -> None:
        self.interval = interval
        self.looked_at = 0

    def leaves(self, floor: Floor, now: int) -> list[str]:
        if now >= self.looked_at + self.interval:
            self.looked_at = now
            return [leaf for leaf in floor.queue.leaves if leaf in floor.tree.groups and leaf]
        return [leaf for leaf in floor.fresh if leaf in floor.queue.leaves]

    def next_due(self, floor: Floor, now: int) -> int | None:
        """None while no funded work waits."""
        if not any(shape[0] for shape in floor.queue.shapes):
            return None
        return max(self.looked_at + self.interval, now + 1_000)
