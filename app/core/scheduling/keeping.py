"""What is kept of a state between processes, as plain values, and the state that it makes again (FS-14, FS-16).

A rebuilt state decides, for ever after, what the one that was kept would have decided. Only facts are kept: what
budgets, hosts and pools count is counted anew.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from heapq import heappush
from typing import Any

from app.core.scheduling.budgets import Limit
from app.core.scheduling.decisions import Code
from app.core.scheduling.history import TreeChange, Use, replay
from app.core.scheduling.packing import Host, Pool
from app.core.scheduling.placing import hold, occupy
from app.core.scheduling.policy import Policy
from app.core.scheduling.queueing import enqueue
from app.core.scheduling.quota import Quota, Quotas
from app.core.scheduling.quotas import set_claims
from app.core.scheduling.state import Reservation, State, Timer
from app.core.scheduling.usage import Segment
from app.core.scheduling.workload import Evictable, Kind, Status, Workload


@dataclass(frozen=True, slots=True)
class KeptHost:
    id: str
    number: int
    gpus: int
    model: str
    zone: str
    state: str
    """As in Host: healthy, draining or drained."""


@dataclass(frozen=True, slots=True)
class KeptWorkload:
    """The workload as it was submitted, and in `state` what `keep_workload` said of it. A rebuilt state has it."""

    workload: Workload
    state: dict[str, Any]


@dataclass(slots=True)
class Kept:
    """All that a state is made of."""

    policy: Policy
    flags: dict[str, Any] = field(default_factory=dict)
    """What `keep_flags` said; empty for a fleet that never had a pass."""
    changes: Iterable[TreeChange] = ()
    """From the first on; those that the state had not applied yet are left out."""
    capacity: Iterable[tuple[int, int]] = ()
    """From when on C was how many GPUs: each change after now less the window, and the last one before that."""
    segments: Iterable[Segment] = ()
    """The closed ones that ended after now less the window; earlier and unfunded ones are not needed."""
    hosts: Sequence[KeptHost] = ()
    workloads: Sequence[KeptWorkload] = ()
    """Those that have not ended."""


def keep_workload(workload: Workload) -> dict[str, Any]:
    """Where it stands, as JSON takes it. Whatever else its budgets and hosts count follows from that."""
    return {
        "status": workload.status.value,
        "funded": workload.funded,
        "slices": workload.slices,
        "attempt": workload.attempt,
        "queued_at": workload.queued_at,
        "bound_at": workload.bound_at,
        "protected_until": workload.protected_until,
        "committed_until": workload.committed_until,
        "leaves_at": workload.leaves_at,
        "places": dict(workload.places),
        "claim": dict(workload.claim),
        "claim_due": workload.claim_due,
        "claim_code": workload.claim_code.value,
        "hole_since": workload.hole_since,
        "moved_at": workload.moved_at,
        "segment_at": workload.segment_at,
    }


def keep_flags(state: State) -> dict[str, Any]:
    """What the next pass looks at besides workloads, hosts and the past, as JSON takes it."""
    known = (*state.budgets.values(), *state.retired.values())
    return {
        "now": state.now,
        "applied": state.applied,
        "late": sorted(state.late.items()),
        "limits": [
            [budget.id, _keep_limits(state, budget.limits, budget.usage.total(state.now))]
            for budget in state.limited.values()
        ],
        "teams": [list(entry) for entry in state.team_log],
        "quotas": None if state.quotas is None else asdict(state.quotas),
        "bans": [[budget.id, budget.no_reservation_until] for budget in known if budget.no_reservation_until],
        "host_count": state.host_count,
        "draining": list(state.draining),
        "pools": [list(key) for key in state.pools],
        "reservations": [_keep_reservation(state, reservation) for reservation in state.reservations.values()],
        "fresh": list(state.fresh),
        "released": list(state.released),
        "roomier": state.roomier,
        "stirred": state.stirred,
        "reviewed_at": state.reviewed_at,
        "reserve_at": state.reserve_at,
        "claims": [[at, name] for at, name, _ in _live(state, state.claims)],
        "warnings": [[at, name] for at, name, _ in _live(state, state.warnings) if at <= state.now],
    }


def _keep_limits(state: State, limits: list[Limit], total: int) -> list[list[int]]:
    return [[limit.amount, total - limit.base] for limit in limits]


def _keep_reservation(state: State, reservation: Reservation) -> dict[str, Any]:
    hosts = (state.hosts.get(name) for name in reservation.hosts)
    pools = [(host.id, host.pool) for host in hosts if host is not None]
    return {
        "workload": reservation.workload,
        "leaf": reservation.leaf,
        "hosts": list(reservation.hosts),
        "kept": [name for name, pool in pools if pool is not None and pool.reserved == reservation.workload],
        "since": reservation.since,
        "due": reservation.due,
    }


def _live(state: State, timers: list[Timer]) -> Iterator[Timer]:
    for timer in sorted(timers):
        workload = state.workloads.get(timer[1])
        if workload is not None and workload.epoch == timer[2]:
            yield timer


def rebuild(kept: Kept) -> State:
    """The state that was kept."""
    state, flags = State(kept.policy), kept.flags
    applied = flags.get("applied", 0)
    state.late = dict(flags.get("late", ()))
    state.team_log = [(at, after, name, gpus) for at, after, name, gpus in flags.get("teams", ())]
    changes = (change for change in kept.changes if change.number <= applied)
    replay(state, changes, kept.capacity, _uses(kept))
    state.applied = applied
    state.now = flags.get("now", 0)
    for host in sorted(kept.hosts, key=lambda host: host.number):
        state.hosts[host.id] = Host(host.id, host.number, host.gpus, host.model, host.zone)
    state.largest_host = max((host.gpus for host in state.hosts.values()), default=0)
    for workload in kept.workloads:
        _put(state, workload)
    _open_hosts(state, kept)
    _set_flags(state, flags)
    state.touched.clear()
    return state


def _uses(kept: Kept) -> Iterator[Use]:
    for segment in kept.segments:
        if segment.funded and segment.leaf is not None:
            yield segment.leaf, segment.gpus, segment.start, segment.end
    for one in kept.workloads:
        facts, workload = one.state, one.workload
        held = sum(facts["places"].values()) * workload.gpus
        if held and facts["funded"] and workload.leaf is not None:
            yield workload.leaf, held, facts["segment_at"], None


def _put(state: State, kept: KeptWorkload) -> None:
    """The workload waits, is held, runs or leaves, as it did."""
    workload = _make(kept)
    status = workload.status
    state.workloads[workload.id] = workload
    if status is Status.WAITING:
        enqueue(state, workload)
        return
    occupy(state, workload, kept.state["places"])
    if kept.state["claim"]:
        hold(state, workload, kept.state["claim"])
    held = sum(workload.places.values()) * workload.gpus
    workload.segment_gpus = held
    workload.segment_funded = workload.funded and status is not Status.HELD
    if status is Status.LEAVING:
        heappush(state.graces, (workload.leaves_at, workload.id, workload.epoch))
        return
    _count(state, workload, workload.replicas * workload.gpus if status is Status.HELD else held)
    if status is Status.RUNNING:
        _mark(state, workload)


def _make(kept: KeptWorkload) -> Workload:
    facts, workload = kept.state, kept.workload
    workload.status = Status(facts["status"])
    workload.funded, workload.slices, workload.attempt = facts["funded"], facts["slices"], facts["attempt"]
    workload.queued_at, workload.bound_at = facts["queued_at"], facts["bound_at"]
    workload.protected_until, workload.leaves_at = facts["protected_until"], facts["leaves_at"]
    workload.committed_until = facts["committed_until"]
    workload.claim_due, workload.claim_code = facts["claim_due"], Code(facts["claim_code"])
    workload.hole_since, workload.moved_at = facts["hole_since"], facts["moved_at"]
    workload.segment_at = facts["segment_at"]
    return workload


def _count(state: State, workload: Workload, gpus: int) -> None:
    """What is committed and protected counts on its path, until it is over."""
    if workload.committed_until > state.now:
        state.commit(workload, gpus, workload.committed_until)
    if workload.protected_until > state.now:
        state.protect(workload, gpus, workload.protected_until)


def _mark(state: State, workload: Workload) -> None:
    if not workload.funded:
        state.mark(workload, Evictable.UNFUNDED)
    elif workload.protected_until <= state.now:
        state.mark(workload, Evictable.EXPIRED)
    elif workload.kind is Kind.SESSION and workload.protected_until - state.policy.warning > state.now:
        heappush(state.warnings, (workload.protected_until - state.policy.warning, workload.id, workload.epoch))
    if workload.hole_since is not None:
        state.holes[workload.id] = None


def _open_hosts(state: State, kept: Kept) -> None:
    """Healthy hosts take work, each in the pool where it was, and pools are in the order that they had."""
    flags = kept.flags
    state.pools = {tuple(key): Pool(*key) for key in flags.get("pools", ())}
    reserved: dict[str, str] = {}
    for entry in flags.get("reservations", ()):
        holder, hosts = entry["workload"], tuple(entry["hosts"])
        state.reservations[holder] = Reservation(holder, entry["leaf"], hosts, entry["since"], entry["due"])
        reserved |= dict.fromkeys(entry["kept"], holder)
    for host in kept.hosts:
        state.hosts[host.id].state = host.state
        if host.state == Host.HEALTHY:
            state.pool(state.hosts[host.id], reserved.get(host.id))


def _set_flags(state: State, flags: dict[str, Any]) -> None:
    for name, limits in flags.get("limits", ()):
        budget = state.limited[name] = state.budgets[name]
        total = budget.usage.total(state.now)
        budget.limits = [Limit(amount, total - charged) for amount, charged in limits]
    if flags.get("quotas"):
        _set_quotas(state, **flags["quotas"])
    for name, until in flags.get("bans", ()):
        (state.budgets.get(name) or state.retired[name]).no_reservation_until = until
    for timers, key in ((state.claims, "claims"), (state.warnings, "warnings")):
        for at, name in flags.get(key, ()):
            heappush(timers, (at, name, state.workloads[name].epoch))
    state.draining = dict.fromkeys(flags.get("draining", ()))
    state.fresh = dict.fromkeys(flags.get("fresh", ()))
    state.released = dict.fromkeys(flags.get("released", ()))
    state.host_count = flags.get("host_count", 0)
    state.roomier, state.stirred = flags.get("roomier", True), flags.get("stirred", False)
    state.reviewed_at, state.reserve_at = flags.get("reviewed_at", 0), flags.get("reserve_at")


def _set_quotas(state: State, by_team: dict[str, dict[str, Any]], **sharing: bool) -> None:
    quotas = {team: Quota(**quota) for team, quota in sorted(by_team.items())}
    state.quotas = Quotas(quotas, **sharing)
    set_claims(state)
