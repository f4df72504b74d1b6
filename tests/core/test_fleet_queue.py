from app.core.fleet_queue import Gang, Service
from app.core.placing import Host, Need, Reason

H100, A100 = "h100-80gb", "a100-40gb"


def node(name: str, taken: int = 0, model: str = H100) -> Host:
    return Host(name, model, 8, taken)


def gang(name: str, *gpus: int, model: str = H100) -> Gang:
    return Gang(
        name, [Need(f"workerpool{place}-0", model if count else None, count) for place, count in enumerate(gpus)]
    )


def served(hosts: list[Host], *gangs: Gang, holes: tuple[Gang, ...] = ()) -> Service:
    service = Service(hosts)
    service.fill(holes)
    service.start(gangs)
    return service


def test_whole_gangs_in_the_order_in_which_they_came() -> None:
    """VX-24: first come, first served; who comes behind the one that waits waits too, though he would fit."""
    service = served([node("a"), node("b")], gang("one", 8), gang("two", 8, 8), gang("three", 8))
    assert service.placed == {"one": {"workerpool0-0": "a"}}
    assert service.held["two"].reason is Reason.GPUS_IN_USE
    assert service.held["three"].reason is Reason.BEHIND_OTHERS
    assert "two" in service.held["three"].message
    assert service.is_over


def test_another_gpu_model_is_another_queue() -> None:
    nodes = [node("a", taken=8), node("b", model=A100)]
    service = served(nodes, gang("one", 8), gang("two", 8, model=A100))
    assert service.placed == {"two": {"workerpool0-0": "b"}}
    assert not service.is_over


def test_one_that_can_never_fit_keeps_nobody_waiting() -> None:
    service = served([node("a")], gang("huge", 8, 8), gang("small", 4))
    assert service.held["huge"].reason is Reason.FLEET_TOO_SMALL
    assert service.placed == {"small": {"workerpool0-0": "a"}}


def test_holes_are_filled_first_and_one_by_one() -> None:
    """VX-24: a lost node is a hole in the gang, which goes ahead of all that wait."""
    service = served([node("a")], gang("next", 4), holes=(gang("running", 8, 8),))
    assert service.placed == {"running": {"workerpool0-0": "a"}}
    assert service.held["running"].reason is Reason.GPUS_IN_USE
    assert service.held["next"].reason is Reason.BEHIND_OTHERS


def test_without_gpus_one_waits_only_when_nobody_gets_anything() -> None:
    mixed = [node("a", taken=8), node("b", model=A100)]
    assert served(mixed, gang("one", 8), gang("plain", 0)).placed == {"plain": {"workerpool0-0": "a"}}
    closed = served([node("a", taken=8)], gang("one", 8), gang("plain", 0))
    assert closed.held["plain"].reason is Reason.BEHIND_OTHERS
    bare = served([Host("c", None, 0, ready=False)], gang("plain", 0), gang("other", 0))
    assert (bare.is_over, bare.held["other"].reason) == (False, Reason.NODES_NOT_READY)
