"""Shares, windows and whose turn it is (FS-1, FS-2)."""

from fractions import Fraction

import pytest

from app.core.errors import Conflict, Invalid, NotFound
from app.core.scheduling import events, tree
from app.core.scheduling.decisions import Admit
from app.core.scheduling.usage import Series
from tests.core.scheduling import HOUR, MINUTE, Kind, Lab, Policy, of

DAY = 24 * HOUR


def started(lab: Lab) -> list[str]:
    return [decision.workload for decision in of(lab.decisions, Admit) if isinstance(decision, Admit)]


def test_a_series_answers_about_the_windows_beginning_without_a_walk() -> None:
    series = Series()
    series.add(10, 2)
    series.add(20, 3)
    assert [series.total_at(at) for at in (0, 10, 15, 20, 30)] == [-20, 0, 10, 20, 70]
    assert series.total(30) == 70


def test_a_budget_is_born_at_par_and_moves_with_its_use() -> None:
    """FS-2: before it existed, U and E both count its claim."""
    lab = Lab(2, a=1, b=3, policy=Policy(window=7 * DAY))
    assert (lab.ratio("a"), lab.ratio("b")) == (1, 1)
    lab.run("w", "a", gpus=8, min_runtime=HOUR)
    lab.wait(DAY)
    assert lab.ratio("a") == Fraction(4 * 6 + 8, 4 * 7), (
        "four of sixteen GPUs are its claim, and it used eight for a day"
    )
    assert lab.ratio("b") == Fraction(6, 7)


def test_what_has_started_counts_before_it_accrues() -> None:
    """FS-2: K, at least 15 minutes of it."""
    lab = Lab(2, policy=Policy(window=DAY))
    lab.run("w", "a", gpus=8, min_runtime=MINUTE)
    assert lab.ratio("a") == 1 + Fraction(8 * 15, 8 * 24 * 60)


def test_a_new_weight_counts_from_then_on() -> None:
    """FS-1: re-weighting rewrites no past."""
    lab = Lab(2, a=1, b=1, policy=Policy(window=2 * DAY))
    lab.wait(2 * DAY)
    tree.reweight(lab.state, "a", 3, lab.now)
    assert lab.ratio("a") == 0
    lab.run("w", "a", gpus=8, replicas=2, min_runtime=8 * HOUR)
    lab.wait(DAY)
    assert lab.ratio("a") == Fraction(16, 8 + 12), "16 GPUs used for a day; claims 8 for a day, then 12"
    lab.wait(DAY)
    assert lab.ratio("a") == Fraction(32, 24)


def test_use_stays_with_the_parent_it_was_under() -> None:
    """FS-1: re-parenting and deletion rewrite no past."""
    lab = Lab(1, p=1, q=1)
    tree.create_budget(lab.state, "leaf", "p", 1, 0)
    lab.run("w", "leaf", gpus=8)
    lab.wait(HOUR)
    tree.move_budget(lab.state, "leaf", "q", lab.now)
    lab.wait(HOUR)
    used = {name: budget.used(lab.now, 0) for name, budget in lab.state.budgets.items()}
    assert used == {"": 16 * HOUR, "p": 8 * HOUR, "q": 8 * HOUR, "leaf": 16 * HOUR}
    events.finish(lab.state, "w", lab.now)
    tree.delete_budget(lab.state, "leaf", lab.now)
    assert lab.state.budgets["q"].used(lab.now, 0) == 8 * HOUR


def test_the_lowest_ratio_goes_first_and_a_tie_to_the_oldest() -> None:
    """FS-2."""
    lab = Lab(1)
    lab.run("first", "a")
    lab.submit("again", "a")
    lab.now += MINUTE
    lab.submit("other", "b")
    events.finish(lab.state, "first", lab.now)
    lab.step()
    assert started(lab)[:2] == ["first", "other"]
    tied = Lab(1)
    tied.submit("late", "a", submit=5)
    tied.submit("early", "b", submit=4)
    tied.step()
    assert started(tied) == ["early"]


