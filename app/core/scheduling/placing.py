"""Which GPUs of which hosts a workload holds, and which are held for it."""

from app.core.scheduling.packing import Host
from app.core.scheduling.state import State
from app.core.scheduling.workload import Status, Workload


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
    """The workload holds more replicas there. It must not be marked, since marks count its places."""
    for name, count in places.items():
        host = state.hosts[name]
        host.residents[workload.id] = host.residents.get(workload.id, 0) + count
        workload.places[name] = workload.places.get(name, 0) + count
        gone = count * workload.gpus if workload.status is Status.LEAVING else 0
        state.turn_over(host, -count * workload.gpus, leaving=gone)
        if host.state == Host.DRAINING:
            state.change_capacity(count * workload.gpus)


def vacate(state: State, workload: Workload) -> None:
    """The workload leaves all its hosts."""
    for name in list(workload.places):
        leave(state, workload, state.hosts[name])


def leave(state: State, workload: Workload, host: Host) -> None:
    """The workload leaves one host. It must not be marked."""
    gpus = host.residents.pop(workload.id) * workload.gpus
    del workload.places[host.id]
    state.turn_over(host, gpus, leaving=-gpus if workload.status is Status.LEAVING else 0)
    if host.state == Host.DRAINING:
        state.change_capacity(-gpus)
