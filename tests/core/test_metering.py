"""Milliseconds, micro-dollars, one rounding (HP-22)."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.metering import HOUR_MS, charge, overlap_ms
from app.core.times import EPOCH, WorldTime, floor_ms, from_millis, millis, to_iso, to_millis
from tests.core.builders import at

CHARGES = {
    "nothing": (0, 0),
    "an hour": (HOUR_MS * 98_320_000, 98_320_000),
    "just under a half": (HOUR_MS // 2 - 1, 0),
    "a half is rounded up": (HOUR_MS // 2, 1),
    "one and a half": (HOUR_MS * 3 // 2, 2),
    "a millisecond of a p5": (98_320_000, 27),
    "ten years of ten thousand nodes": (87_660 * HOUR_MS * 10_000 * 98_320_000, 87_660 * 10_000 * 98_320_000),
}


@pytest.mark.parametrize("name", CHARGES)
def test_charges(name: str) -> None:
    weighted, expected = CHARGES[name]
    assert charge(weighted) == expected


@given(st.integers(0, 10**15), st.integers(0, 10**9), st.lists(st.integers(0, 10**15), max_size=5))
@settings(max_examples=200, deadline=None)
def test_an_interval_in_pieces_costs_what_the_whole_costs(length: int, price: int, cuts: list[int]) -> None:
    """Weighted milliseconds are summed, and rounding happens once, on the line."""
    edges = [0, *sorted(cut for cut in cuts if cut < length), length]
    pieces = [(b - a) * price for a, b in pairwise(edges)]
    assert charge(sum(pieces)) == charge(length * price)


@given(st.integers(0, 10**20))
@settings(max_examples=200, deadline=None)
def test_rounding_is_half_up(weighted: int) -> None:
    whole, rest = divmod(weighted, HOUR_MS)
    assert charge(weighted) == whole + (2 * rest >= HOUR_MS)


OVERLAPS = {
    "all of it": ((10, 20), (None, 60), 10),
    "open": ((10, None), (None, 60), 50),
    "cut on the left": ((10, 20), (15, 60), 5),
    "cut on the right": ((10, 20), (None, 12), 2),
    "cut on both sides": ((10, None), (15, 18), 3),
    "before": ((10, 20), (20, 60), 0),
    "behind": ((10, None), (0, 10), 0),
    "empty": ((10, 10), (None, 60), 0),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_overlaps(name: str) -> None:
    """The window is half open, so neighbouring months share no millisecond."""
    (start, end), (since, until), seconds = OVERLAPS[name]
    found = overlap_ms(at(start), None if end is None else at(end), None if since is None else at(since), at(until))
    assert found == seconds * 1000


def test_world_time_is_in_milliseconds() -> None:
    moment = at(millis=3_678)
    assert to_iso(moment) == "2026-01-01T00:00:03.678Z"
    assert from_millis(to_millis(moment)) == moment
    assert to_millis(EPOCH) == 0
    assert floor_ms(WorldTime(moment.replace(microsecond=678_999))) == moment
    assert millis(at(0), WorldTime(moment.replace(microsecond=678_999))) == 3_678
