import random

import pytest

from app.core.placing import Hold, Host, Need, Reason, place

H100 = "h100-80gb"


def hosts(*frees: int, size: int = 8, model: str | None = H100, ready: bool = True) -> list[Host]:
    return [Host(f"n{place}", model, size, size - free, ready) for place, free in enumerate(frees)]


def gang(*gpus: int, model: str = H100) -> list[Need]:
    return [Need(f"r{place}", model if count else None, count) for place, count in enumerate(gpus)]


def reason(answer: object) -> Reason:
    assert isinstance(answer, Hold), answer
    return answer.reason


def test_a_small_gang_goes_to_the_fullest_node_and_a_large_one_to_empty_nodes() -> None:
    """VX-24: best fit."""
    assert place(hosts(8, 2, 1, 4), gang(1)) == {"r0": "n2"}
    assert place(hosts(8, 2, 1, 4), gang(2, 2)) == {"r0": "n1", "r1": "n3"}
    assert place(hosts(4, 8, 8), gang(8, 8)) == {"r0": "n1", "r1": "n2"}


def test_equal_nodes_are_taken_in_their_order_and_shared() -> None:
    assert place(hosts(8, 8), gang(4, 4, 4)) == {"r0": "n0", "r1": "n0", "r2": "n1"}


def test_the_largest_replicas_are_placed_first_so_that_a_gang_fits_whatever_its_order() -> None:
    assert place(hosts(2, 8), gang(1, 1, 8)) == {"r0": "n0", "r1": "n0", "r2": "n1"}


def test_a_gang_is_placed_whole_or_not_at_all() -> None:
    """VX-24: all replicas at one instant."""
    assert reason(place(hosts(8, 4), gang(8, 8))) is Reason.GPUS_IN_USE


def test_replicas_without_gpus_need_a_node_and_take_none_of_its_gpus() -> None:
    """VX-24: on nodes without GPUs if there are any, one after the other."""
    mixed = [*hosts(8), Host("c0", None, 0), Host("c1", None, 0)]
    assert place(mixed, gang(0, 8, 0)) == {"r0": "c1", "r1": "n0", "r2": "c0"}
    assert place(hosts(0), gang(0, 0)) == {"r0": "n0", "r1": "n0"}


@pytest.mark.parametrize(
    ("nodes", "needs", "expected"),
    [
        ([], gang(1), Reason.NO_NODE),
        ([], gang(0), Reason.NO_NODE),
        (hosts(8, model="a100-40gb"), gang(1), Reason.NO_SUCH_GPU),
        (hosts(4, 4, size=4), gang(8), Reason.NODES_TOO_SMALL),
        (hosts(8, 8), gang(8, 8, 8), Reason.FLEET_TOO_SMALL),
        ([*hosts(8), Host("x", H100, 8, ready=False)], gang(8, 8), Reason.NODES_NOT_READY),
        (hosts(8, ready=False), gang(0), Reason.NODES_NOT_READY),
        (hosts(8, 7), gang(8, 8), Reason.GPUS_IN_USE),
    ],
)
def test_a_gang_that_finds_no_place_is_told_why(nodes: list[Host], needs: list[Need], expected: Reason) -> None:
    answer = place(nodes, needs)
    assert reason(answer) is expected
    assert isinstance(answer, Hold)
    assert answer.message.endswith(".")
    assert answer.hopeless == (expected not in (Reason.NODES_NOT_READY, Reason.GPUS_IN_USE))


def test_models_do_not_mix() -> None:
    both = [*hosts(8), Host("a0", "a100-40gb", 8)]
    wanted = [*gang(8), Need("r1", "a100-40gb", 8)]
    assert place(both, wanted) == {"r0": "n0", "r1": "a0"}


def test_no_node_is_ever_overfull_and_none_is_refused_that_would_fit() -> None:
    """Against a count of slots, which is exact when each size divides the next."""
    draws = random.Random(5)
    for _ in range(500):
        frees = [draws.randint(0, 8) for _ in range(draws.randint(1, 6))]
        sizes = [draws.choice((1, 2, 4, 8)) for _ in range(draws.randint(1, 8))]
        answer = place(hosts(*frees), gang(*sizes))
        fits = all(
            sum(size // least for size in sizes if size >= least) <= sum(free // least for free in frees)
            for least in (1, 2, 4, 8)
        )
        assert isinstance(answer, Hold) != fits, (frees, sizes)
        if not isinstance(answer, Hold):
            for host, free in enumerate(frees):
                assert sum(sizes[int(r[1:])] for r, name in answer.items() if name == f"n{host}") <= free
