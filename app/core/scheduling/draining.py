"""Hosts to be repaired lose their work as its protection ends, and holes in gangs are filled (FS-11, FS-19)."""

from app.core.scheduling.admission import do, evict_for, grace_ends, move
from app.core.scheduling.decisions import Code, Decision, Drained, Fill, Preempt, Requeue
from app.core.scheduling.packing import fit
from app.core.scheduling.quotas import may_fill
from app.core.scheduling.state import State
from app.core.scheduling.victims import for_gang
from app.core.scheduling.workload import Evictable, Workload


def drain_hosts(state: State, made: list[Decision]) -> None:
    """Unfunded work leaves at once, the rest when its protection is over; an empty host is drained."""
    for name in list(state.draining):
        host = state.hosts[name]
        if not host.residents:
            do(state, made, Drained(state.now, name, Code.DRAINING))
            continue
        for resident in sorted(host.residents):
            workload = state.workloads[resident]
            if workload.evictable is not Evictable.NO:
                _evict(state, made, workload)


def _evict(state: State, made: list[Decision], workload: Workload) -> None:
    until = grace_ends(state, workload)
    do(state, made, Preempt(state.now, None, ((workload.id, until),), (), until, Code.DRAINING))
    move(state, made, workload, Code.DRAINING)


def fill_holes(state: State, made: list[Decision], *, review: bool) -> None:
    """Lost replicas get new GPUs ahead of all who wait; after too long a wait the gang stops."""
    holes = [state.workloads[name] for name in state.holes]
    for workload in sorted(holes, key=lambda workload: (workload.hole_since or 0, workload.id)):
        if workload.claim or _fill(state, made, workload, review):
            continue
        if state.now >= gives_up_at(state, workload):
            do(state, made, Requeue(state.now, workload.id, workload.resumable, Code.HOLE_NOT_FILLED))


def gives_up_at(state: State, workload: Workload) -> int:
    """When the gang stops unless its hole is filled."""
    return (workload.hole_since or 0) + state.policy.hole_wait


def _fill(state: State, made: list[Decision], workload: Workload, review: bool) -> bool:
    gpus, missing = workload.gpus, workload.missing
    pools = state.pools_for(workload.shape, max(state.now, workload.protected_until))
    if may_fill(state, workload) and (places := fit(pools, gpus, missing)) is not None:
        do(state, made, Fill(state.now, workload.id, tuple(sorted(places.items())), Code.HOLE))
        return True
    if not workload.funded:
        return False
    choice = for_gang(state, workload, missing, pools, fair_share=review)
    if choice is None:
        return False
    evict_for(state, made, workload, choice, Code.HOLE)
    return True
