"""What happens to the fleet, its budgets and its workloads; the next pass decides what follows."""

from app.core.errors import InUse, Invalid, NotFound
from app.core.scheduling.packing import Host
from app.core.scheduling.placing import drop_claim, leave, vacate
from app.core.scheduling.policy import HOUR
from app.core.scheduling.queueing import dequeue, enqueue
from app.core.scheduling.state import State
from app.core.scheduling.workload import Evictable, Kind, Status, Workload

# Workloads


def submit(state: State, workload: Workload, now: int) -> None:
    """The workload waits. Invalid: it can never run as it was declared (FS-4)."""
    state.advance(now)
    if workload.id in state.workloads:
        raise InUse(f"There is a workload {workload.id} already. Give this one another name.")
    if workload.gpus < 1 or workload.replicas < 1:
        raise Invalid("A workload needs at least one replica, and each at least one GPU.")
    if state.policy.sessions_only and workload.kind is not Kind.SESSION:
        raise Invalid("This fleet takes interactive sessions alone. Use another fleet.")
    longest = state.policy.longest_minimum
    if not 0 <= workload.min_runtime <= longest:
        text = f"The minimum runtime is {workload.min_runtime / HOUR:g} h; it may be 0 to {longest / HOUR:g} h."
        raise Invalid(f"{text} Declare what the work needs until its first checkpoint.")
    if workload.leaf is not None:
        leaf = state.budgets.get(workload.leaf)
        if leaf is None:
            raise NotFound(f"There is no budget {workload.leaf}. Create it, or name another.")
        if leaf.children:
            raise Invalid(
                f"Budget {workload.leaf} is split into others. Name one of {', '.join(sorted(leaf.children))}."
            )
    state.workloads[workload.id] = workload
    workload.queued_at = now
    enqueue(state, workload)


def finish(state: State, name: str, now: int) -> None:
    """The workload has ended by itself, or its owner stopped it while it ran; its GPUs are free at once."""
    state.advance(now)
    _remove(state, _workload(state, name))


def cancel(state: State, name: str, now: int) -> None:
    """Its owner takes the workload back. Whoever withdraws the holder of a reservation waits for the next (FS-18)."""
    state.advance(now)
    workload = _workload(state, name)
    reservation = state.reservations.get(name)
    if reservation is not None:
        state.budgets[reservation.leaf].no_reservation_until = now + state.policy.reservation_ban
    _remove(state, workload)


def _remove(state: State, workload: Workload) -> None:
    if workload.status is Status.WAITING:
        dequeue(state, workload)
    release(state, workload)
    state.released.pop(workload.id, None)
    del state.workloads[workload.id]


def release(state: State, workload: Workload) -> None:
    """It holds nothing any more, and nothing is due for it."""
    state.uncommit(workload)
    state.unprotect(workload)
    state.charge(workload, 0, funded=False)
    vacate(state, workload)
    state.mark(workload, Evictable.NO)
    drop_claim(state, workload)
    state.holes.pop(workload.id, None)
    workload.hole_since = None
    workload.epoch += 1


def set_priority(state: State, name: str, priority: int, now: int) -> None:
    """It changes the order within its leaf alone."""
    state.advance(now)
    workload = _workload(state, name)
    waits = workload.status is Status.WAITING
    if waits:
        dequeue(state, workload)
    workload.priority = priority
    state.touched[name] = None
    if waits:
        enqueue(state, workload)
    state.stirred = True


def _workload(state: State, name: str) -> Workload:
    if name not in state.workloads:
        raise NotFound(f"There is no workload {name} on this fleet.")
    return state.workloads[name]


# Nodes


