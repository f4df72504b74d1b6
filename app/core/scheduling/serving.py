"""Who waits on a fleet, in the order in which the policy would serve them as things are (FS-2)."""

from app.core.scheduling.budgets import Budget
from app.core.scheduling.lending import teams_in_turn
from app.core.scheduling.queueing import leaves_in_order
from app.core.scheduling.state import State
from app.core.scheduling.workload import Workload


def in_turn(state: State) -> list[Workload]:
    """Funded work before unfunded, each by the turn of its leaf and within that; work without a budget is last.

    Whoever starts moves its budgets back, so this is the order of the heads, not of all starts to come.
    """
    lines = [_line(state, leaf) for leaf in leaves_in_turn(state)]
    funded = [one for line in lines for one in line if one.wants_funds]
    unfunded = [one for line in lines for one in line if not one.wants_funds]
    return [*funded, *unfunded, *_line(state, state.stray)]


def leaves_in_turn(state: State) -> list[Budget]:
    """The leaves with waiting work, the first to be served first."""
    if state.quotas is not None:
        return [state.budgets[name] for name in teams_in_turn(state, state.quotas)]
    return leaves_in_order(state, state.root, lambda budget: budget.waiting_below)


def _line(state: State, leaf: Budget) -> list[Workload]:
    turns = sorted(turn for waiting in leaf.queue.values() for turn in waiting)
    return [state.workloads[turn[3]] for turn in turns]
