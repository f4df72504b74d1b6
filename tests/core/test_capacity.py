"""Who gets a machine (CT-4)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.capacity import Grant, Pool, Stock, Want
from tests.core.builders import CPU, GPU, KNOWN, at, pool

A, B = "us-west-2a", "us-west-2b"
WANT = Want("n-1", (GPU, CPU), (A, B))

# name: the pools, what is granted one after another
GRANTS: dict[str, tuple[list[Pool], list[Grant | None]]] = {
    "no pool is no limit": ([], [Grant(GPU, A)] * 3),
    "the region's pool": ([pool(2)], [Grant(GPU, A), Grant(GPU, A), Grant(CPU, A)]),
    "nothing is left": ([pool(0), pool(0, instance_type=CPU)], [None]),
    "a zone that is full": ([pool(1, A)], [Grant(GPU, A), Grant(GPU, B), Grant(GPU, B)]),
    "region and zone both limit": (
        [pool(2), pool(1, A), pool(0, instance_type=CPU)],
        [Grant(GPU, A), Grant(GPU, B), None],
    ),
    "the region limits full zones": ([pool(1), pool(5, A), pool(5, B)], [Grant(GPU, A), Grant(CPU, A)]),
    "types in their order, before zones": ([pool(0, A)], [Grant(GPU, B)]),
    "what is used already": ([pool(3, used=2)], [Grant(GPU, A), Grant(CPU, A)]),
    "a total below what is used evicts nothing and grants nothing": ([pool(1, used=4)], [Grant(CPU, A)]),
}


@pytest.mark.parametrize("name", GRANTS)
def test_grants(name: str) -> None:
    pools, expected = GRANTS[name]
    stock = Stock(pools, KNOWN)
    assert [stock.take(WANT) for _ in expected] == expected


def test_what_is_given_back_can_be_taken() -> None:
    stock = Stock([pool(1, used=1), pool(1, A, used=1)], KNOWN)
    want = Want("n-1", (GPU,), (A,))
    assert stock.take(want) is None
    stock.give_back(GPU, A, at(5))
    assert stock.deltas == {(GPU, ""): -1, (GPU, A): -1}
    assert stock.freed == {GPU: at(5)}
    assert stock.take(want) == Grant(GPU, A, at(5))
    assert stock.deltas == {}
    assert stock.freed == {}


def test_a_grant_tells_since_when_the_machine_was_free() -> None:
    """CT-1: the later of its region's and its zone's last return; a machine that was never taken was always free."""
    free_from = {"": 3, A: 7}
    stock = Stock([pool(2, zone, freed_at=at(second)) for zone, second in free_from.items()], KNOWN)
    assert stock.take(Want("n-1", (GPU,), (A,))) == Grant(GPU, A, at(7))
    assert stock.take(Want("n-2", (GPU,), (B,))) == Grant(GPU, B, at(3))
    assert Stock([pool(1)], KNOWN).take(Want("n-3", (GPU,), (A,))) == Grant(GPU, A, None)


def test_a_type_without_a_pool_is_not_counted() -> None:
    stock = Stock([], KNOWN)
    stock.take(WANT)
    stock.give_back(GPU, A, at(5))
    assert (stock.deltas, stock.freed) == ({}, {})


def test_a_pool_over_its_total_has_nothing_free() -> None:
    assert [pool(4, used=3).free, pool(4, used=4).free, pool(4, used=9).free] == [1, 0, 0]


@given(
    st.dictionaries(st.sampled_from(["", A, B]), st.integers(0, 4)),
    st.lists(st.one_of(st.none(), st.sampled_from([(A, B), (B, A), (A,), (B,)])), max_size=30),
)
@settings(max_examples=150, deadline=None)
def test_no_machine_is_granted_twice(totals: dict[str, int], steps: list[tuple[str, ...] | None]) -> None:
    """Grants less returns never exceed a total, and the counts say exactly what is held. None gives one back."""
    stock, held = Stock([pool(total, zone) for zone, total in totals.items()], KNOWN), []
    for zones in steps:
        if zones is not None:
            grant = stock.take(Want("n", (GPU,), zones))
            held += [grant] if grant else []
            assert grant or all(_full(totals, held, zone) for zone in zones)
        elif held:
            back = held.pop()
            stock.give_back(back.instance_type, back.zone, at(1))
        for zone, total in totals.items():
            assert _held(held, zone) == stock.deltas.get((GPU, zone), 0) <= total


def _held(held: list[Grant], zone: str) -> int:
    return sum(zone in ("", grant.zone) for grant in held)


def _full(totals: dict[str, int], held: list[Grant], zone: str) -> bool:
    return any(_held(held, limit) >= totals[limit] for limit in ("", zone) if limit in totals)
