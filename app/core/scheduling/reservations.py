"""Hosts kept for a large gang until the protected work there is over, so that it does not starve (FS-9)."""

from collections.abc import Iterator

from app.core.scheduling.admission import admit, can_pay, do, evict_for
from app.core.scheduling.budgets import Budget, Shape
from app.core.scheduling.decisions import Code, Decision, Reserve, Unreserve
from app.core.scheduling.packing import Host, Pool, fit
from app.core.scheduling.queueing import head, leaves_in_order
from app.core.scheduling.state import Reservation, State
from app.core.scheduling.victims import choose, funded
from app.core.scheduling.workload import Evictable, Status, Workload


def keep_reservations(state: State, made: list[Decision]) -> None:
    """Reservations without a holder end, those that lost a host are made anew, and those that are due are used."""
    for name in list(state.reservations):
        reservation = state.reservations[name]
        workload = state.workloads.get(name)
        if workload is None:
            do(state, made, Unreserve(state.now, name, Code.WITHDRAWN))
        elif workload.status is Status.WAITING:
            _keep(state, made, workload, reservation)


def _keep(state: State, made: list[Decision], workload: Workload, reservation: Reservation) -> None:
    pools = _kept_for(state, workload)
    if sum([len(pool.hosts) for pool in pools]) < len(reservation.hosts):
        do(state, made, Unreserve(state.now, workload.id, Code.NODES_CHANGED))
        _reserve(state, made, workload, reservation.since, Code.NODES_CHANGED)
    elif can_pay(state, workload) is None:
        _use(state, made, workload, reservation, pools)


def _kept_for(state: State, workload: Workload) -> list[Pool]:
    name = workload.id
    return [pool for pool in state.pools.values() if pool.reserved == name]


def _use(state: State, made: list[Decision], workload: Workload, reservation: Reservation, pools: list[Pool]) -> None:
    """The holder starts when its hosts are free; from T on it evicts what is in its way there, in one eviction."""
    gpus, replicas = workload.gpus, workload.replicas
    has_room = sum([pool.room(gpus) for pool in pools]) >= replicas
    if has_room and (places := fit(pools, gpus, replicas)) is not None:
        admit(state, made, workload, places, Code.FREE)
    elif state.now >= reservation.due and sum([pool.room_after_expired(gpus) for pool in pools]) >= replicas:
        choice = choose(state, gpus, replicas, pools, _in_the_way(state, workload, reservation))
        if choice is not None:
            evict_for(state, made, workload, choice, Code.RESERVATION_DUE)


def _in_the_way(state: State, workload: Workload, reservation: Reservation) -> Iterator[Workload]:
    """Unfunded work on the reserved hosts, then expired work that may be evicted there."""
    names = sorted({name for host in reservation.hosts for name in state.hosts[host].residents})
    there = [state.workloads[name] for name in names]
    there.sort(key=lambda other: (other.lost(state.now), other.id))
    yield from (other for other in there if other.evictable is Evictable.UNFUNDED)
    expired = [other for other in there if other.evictable is Evictable.EXPIRED]
    if state.policy.waive_at_t:
        yield from expired
        return
    yielding = {name for _, names in funded(state, workload) for name in names}
    yield from (other for other in expired if other.id in yielding or other.bound_at >= reservation.since)


def make_reservations(state: State, made: list[Decision], *, review: bool) -> None:
    """The heads of leaves that are too large for one host and have waited long enough reserve, in turn."""
    if state.reserve_at is None or not (review or state.now >= state.reserve_at):
        return
    state.reserve_at, later = None, []
    large = _large_shapes(state)
    if not large:
        return
    due: dict[str, Workload] = {}
    for leaf in state.root.leaves:
        if not large.isdisjoint(leaf.queue.keys()) and (workload := candidate(state, leaf)) is not None:
            at = workload.queued_at + state.policy.reservation_wait
            if at > state.now:
                later.append(at)
            else:
                due[leaf.id] = workload
    if due and len(state.reservations) < state.policy.max_reservations:
        for leaf in leaves_in_order(state, state.root, lambda budget: budget.waiting_below):
            if leaf.id in due and len(state.reservations) < state.policy.max_reservations:
                _reserve(state, made, due[leaf.id], state.now, Code.WAITED)
    state.reserve_at = min(later, default=state.now + state.policy.tick)


