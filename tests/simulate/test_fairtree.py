"""Slurm's Fair Tree by hand, after the rules of its page."""

import pytest

from app.simulate.policies.fairtree import PERIOD, Decayed, rank_leaves
from app.simulate.shares import Tree
from app.simulate.workloads import Job, Share
from tests.simulate.driving import DAY, HOUR, MINUTE, SECOND, drive, job, trace_of

TREE = [
    Share("a", "", 40),
    Share("b", "", 60),
    Share("a1", "a", 1),
    Share("a2", "a", 1),
    Share("b1", "b", 1),
    Share("b2", "b", 1),
]


def test_every_child_of_the_better_served_comes_after_every_child_of_the_worse() -> None:
    """a has 40 % and used half: LF 0.8; b has 60 % and used half: LF 1.2. b1 used all of b's, and is still before a1.

    Within b: b2 used nothing (infinite), b1 everything: 0.5/1. Within a: a1 0.5/0.2 = 2.5, a2 0.5/0.8 = 0.625.
    """
    ranks = rank_leaves(Tree(TREE).root, {"a1": 10, "a2": 40, "b1": 50})
    assert ranks == {"b2": 0, "b1": 1, "a1": 2, "a2": 3}


def test_equal_groups_have_their_children_merged() -> None:
    """a and b both have LF 1. Their children are compared with each other: a1 5, b1 2, b2 0.667, a2 0.556."""
    ranks = rank_leaves(Tree(TREE).root, {"a1": 4, "a2": 36, "b1": 15, "b2": 45})
    assert ranks == {"a1": 0, "b1": 1, "b2": 2, "a2": 3}


def test_ties_share_a_rank() -> None:
    """Leaf c is level with group a and has the rank of its best; nobody has used anything below b."""
    shares = [*TREE, Share("c", "", 40)]
    ranks = rank_leaves(Tree(shares).root, {"a1": 10, "a2": 30, "c": 40})
    assert ranks == {"b1": 0, "b2": 0, "c": 2, "a1": 2, "a2": 4}


def test_no_shares_come_last() -> None:
    ranks = rank_leaves(Tree([Share("a", "", 0), Share("b", "", 1)]).root, {"b": 5})
    assert ranks == {"b": 0, "a": 1}


def test_use_counts_half_after_its_half_life() -> None:
    """Slurm takes 0.693 / half-life off each second, so a little less than half is left."""
    usage = Decayed(7 * DAY)
    usage.change(0, "a", 8)
    usage.change(PERIOD, "a", -8)
    usage.advance(PERIOD)
    assert usage.usage["a"] == 8 * PERIOD
    usage.advance(PERIOD + 7 * DAY)
    assert usage.usage["a"] / (8 * PERIOD) == pytest.approx(0.5, rel=0.001)


HALVES = [Share("a", "", 1), Share("b", "", 1)]


def _contended() -> list[Job]:
    """b has the only host from the start; a, which has used nothing, comes after ten minutes."""
    return [
        job("b", "b", 8, runtime=6 * HOUR, min_runtime=2 * HOUR),
        job("b-next", "b", 8, submit=SECOND),
        job("a", "a", 8, submit=10 * MINUTE),
    ]


def test_rank_goes_before_the_time_of_submission_and_evicts_nobody() -> None:
    driver = drive("fairtree", trace_of(_contended(), 1, HALVES))
    assert driver.stopped == []
    assert driver.started() == {"b": 0, "a": 6 * HOUR, "b-next": 7 * HOUR}


def test_who_is_ranked_first_evicts_what_has_run_its_minimum() -> None:
    """PreemptExemptTime: at two hours, no sooner; the next main pass that comes is the one of backfill."""
    driver = drive("fairtree-preempt", trace_of(_contended(), 1, HALVES))
    at, name = driver.stopped[0]
    assert name == "b"
    assert 2 * HOUR <= at <= 2 * HOUR + 30 * SECOND
    assert driver.started()["a"] == at


def test_ranks_are_five_minutes_old() -> None:
    """At 1:02 b's use is not counted yet: both are level, and the earlier submit wins."""
    jobs = [
        job("b", "b", 8, runtime=2 * MINUTE),
        job("b-next", "b", 8, submit=SECOND),
        job("a", "a", 8, submit=2 * SECOND),
    ]
    assert drive("fairtree", trace_of(jobs, 1, HALVES)).started()["b-next"] == 2 * MINUTE
    later = [
        job("b", "b", 8, runtime=6 * MINUTE),
        job("b-next", "b", 8, submit=SECOND),
        job("a", "a", 8, submit=2 * SECOND),
    ]
    assert drive("fairtree", trace_of(later, 1, HALVES)).started()["a"] == 6 * MINUTE


def test_backfill_comes_every_thirty_seconds_and_does_not_delay_the_head() -> None:
    """The head of eight comes at 0:01 and waits until 2:00. One hour fits before that, three do not."""
    jobs = [
        job("first", "b", 4, runtime=2 * HOUR),
        job("head", "a", 8, submit=SECOND),
        job("long", "a", 4, submit=2 * SECOND, runtime=3 * HOUR),
        job("short", "a", 4, submit=3 * SECOND),
    ]
    started = drive("fairtree", trace_of(jobs, 1, HALVES)).started()
    assert started["short"] == 31 * SECOND
    assert started["head"] == 2 * HOUR
    assert started["long"] == 3 * HOUR
