"""One pass of the scheduler over one fleet, and when the next one is due by itself (FS-15, FS-16)."""

from app.core.scheduling.admission import begin_review, start_those_who_wait
from app.core.scheduling.decisions import Decision
from app.core.scheduling.draining import drain_hosts, fill_holes, gives_up_at
from app.core.scheduling.lending import serve_quotas
from app.core.scheduling.policy import SECOND
from app.core.scheduling.reservations import keep_reservations, make_reservations
from app.core.scheduling.settling import close_spent_limits, runs_dry_in, settle, warn
from app.core.scheduling.state import State
from app.core.scheduling.workload import Status


def schedule(state: State, now: int) -> list[Decision]:
    """Decide what follows from the state now, and do it: the state is changed as the decisions say.

    A second pass at the same instant decides nothing.
    """
    state.advance(now)
    made: list[Decision] = []
    settle(state, made)
    if state.limited:
        close_spent_limits(state, made)
    review = state.quotas is None and begin_review(state)
    drain_hosts(state, made)
    if state.holes:
        fill_holes(state, made, review=review)
    if state.reservations:
        keep_reservations(state, made)
    if state.quotas is None:
        start_those_who_wait(state, made, review=review)
        make_reservations(state, made, review=review)
    else:
        serve_quotas(state, made, state.quotas)
    warn(state, made)
    return made


def next_due(state: State, now: int) -> int | None:
    """The next whole second at which a pass has something to do though nothing happens; None: nothing is due."""
    state.advance(now)
    timers = (state.graces, state.claims, state.warnings)
    found = [at for several in timers if several and (at := state.next_of(several)) is not None]
    if state.limited:
        found += _limits_met(state)
    for name in state.holes:
        found.append(gives_up_at(state, state.workloads[name]))
    _add_those_who_wait(state, found)
    return max(-(-min(found) // SECOND), now // SECOND + 1) * SECOND if found else None


def _limits_met(state: State) -> list[int]:
    found: list[int] = []
    for budget in state.limited.values():
        for limit in budget.limits:
            dry = runs_dry_in(state, budget, limit.left(budget, state.now))
            if dry is not None:
                found.append(state.now + dry)
    return found


def _add_those_who_wait(state: State, found: list[int]) -> None:
    waiting = state.root.waiting_below
    if waiting or state.draining or state.limited or state.quotas is not None:
        at = state.next_of(state.protections)
        if at is not None:
            found.append(at)
    if state.quotas is not None:
        return
    if waiting and state.root.expired_below:
        found.append(state.reviewed_at + state.policy.tick)
    for reservation in state.reservations.values():
        workload = state.workloads.get(reservation.workload)
        if workload is not None and workload.status is Status.WAITING:
            found.append(reservation.due)
    if state.reserve_at is not None and len(state.reservations) < state.policy.max_reservations:
        found.append(state.reserve_at)