def _large_shapes(state: State) -> set[Shape]:
    return {shape for group, alike in state.shapes.items() if group[0] for shape in alike if _is_large(state, shape)}


def _is_large(state: State, shape: Shape) -> bool:
    return shape[1] * shape[2] > state.largest_host


def candidate(state: State, leaf: Budget) -> Workload | None:
    """The leaf's funded head, if it is a large one that may reserve once it has waited."""
    if state.now < leaf.no_reservation_until or not any(_is_large(state, shape) for shape in leaf.queue if shape[0]):
        return None
    if any(reservation.leaf == leaf.id for reservation in state.reservations.values()):
        return None
    first = head(leaf, funded=True)
    if first is None:
        return None
    workload = state.workloads[first[3]]
    if not _is_large(state, workload.shape) or can_pay(state, workload) is not None:
        return None
    return workload


def _reserve(state: State, made: list[Decision], workload: Workload, since: int, code: Code) -> None:
    found = best_hosts(state, workload)
    if found is not None:
        hosts, due = found
        do(state, made, Reserve(state.now, workload.id, tuple(host.id for host in hosts), due, since, code))
        if due <= state.now:
            _use(state, made, workload, state.reservations[workload.id], _kept_for(state, workload))


def best_hosts(state: State, workload: Workload) -> tuple[list[Host], int] | None:
    """The hosts whose protected work is over first, and T; of those that are, the ones that disturb the fewest ahead.

    None: the healthy hosts that nobody else has reserved are too few.
    """
    pools = [pool for pool in state.pools_for(workload.shape, state.now, None) if pool.reserved is None]
    hosts = [host for pool in pools for host in pool.hosts.values() if host.gpus >= workload.gpus]
    over = {host.id: protected_work_over(state, host) for host in hosts}
    hosts.sort(key=lambda host: (over[host.id], host.number))
    slots = 0
    for host in hosts:
        slots += host.gpus // workload.gpus
        if slots >= workload.replicas:
            due = over[host.id]
            break
    else:
        return None
    leaves = leaves_in_order(state, state.root, lambda _: 1)
    rank = {leaf.id: place for place, leaf in enumerate(leaves)}
    mine = rank[state.leaf_of(workload).id]
    able = [host for host in hosts if over[host.id] <= due]
    able.sort(key=lambda host: (_ahead(state, host, rank, mine), over[host.id], host.number))
    return _enough(able, workload), due


def _enough(hosts: list[Host], workload: Workload) -> list[Host]:
    found, slots = [], 0
    for host in hosts:
        if slots >= workload.replicas:
            break
        found.append(host)
        slots += host.gpus // workload.gpus
    return found


def protected_work_over(state: State, host: Host) -> int:
    """When the last funded work on the host, or held for there, will have had its minimum runtime; now at the least."""
    over = state.now
    for name in host.residents:
        workload = state.workloads[name]
        if workload.status is Status.LEAVING:
            over = max(over, workload.leaves_at)
        elif workload.funded:
            over = max(over, workload.protected_until)
    for name in host.claims:
        workload = state.workloads[name]
        over = max(over, workload.protected_until if workload.funded else workload.claim_due)
    return over


def _ahead(state: State, host: Host, rank: dict[str, int], mine: int) -> int:
    """How many expired workloads of leaves that rank ahead are on the host."""
    residents = (state.workloads[name] for name in host.residents)
    expired = (workload for workload in residents if workload.evictable is Evictable.EXPIRED)
    return sum(1 for workload in expired if rank[workload.leaf or ""] < mine)
