"""Which GPUs of which hosts a workload holds, and which are held for it."""

from app.core.scheduling.packing import Host
from app.core.scheduling.state import State
from app.core.scheduling.workload import Evictable, Status, Workload


def hold(state: State, workload: Workload, places: dict[str, int]) -> None:
    """Keep GPUs for the workload, also such as others are about to leave."""
    state.touched[workload.id] = None
    workload.claim = dict(places)
    for name, count in places.items():
        host = state.hosts[name]
        host.claims[workload.id] = count
        state.turn_over(host, -count * workload.gpus)


def drop_claim(state: State, workload: Workload) -> None:
    state.touched[workload.id] = None
    for name, count in workload.claim.items():
        host = state.hosts[name]
        del host.claims[workload.id]
        state.turn_over(host, count * workload.gpus)
    workload.claim = {}


def occupy(state: State, workload: Workload, places: dict[str, int]) -> None:
    """The workload holds more replicas there, as what it is marked."""
    for name, count in places.items():
        host = state.hosts[name]
        host.residents[workload.id] = host.residents.get(workload.id, 0) + count
        workload.places[name] = workload.places.get(name, 0) + count
        _take(state, workload, host, count * workload.gpus)


def vacate(state: State, workload: Workload) -> None:
    """The workload leaves all its hosts."""
    for name in list(workload.places):
        leave(state, workload, state.hosts[name])


def leave(state: State, workload: Workload, host: Host) -> None:
    """The workload leaves one host."""
    del workload.places[host.id]
    _take(state, workload, host, -host.residents.pop(workload.id) * workload.gpus)


def _take(state: State, workload: Workload, host: Host, gpus: int) -> None:
    """The workload holds so many more of the host's GPUs."""
    kind = workload.evictable
    if kind is Evictable.NO:
        state.turn_over(host, -gpus, leaving=gpus if workload.status is Status.LEAVING else 0)
    elif kind is Evictable.UNFUNDED:
        state.leaf_of(workload).unfunded_gpus += gpus
        state.turn_over(host, -gpus, gpus)
    else:
        state.leaf_of(workload).expired_gpus += gpus
        state.turn_over(host, -gpus, 0, gpus)
    if host.state == Host.DRAINING:
        state.change_capacity(gpus)
