"""How a decision changes the state; a service that keeps decisions can replay them."""

from collections.abc import Callable
from heapq import heappush
from typing import Any

from app.core.scheduling.decisions import (
    Admit,
    Code,
    Decision,
    Drained,
    Fill,
    Fund,
    Move,
    Preempt,
    Release,
    Requeue,
    Reserve,
    Unfund,
    Unreserve,
    Warn,
)
from app.core.scheduling.events import recount, release
from app.core.scheduling.packing import Host
from app.core.scheduling.placing import drop_claim, hold, occupy
from app.core.scheduling.queueing import dequeue, enqueue
from app.core.scheduling.state import Reservation, State
from app.core.scheduling.workload import Evictable, Kind, Status, Workload


def apply(state: State, decision: Decision) -> None:
    """The decision is done; its time is the state's."""
    _APPLY[type(decision)](state, decision)


def _admit(state: State, decision: Admit) -> None:
    workload = state.workloads[decision.workload]
    leaving = workload.status is Status.LEAVING
    if workload.status is Status.WAITING:
        dequeue(state, workload)
        workload.epoch += 1  # who waits holds nothing that would have to be released
    else:
        release(state, workload)
    workload.attempt += 1
    workload.status = Status.RUNNING
    workload.funded = decision.funded
    workload.bound_at = now = state.now
    if leaving:
        workload.moved_at = now
    if not decision.funded:
        state.mark(workload, Evictable.UNFUNDED)
    elif decision.protected_until <= now:
        state.mark(workload, Evictable.EXPIRED)
    occupy(state, workload, dict(decision.places))
    gpus = workload.gpus * workload.replicas
    state.charge(workload, gpus, funded=decision.funded)
    workload.protected_until = decision.protected_until
    if workload.evictable is Evictable.NO:
        state.commit(workload, gpus, now + _commitment(state, workload))
        state.protect(workload, gpus, decision.protected_until)
        if workload.kind is Kind.SESSION:
            heappush(state.warnings, (decision.protected_until - state.policy.warning, workload.id, workload.epoch))


def _commitment(state: State, workload: Workload) -> int:
    return max(workload.min_runtime, state.policy.least_commitment)


def _preempt(state: State, decision: Preempt) -> None:
    for name, until in decision.victims:
        _evict(state, state.workloads[name], until)
    if decision.workload is None:
        return
    workload = state.workloads[decision.workload]
    if workload.status is Status.WAITING:
        dequeue(state, workload)
        workload.status = Status.HELD
        gpus = workload.gpus * workload.replicas
        state.commit(workload, gpus, decision.due + _commitment(state, workload))
        state.protect(workload, gpus, decision.due + workload.min_runtime)
    _claim(state, workload, dict(decision.places), decision.due, decision.code)


def _evict(state: State, workload: Workload, until: int) -> None:
    state.mark(workload, Evictable.NO)
    state.uncommit(workload)
    drop_claim(state, workload)
    state.holes.pop(workload.id, None)
    workload.status = Status.LEAVING
    for name, count in workload.places.items():
        state.turn_over(state.hosts[name], 0, leaving=count * workload.gpus)
    workload.leaves_at = until
    workload.epoch += 1
    heappush(state.graces, (until, workload.id, workload.epoch))


def _claim(state: State, workload: Workload, places: dict[str, int], due: int, code: Code) -> None:
    hold(state, workload, places)
    workload.claim_due, workload.claim_code = due, code
    if workload.status is not Status.LEAVING:
        heappush(state.claims, (due, workload.id, workload.epoch))


def _move(state: State, decision: Move) -> None:
    _claim(state, state.workloads[decision.workload], dict(decision.places), decision.due, decision.code)


def _requeue(state: State, decision: Requeue) -> None:
    workload = state.workloads[decision.workload]
    release(state, workload)
    if not decision.resumed:
        del state.workloads[workload.id]
        return
    workload.queued_at = state.now
    enqueue(state, workload)


def _release(state: State, decision: Release) -> None:
    """The node took the GPUs away when it went; from now on that is on record."""
    state.released.pop(decision.workload, None)


def _fill(state: State, decision: Fill) -> None:
    workload = state.workloads[decision.workload]
    drop_claim(state, workload)
    occupy(state, workload, dict(decision.places))
    recount(state, workload)
    if not workload.missing:
        del state.holes[workload.id]
        workload.hole_since = None


def _reserve(state: State, decision: Reserve) -> None:
    workload = state.workloads[decision.workload]
    if decision.workload in state.reservations:
        _open(state, decision.workload)
    leaf = state.leaf_of(workload).id
    state.reservations[workload.id] = Reservation(workload.id, leaf, decision.hosts, decision.since, decision.due)
    for name in decision.hosts:
        state.pool(state.hosts[name], workload.id)


def _unreserve(state: State, decision: Unreserve) -> None:
    _open(state, decision.workload)
    del state.reservations[decision.workload]


def _open(state: State, holder: str) -> None:
    for name in state.reservations[holder].hosts:
        host = state.hosts.get(name)
        if host is not None and host.pool is not None and host.pool.reserved == holder:
            state.pool(host, None)


def _unfund(state: State, decision: Unfund) -> None:
    workload = state.workloads[decision.workload]
    state.uncommit(workload)
    state.roomier = True
    workload.funded = False
    state.charge(workload, workload.segment_gpus, funded=False)
    if workload.status is Status.RUNNING:
        state.mark(workload, Evictable.UNFUNDED)


def _fund(state: State, decision: Fund) -> None:
    workload = state.workloads[decision.workload]
    workload.funded = True
    state.charge(workload, workload.segment_gpus, funded=True)
    state.mark(workload, Evictable.EXPIRED)


def _drained(state: State, decision: Drained) -> None:
    host = state.hosts[decision.host]
    host.state = Host.DRAINED
    state.touched_hosts[host.id] = None
    del state.draining[host.id]


def _warn(_state: State, _decision: Warn) -> None:
    """A warning changes nothing: its timer was taken when it was due."""


_APPLY: dict[type, Callable[[State, Any], None]] = {
    Admit: _admit,
    Preempt: _preempt,
    Move: _move,
    Requeue: _requeue,
    Release: _release,
    Fill: _fill,
    Reserve: _reserve,
    Unreserve: _unreserve,
    Unfund: _unfund,
    Fund: _fund,
    Drained: _drained,
    Warn: _warn,
}