def node_ready(state: State, name: str, now: int, *, gpus: int = 0, model: str = "", zone: str = "") -> None:
    """A node takes work: a new one of `gpus` GPUs, or one that is back from its repair."""
    state.advance(now)
    state.touched_hosts[name] = None
    host = state.hosts.get(name)
    if host is None:
        if gpus < 1:
            raise Invalid(f"Node {name} is new to the scheduler: say how many GPUs it has.")
        host = state.hosts[name] = Host(name, state.host_count, gpus, model, zone)
        state.host_count += 1
        state.largest_host = max(state.largest_host, gpus)
        state.change_capacity(gpus)
    elif host.state != Host.HEALTHY:
        held = host.gpus - _allocated(state, host)
        state.change_capacity(held if host.state == Host.DRAINING else host.gpus)
        host.state = Host.HEALTHY
        state.draining.pop(name, None)
    else:
        return
    state.pool(host, None)
    state.stirred = True


def drain(state: State, name: str, now: int) -> None:
    """The node is degraded or marked for maintenance: it takes no new work (FS-11)."""
    state.advance(now)
    host = _host(state, name)
    if host.state != Host.HEALTHY:
        return
    _break_claims(state, host)
    state.unpool(host)
    host.state = Host.DRAINING
    state.touched_hosts[name] = None
    state.draining[name] = None
    state.change_capacity(_allocated(state, host) - host.gpus)
    state.stirred = True


def node_lost(state: State, name: str, now: int) -> None:
    """The node is gone; gangs that ran on it have a hole, and its GPUs are charged no longer (FS-19)."""
    state.advance(now)
    host = _host(state, name)
    _break_claims(state, host)
    state.touched_hosts[name] = None
    for workload_id in sorted(host.residents):
        _lose(state, state.workloads[workload_id], host)
    state.unpool(host)
    if host.state == Host.HEALTHY:
        state.change_capacity(-host.gpus)
    state.draining.pop(name, None)
    del state.hosts[name]
    state.largest_host = max((other.gpus for other in state.hosts.values()), default=0)
    state.stirred = True


def resize(state: State, name: str, gpus: int, now: int) -> None:
    """The node has so many GPUs from now on. Nobody who runs is evicted: what is free may be below zero."""
    state.advance(now)
    host = _host(state, name)
    if gpus < 0:
        raise Invalid(f"Node {name} cannot have {gpus} GPUs; it may have 0 or more.")
    change = gpus - host.gpus
    if not change:
        return
    host.gpus = gpus
    state.touched_hosts[name] = None
    state.turn_over(host, change)
    if host.state == Host.HEALTHY:
        state.change_capacity(change)
        state.pool(host, None)  # who reserved it looks anew
    leaving = sum(
        count * state.workloads[who].gpus
        for who, count in host.residents.items()
        if state.workloads[who].status is Status.LEAVING
    )
    if host.free + leaving < 0:
        _break_claims(state, host)
    state.largest_host = max(other.gpus for other in state.hosts.values())
    state.stirred = True


def _lose(state: State, workload: Workload, host: Host) -> None:
    leave(state, workload, host)
    recount(state, workload)
    if workload.status is Status.RUNNING:
        if workload.hole_since is None:
            workload.hole_since = state.now
        state.holes[workload.id] = None


def recount(state: State, workload: Workload) -> None:
    """Budgets count the GPUs that the workload holds now."""
    gpus = workload.gpus * sum(workload.places.values())
    if workload.committed_until > state.now:
        state.commit(workload, gpus, workload.committed_until)
    if workload.protected_until > state.now:
        state.protect(workload, gpus, workload.protected_until)
    state.charge(workload, gpus, funded=workload.segment_funded)


def _break_claims(state: State, host: Host) -> None:
    """Whoever was to get GPUs of the host gets none: it waits on, or looks for another place."""
    for workload_id in list(host.claims):
        workload = state.workloads[workload_id]
        drop_claim(state, workload)
        if workload.status is Status.HELD:
            state.uncommit(workload)
            state.unprotect(workload)
            workload.epoch += 1
            enqueue(state, workload)
            state.released[workload_id] = None


def _host(state: State, name: str) -> Host:
    if name not in state.hosts:
        raise NotFound(f"There is no node {name} in this fleet.")
    return state.hosts[name]


def _allocated(state: State, host: Host) -> int:
    return sum(count * state.workloads[name].gpus for name, count in host.residents.items())
