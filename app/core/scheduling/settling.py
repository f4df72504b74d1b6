"""What earlier decisions and declared times bring about when they are due (FS-3, FS-5, FS-12)."""

from app.core.scheduling.admission import admit, as_places, do
from app.core.scheduling.budgets import Budget
from app.core.scheduling.decisions import Admit, Code, Decision, Fill, Release, Requeue, Unfund, Warn
from app.core.scheduling.state import State
from app.core.scheduling.workload import Status, Workload


def settle(state: State, made: list[Decision]) -> None:
    """Evicted gangs leave, and those for whom they had to leave are bound, unless a node took their GPUs away."""
    if state.released:
        for name in list(state.released):
            do(state, made, Release(state.now, name, Code.NODES_CHANGED))
    while (workload := state.due(state.graces)) is not None:
        _leave(state, made, workload)
    while (workload := state.due(state.claims)) is not None:
        if workload.claim and workload.claim_due <= state.now:
            _take(state, made, workload)


def _leave(state: State, made: list[Decision], workload: Workload) -> None:
    if workload.claim:
        now, places = state.now, as_places(workload.claim)
        code, until = workload.claim_code, min(workload.protected_until, now)
        do(state, made, Admit(now, workload.id, places, workload.funded, until, code))
    else:
        do(state, made, Requeue(state.now, workload.id, workload.resumable, Code.PREEMPTED))


def _take(state: State, made: list[Decision], workload: Workload) -> None:
    if workload.status is not Status.HELD:
        do(state, made, Fill(state.now, workload.id, as_places(workload.claim), Code.AFTER_EVICTION))
        return
    admit(state, made, workload, workload.claim, workload.claim_code)


def warn(state: State, made: list[Decision]) -> None:
    """A session hears some time before its protection ends."""
    while (workload := state.due(state.warnings)) is not None:
        do(state, made, Warn(state.now, workload.id, workload.protected_until, Code.PROTECTION_ENDS))


def close_spent_limits(state: State, made: list[Decision]) -> None:
    """What runs after its protection where a limit is met goes on unfunded."""
    for budget in list(state.limited.values()):
        if any(runs_dry_in(state, budget, limit.left(budget, state.now)) == 0 for limit in budget.limits):
            for leaf in budget.leaves:
                for name in sorted(leaf.expired):
                    do(state, made, Unfund(state.now, name, budget.id, Code.LIMIT_MET))


def runs_dry_in(state: State, budget: Budget, left: int) -> int | None:
    """After how many milliseconds unprotected work has used up what is left; None: there is none."""
    spending = budget.usage.slope - budget.protected_gpus
    if budget.expired_below == 0 or spending <= 0:
        return None
    return max(0, left) // spending
