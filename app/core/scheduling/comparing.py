"""Against whom a waiting workload stands: the budgets whose expired work it might evict, and by how much (FS-8)."""

from itertools import pairwise
from typing import NamedTuple

from app.core.scheduling.budgets import Ratio, is_ahead_by
from app.core.scheduling.queueing import in_order
from app.core.scheduling.state import State
from app.core.scheduling.victims import more
from app.core.scheduling.workload import Status, Workload


class Rival(NamedTuple):
    """Two siblings: `own` with the workload's commitment in its ratio, and `other`, which holds expired work. It
    `yields` if its ratio is at least the other one plus the margin."""

    own: str
    own_ratio: Ratio
    other: str
    other_ratio: Ratio
    yields: bool


def rivals(state: State, workload: Workload) -> list[Rival]:
    """At each level, from the top, the sibling furthest ahead of those with expired work; none for unfunded work, or
    where quotas decide."""
    if state.quotas is not None or not workload.wants_funds or workload.status is not Status.WAITING:
        return []
    extra, found = more(state, workload), []
    for mine, parent in pairwise(state.paths[workload.leaf]):
        holding = [one for one in parent.children.values() if one.expired_below and one is not mine]
        if holding:
            other = in_order(state, holding)[-1]
            own_ratio, other_ratio = state.ratio(mine, extra), state.ratio(other)
            yields = is_ahead_by(state.policy.margin, own_ratio, other_ratio)
            found.append(Rival(mine.id, own_ratio, other.id, other_ratio, yields))
    return found[::-1]
