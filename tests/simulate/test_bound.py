"""The clairvoyant bound, by hand and over random small traces."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from app.simulate.bound import upper_bound
from app.simulate.workloads import Mishap, Share, Trace
from tests.simulate.driving import HOUR, job, trace_of
from tests.simulate.test_policies import traces

HALVES = [Share("a", "", 1), Share("b", "", 1)]


def test_an_hour_at_a_time_by_hand() -> None:
    """Eight GPUs. a asks for 16 GPU-hours at once, b for 8 in the second hour: 8+0, 4+4, 4+4; the fourth hour is idle.

    The fourth hour takes four GPUs of unfunded work, which nobody paid for: 4 of 28 that are held.
    """
    jobs = [
        job("a", "a", 8, runtime=2 * HOUR),
        job("b", "b", 8, submit=HOUR),
        job("free", None, 4),
    ]
    bound = upper_bound(trace_of(jobs, 1, HALVES, until=4 * HOUR))
    assert bound.day.leaves == {"a": 1.0, "b": 1.0}
    assert bound.occupancy == pytest.approx(28 / 32)
    assert bound.unfunded == pytest.approx(4 / 28)


def test_a_gang_larger_than_its_claim_is_a_fluid() -> None:
    """Eight of sixteen GPUs are a's, its gang takes all sixteen for half of each hour; b has the other half."""
    jobs = [job("a", "a", 8, 2, runtime=2 * HOUR), job("b", "b", 8, 2, runtime=2 * HOUR)]
    bound = upper_bound(trace_of(jobs, 2, HALVES, until=4 * HOUR))
    assert bound.day.total == 1.0
    assert bound.occupancy == pytest.approx(1)


def test_a_host_in_repair_is_no_capacity() -> None:
    """Two mishaps of one host overlap from 1:30 to 2:00; together they take the host for two of four hours."""
    mishaps = [Mishap(HOUR, "n0", True, HOUR), Mishap(3 * HOUR // 2, "n0", True, 3 * HOUR // 2)]
    bound = upper_bound(trace_of([job("a", "a", 8, runtime=9 * HOUR)], 1, HALVES, mishaps, until=4 * HOUR))
    assert bound.occupancy == pytest.approx(1)
    half = upper_bound(trace_of([job("a", "a", 8, runtime=HOUR)], 1, HALVES, mishaps, until=4 * HOUR))
    assert half.occupancy == pytest.approx(float(Fraction(1, 2)))


@settings(max_examples=30, deadline=None)
@given(trace=traces())
def test_what_is_owed_can_always_be_delivered(trace: Trace) -> None:
    """Max-min gives no leaf less than the smaller of its claim and its demand."""
    bound = upper_bound(trace)
    assert bound.day.total in (None, 1.0)
    assert bound.occupancy is None or bound.occupancy <= 1 + 1e-9
