"""One pass of the scheduler over one fleet, and when the next one is due by itself (FS-15, FS-16)."""

from collections.abc import Iterator

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
    return min((_whole_second_after(at, now) for at in _instants(state)), default=None)


def _whole_second_after(at: int, now: int) -> int:
    return max(-(-at // SECOND), now // SECOND + 1) * SECOND


def _instants(state: State) -> Iterator[int]:
    for timers in (state.graces, state.claims, state.warnings):
        at = state.next_of(timers)
        if at is not None:
            yield at
    for budget in state.limited.values():
        for limit in budget.limits:
            dry = runs_dry_in(state, budget, limit.left(budget, state.now))
            if dry is not None:
                yield state.now + dry
    for name in state.holes:
        yield gives_up_at(state, state.workloads[name])
    yield from _of_those_who_wait(state)


def _of_those_who_wait(state: State) -> Iterator[int]:
    if state.root.waiting_below or state.draining or state.quotas is not None:
        at = state.next_of(state.protections)
        if at is not None:
            yield at
    if state.quotas is not None:
        return
    if state.root.waiting_below and state.root.expired_below:
        yield state.reviewed_at + state.policy.tick
    for reservation in state.reservations.values():
        workload = state.workloads.get(reservation.workload)
        if workload is not None and workload.status is Status.WAITING:
            yield reservation.due
    if state.reserve_at is not None and len(state.reservations) < state.policy.max_reservations:
        yield state.reserve_at
