"""What a run is judged by, against the same figures counted the long way."""

from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.simulate.engine import run
from app.simulate.hours import claims_of, hours_of
from app.simulate.measures import deliver, picture_of
from app.simulate.policies.budget import BudgetScheduler
from app.simulate.records import NEVER, Cause, Run
from app.simulate.settings import Settings
from app.simulate.waits import Waits
from app.simulate.workloads import Job, Mishap, Trace
from tests.simulate.small import HOUR, MINUTE, SECOND, TREE, at_random, trace

SEEDS = st.integers(0, 10_000)


def simulate(of: Trace) -> Run:
    return run(of, BudgetScheduler(of, Settings()))


def overlap(start: int, end: int, begins: int, ends: int) -> int:
    return max(0, min(end, ends) - max(start, begins))


def test_a_claim_is_the_product_of_the_fractions_on_its_path() -> None:
    """FS-1: the leaves of a tree share the whole."""
    assert claims_of(TREE) == {"shop": Fraction(2, 5), "lab.a": Fraction(1, 5), "lab.b": Fraction(2, 5)}


def test_what_is_owed_used_and_delivered_by_hand() -> None:
    """One leaf asks for less than its claim, the other for more, and gets the rest, which nobody owed it."""
    small = Job("small", 0, 2 * HOUR, 4, leaf="a", min_runtime=HOUR)
    large = Job("large", 0, 2 * HOUR, 12, replicas=1, leaf="b", min_runtime=HOUR)
    made = picture_of(simulate(trace(small, large, nodes=1, gpus=16, hours=4)))
    assert made.hours.owed == {"a": [4 * HOUR, 4 * HOUR, 0, 0], "b": [8 * HOUR, 8 * HOUR, 0, 0]}
    assert made.hours.used == {"a": [4 * HOUR, 4 * HOUR, 0, 0], "b": [12 * HOUR, 12 * HOUR, 0, 0]}
    assert made.measures.day.leaves == {"a": 1.0, "b": 1.0}
    assert made.measures.occupancy == 0.5
    assert made.measures.unfunded == 0.0


def test_what_came_later_than_it_was_owed_is_delivered_by_the_day_and_not_by_the_hour() -> None:
    """Rolling days: of what is owed in one hour and used in the next, a window that holds both sees it delivered."""
    owed = {"a": [10, 0, 0, 0]}
    used = {"a": [0, 10, 0, 0]}
    assert deliver(used, owed, 1).total == 0.0
    assert deliver(used, owed, 4).total == 1.0
    assert deliver(used, owed, 2).total == 1.0
    assert deliver({"a": [0, 0, 10, 0]}, owed, 2).total == 0.0


def test_jain_and_the_worst_are_of_leaves_that_were_owed_something() -> None:
    made = deliver({"a": [10], "b": [5], "c": [0]}, {"a": [10], "b": [10], "c": [0]}, 1)
    assert made.leaves == {"a": 1.0, "b": 0.5}
    assert (made.worst, made.at_least_95, made.total) == (0.5, 1, 0.75)
    assert made.jain == pytest.approx(1.5**2 / (2 * 1.25))


def test_work_that_never_fits_the_fleet_asks_for_nothing() -> None:
    giant = Job("giant", 0, HOUR, 8, replicas=3, leaf="a", min_runtime=HOUR)
    made = hours_of(simulate(trace(giant, nodes=2, hours=2)))
    assert made.demand["a"] == [0, 0]


