from app.core.fleet_queue import Gang, serve
from app.core.placing import Host, Need, Reason

H100, A100 = "h100-80gb", "a100-40gb"


def node(name: str, taken: int = 0, model: str = H100) -> Host:
    return Host(name, model, 8, taken)


def gang(name: str, *gpus: int, model: str = H100) -> Gang:
    return Gang(name, [Need(f"workerpool{place}-0", model, count) for place, count in enumerate(gpus)])


def test_whole_gangs_in_the_order_in_which_they_came() -> None:
    """VX-24: first come, first served; who comes behind the one that waits waits too, though he would fit."""
    served = serve([node("a"), node("b")], [], [gang("one", 8), gang("two", 8, 8), gang("three", 8)])
    assert served.placed == {"one": {"workerpool0-0": "a"}}
    assert served.held["two"].reason is Reason.GPUS_IN_USE
    assert served.held["three"].reason is Reason.BEHIND_OTHERS
    assert "two" in served.held["three"].message


def test_another_gpu_model_is_another_queue() -> None:
    nodes = [node("a", taken=8), node("b", model=A100)]
    served = serve(nodes, [], [gang("one", 8), gang("two", 8, model=A100)])
    assert served.placed == {"two": {"workerpool0-0": "b"}}


def test_one_that_can_never_fit_keeps_nobody_waiting() -> None:
    served = serve([node("a")], [], [gang("huge", 8, 8), gang("small", 4)])
    assert served.held["huge"].reason is Reason.FLEET_TOO_SMALL
    assert served.placed == {"small": {"workerpool0-0": "a"}}


def test_holes_are_filled_first_and_one_by_one() -> None:
    """VX-24: a lost node is a hole in the gang, which goes ahead of all that wait."""
    hole = gang("running", 8, 8)
    served = serve([node("a")], [hole], [gang("next", 4)])
    assert served.placed == {"running": {"workerpool0-0": "a"}}
    assert (
        served.held["running"].reason is Reason.FLEET_TOO_SMALL or served.held["running"].reason is Reason.GPUS_IN_USE
    )
    assert served.held["next"].reason is Reason.BEHIND_OTHERS