def test_an_idle_siblings_time_goes_to_its_siblings_first() -> None:
    """FS-2: the tree is walked among subtrees with waiting work."""
    lab = Lab(4, x=1, y=1)
    for name, parent in (("x1", "x"), ("x2", "x"), ("y1", "y")):
        tree.create_budget(lab.state, name, parent, 1, 0)
    for number in range(4):
        lab.submit(f"x{number}", "x1")
        lab.submit(f"y{number}", "y1")
    lab.step()
    assert sorted(name[0] for name in started(lab)) == ["x", "x", "y", "y"]


def test_within_a_leaf_priority_then_fewer_slices_then_submit() -> None:
    """FS-2."""
    lab = Lab(1, a=1)
    lab.submit("old", submit=0)
    lab.submit("urgent", priority=1, submit=5)
    lab.step()
    assert started(lab) == ["urgent"]
    lab.wait(61 * MINUTE)
    assert started(lab) == ["urgent"], "its protection is over, but the other's priority is lower"
    events.finish(lab.state, "urgent", lab.now)
    lab.step()
    assert started(lab) == ["urgent", "old"]


def test_a_priority_inside_a_leaf_moves_no_other_leaf() -> None:
    """FS-2: ties go by submit time, whatever the priority."""
    lab = Lab(1)
    lab.submit("b", "b", submit=1)
    lab.submit("a", "a", submit=2, priority=9)
    lab.step()
    assert started(lab) == ["b"]


def test_one_pass_cannot_be_flooded() -> None:
    """FS-18: splitting into many small workloads with tiny minimum runtimes."""
    lab = Lab(2)
    for number in range(16):
        lab.submit(f"a{number}", "a", gpus=1, min_runtime=1000, submit=0)
    for number in range(8):
        lab.submit(f"b{number}", "b", gpus=1, submit=1)
    lab.step()
    names = started(lab)
    assert sum(name[0] == "b" for name in names) >= 3, "an hour of one counts as much as fifteen minutes of four"


def test_a_budget_without_a_claim_comes_last() -> None:
    """FS-2: E = 0."""
    lab = Lab(1, a=0, b=1)
    lab.submit("a", "a", submit=0)
    lab.submit("b", "b", submit=1)
    lab.step()
    assert started(lab) == ["b"]


def test_a_deleted_and_recreated_leaf_keeps_its_use() -> None:
    """FS-18: deleting and recreating an over-served leaf."""
    lab = Lab(2, policy=Policy(window=DAY))
    lab.run("w", "a", gpus=8, replicas=2, min_runtime=HOUR)
    lab.wait(2 * HOUR)
    events.finish(lab.state, "w", lab.now)
    before = lab.ratio("a")
    tree.delete_budget(lab.state, "a", lab.now)
    tree.create_budget(lab.state, "a", "", 1, lab.now)
    assert lab.ratio("a") == before


def test_what_cannot_be_is_refused() -> None:
    """FS-4, and a tree that stays a tree."""
    lab = Lab(1)
    tree.create_budget(lab.state, "a1", "a", 1, 0)
    with pytest.raises(Invalid, match=r"0 to 8 h"):
        lab.submit("long", "b", min_runtime=9 * HOUR)
    with pytest.raises(Invalid, match="a1"):
        lab.submit("inner", "a")
    with pytest.raises(NotFound):
        lab.submit("nowhere", "c")
    with pytest.raises(Invalid, match="below"):
        tree.move_budget(lab.state, "a", "a1", 0)
    lab.submit("w", "b")
    for refused in (
        lambda: tree.delete_budget(lab.state, "b", 0),
        lambda: tree.create_budget(lab.state, "x", "b", 1, 0),
    ):
        with pytest.raises(Conflict):
            refused()
    with pytest.raises(Invalid, match="sessions"):
        Lab(1, policy=Policy(sessions_only=True)).submit("w", "a", kind=Kind.BATCH)