def test_stops_count_from_when_it_is_measured() -> None:
    low = Job("low", 0, 10 * HOUR, 8, checkpoint=HOUR)
    high = Job("high", 90 * MINUTE, HOUR, 8, leaf="a", min_runtime=HOUR)
    short = trace(low, high, nodes=1, mishaps=(Mishap(5 * HOUR, "n0", True, HOUR),))
    late = Trace("late", short.jobs, short.nodes, short.shares, 2 * HOUR, short.ends, short.mishaps)
    measures = picture_of(simulate(short)).measures
    stops = measures.unfunded_stops
    assert measures.stops[Cause.EVICTED].count == 0
    assert (stops[Cause.EVICTED].count, stops[Cause.EVICTED].lost) == (1, (30 * MINUTE + 10 * SECOND) * 8)
    assert (stops[Cause.NODE].count, measures.repairs) == (1, 1)
    assert picture_of(simulate(late)).measures.unfunded_stops[Cause.EVICTED].count == 0


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_hours_are_what_the_long_way_counts(seed: int) -> None:
    """Capacity, what was held and used, and demand, hour by hour."""
    made = simulate(at_random(seed))
    hours, of, parts = hours_of(made), made.trace, list(made.segments)
    steps = [*made.capacity, (of.ends, 0)]
    for at in range(len(hours.capacity)):
        begins = of.begins + at * HOUR
        ends = min(begins + HOUR, of.ends)
        capacity = sum(
            gpus * overlap(steps[i][0], steps[i + 1][0], begins, ends) for i, (_, gpus) in enumerate(steps[:-1])
        )
        assert hours.capacity[at] == capacity
        assert hours.held[at] == sum(g * overlap(s, e, begins, ends) for _, g, s, e, _ in parts) <= capacity
        for leaf in ("shop", "lab.a", "lab.b"):
            used = sum(g * overlap(s, e, begins, ends) for j, g, s, e, f in parts if f and of.jobs[j].leaf == leaf)
            wants = 0
            for number, job in enumerate(of.jobs):
                until = of.ends if made.ended[number] == NEVER else made.ended[number]
                if job.leaf == leaf and job.min_runtime:
                    wants += job.size * overlap(-(-job.submit // SECOND) * SECOND, until, begins, ends)
            assert hours.used[leaf][at] == used <= hours.demand[leaf][at] == wants


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 20)] * 4), min_size=1, max_size=30),
    st.integers(1, 30),
)
def test_delivery_is_what_the_long_way_counts(hours: list[tuple[int, int, int, int]], width: int) -> None:
    used = {"a": [hour[0] for hour in hours], "b": [hour[1] for hour in hours]}
    owed = {"a": [hour[2] for hour in hours], "b": [hour[3] for hour in hours]}
    got, due = dict.fromkeys("ab", 0), dict.fromkeys("ab", 0)
    for first in range(max(1, len(hours) - width + 1)):
        for leaf in "ab":
            claim = sum(owed[leaf][first : first + width])
            got[leaf] += min(claim, sum(used[leaf][first : first + width]))
            due[leaf] += claim
    made = deliver(used, owed, width)
    assert made.leaves == {leaf: got[leaf] / due[leaf] for leaf in "ab" if due[leaf]}
    if sum(due.values()):
        assert made.total == sum(got.values()) / sum(due.values())


@given(st.lists(st.integers(0, 50), min_size=1), st.integers(1, 99))
@example(list(range(1, 11)), 90)
def test_without_censored_waits_a_quantile_is_the_one_of_the_sorted_list(waits: list[int], percent: int) -> None:
    """The least wait that so many of a hundred do not exceed."""
    expected = sorted(waits)[-(-percent * len(waits) // 100) - 1]
    assert Waits(waits, []).quantile(percent / 100) == expected


@given(st.lists(st.integers(0, 20), max_size=20), st.lists(st.integers(0, 20), max_size=20), st.integers(1, 99))
def test_censored_waits_count_as_long_as_they_were_watched(
    started: list[int], censored: list[int], percent: int
) -> None:
    """Kaplan and Meier (1958), in fractions: of those still watched at a wait, the part that did not start then."""
    waiting, expected = Fraction(1), None
    for wait in sorted(set(started)):
        watched = sum(other >= wait for other in started) + sum(other >= wait for other in censored)
        waiting *= 1 - Fraction(started.count(wait), watched)
        if expected is None and 1 - waiting >= Fraction(percent, 100):
            expected = wait
    assert Waits(started, censored).quantile(percent / 100) == expected


def test_what_never_started_is_no_short_wait() -> None:
    """Half of the work waits until the end: the ninetieth part of a hundred is not known."""
    assert Waits([1] * 50, [100] * 50).quantile(0.9) is None
    assert Waits([1] * 50, [100] * 50).quantile(0.5) == 1


def test_waits_are_of_funded_work_by_its_first_start() -> None:
    debug = Job("debug", 0, MINUTE, 1, leaf="a", min_runtime=MINUTE, debug=True)
    first = Job("first", 0, 2 * HOUR, 8, leaf="a", min_runtime=2 * HOUR)
    second = Job("second", HOUR, HOUR, 8, leaf="a", min_runtime=HOUR)
    never = Job("never", HOUR, HOUR, 8, replicas=3, leaf="b", min_runtime=HOUR)
    free = Job("free", 0, HOUR, 1)
    made = picture_of(simulate(trace(debug, first, second, never, free, nodes=2, gpus=8, hours=6))).waits
    assert (made["debug"].started, made["debug"].censored) == ([0], [])
    assert (made["all"].started, made["all"].censored) == ([0, 0, 0], [5 * HOUR])
    assert (made["one node"].started, made["several nodes"].censored) == ([0, 0], [5 * HOUR])
