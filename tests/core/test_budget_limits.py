"""What limits leave a budget on one fleet (FS-3): exact, by calendar month, whatever the tree was when it was used."""

from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.budget_limits import (
    HOUR_MS,
    Allowance,
    Holding,
    Span,
    Use,
    allowance,
    begins,
    charged_in,
    dry_at,
    met_at,
    next_month,
    set_allowances,
    spans,
    use_of,
)
from app.core.budget_tree import ROOT, Change, Limit, Period, Tree, Unit
from app.core.errors import DomainError
from app.core.scheduling import events, tree
from app.core.scheduling.history import ChangeKind, apply_change
from app.core.scheduling.settling import runs_dry_in
from app.core.times import WorldTime, to_millis
from tests.core.scheduling import HOUR, MINUTE, Lab

ALWAYS = 2**62


def ms(year: int, month: int, day: int = 1, hour: int = 0) -> int:
    return to_millis(WorldTime(datetime(year, month, day, hour, tzinfo=UTC)))


@pytest.mark.parametrize(
    ("now", "began", "ends"),
    [
        (ms(2026, 1, 31, 23), ms(2026, 1), ms(2026, 2)),
        (ms(2026, 12), ms(2026, 12), ms(2027, 1)),
        (ms(2028, 2, 29), ms(2028, 2), ms(2028, 3)),
        (ms(2026, 3) - 1, ms(2026, 2), ms(2026, 3)),
    ],
)
def test_months_are_the_calendars(now: int, began: int, ends: int) -> None:
    assert (begins(Period.MONTH, now), next_month(now)) == (began, ends)
    assert begins(Period.ALL, now) == 0


def test_a_limit_is_less_what_others_charged_and_reserved() -> None:
    """FS-3: of the other fleets protected time counts before it has passed."""
    limit = Limit(10, Unit.GPU_HOURS, Period.ALL)
    elsewhere = [(Use(HOUR_MS, 2 * HOUR_MS, 4), Fraction(7)), (Use(spending=1), Fraction(3))]
    assert allowance(limit, 5, Fraction(0), elsewhere) == Allowance(7 * HOUR_MS, 5, Fraction(5))


def test_dollars_are_reckoned_at_each_fleets_price() -> None:
    """Rounded down, so that nothing is spent that is not there; what is free is not limited."""
    limit = Limit(10, Unit.MICRO_USD, Period.ALL)
    elsewhere = [(Use(HOUR_MS, 0, 4), Fraction(2))]
    assert allowance(limit, 0, Fraction(3), elsewhere) == Allowance(8 * HOUR_MS // 3, 0, Fraction(8, 3))
    assert allowance(limit, 0, Fraction(7), elsewhere) == Allowance(8 * HOUR_MS // 7, 0, Fraction(8, 7))
    assert allowance(limit, 0, Fraction(0), elsewhere) is None


def test_use_elsewhere_is_cut_at_spans_periods_and_protection() -> None:
    counted = [Span("a", 100, ALWAYS), Span("b", 0, 150)]
    holdings = [
        Holding("a", 8, 50, 8, 500),
        Holding("a", 4, 120, 4, 190),
        Holding("b", 2, 120, 2, 900),
        Holding("c", 9, 0, 9, 900),
    ]
    found = use_of(1000, holdings, counted, 110, 200)
    assert found == Use(1000 + 8 * 90 + 4 * 80 + 2 * 30, 8 * 300, 4, 12)


CHANGES = st.lists(
    st.tuples(
        st.sampled_from([ChangeKind.CREATE, ChangeKind.MOVE, ChangeKind.DELETE]),
        st.sampled_from("abcdef"),
        st.sampled_from(["", *"abcdef"]),
        st.sampled_from("abcdef"),
        st.integers(1, 90),
    ),
    max_size=25,
)


@settings(max_examples=150, deadline=None)
@given(CHANGES)
def test_what_counts_is_what_the_policy_counted(script: list[tuple[ChangeKind, str, str, str, int]]) -> None:
    """FS-1, FS-14: segments by the spans of leaves sum to U of each budget, as budgets come, move and go."""
    lab = Lab(4, none=1)
    made = [Change(ChangeKind.CREATE, "none", ROOT, 1)]
    for number, (kind, name, parent, leaf, minutes) in enumerate(script):
        change = Change(kind, name, parent, 1, at=lab.now)
        with suppress(DomainError):
            apply_change(lab.state, change.step)
            made.append(change)
        with suppress(DomainError):
            lab.submit(f"w{number}", leaf, gpus=1 + number % 8, min_runtime=HOUR)
        lab.step()
        lab.wait(minutes * MINUTE)
        if number % 3 == 2:
            for workload in list(lab.state.workloads)[:1]:
                events.finish(lab.state, workload, lab.now)
    for name, budget in lab.state.budgets.items():
        if name != ROOT and name not in {one.name for one in made if one.kind is ChangeKind.DELETE}:
            assert charged_in(lab.state, spans(made, name), 0) == budget.usage.total(lab.now), name


def test_an_allowance_that_has_not_changed_stirs_nobody() -> None:
    """FS-15: a pass that is repeated does nothing."""
    lab = Lab()
    one = [Allowance(100, 0, Fraction(0))]
    assert set_allowances(lab.state, "a", one, 0)
    lab.step()
    assert not set_allowances(lab.state, "a", one, 0)
    assert not lab.state.stirred
    assert set_allowances(lab.state, "a", [Allowance(100, 1, Fraction(0))], 0)


def test_a_limit_that_others_use_up_as_well_is_met_sooner() -> None:
    """FS-3: eight GPUs here and eight elsewhere use sixteen GPU-hours in one."""
    lab = Lab()
    lab.run("w", "a", min_runtime=HOUR)
    lab.wait(HOUR)
    allowed = [Allowance(24 * HOUR, 8 * HOUR, Fraction(8))]
    set_allowances(lab.state, "a", allowed, lab.now)
    assert dry_at(lab.state, "a", allowed, lab.now) == lab.now + HOUR
    budget = lab.state.budgets["a"]
    assert runs_dry_in(lab.state, budget, budget.limits[0].left(budget, lab.now)) == 2 * HOUR


def test_a_deleted_budget_counts_nothing_more() -> None:
    grown = Tree()
    made = [
        Change(ChangeKind.CREATE, "a", ROOT, 1, at=1),
        Change(ChangeKind.CREATE, "b", "a", 1, at=2),
        Change(ChangeKind.DELETE, "b", at=5),
        Change(ChangeKind.CREATE, "b", "a", 1, at=9),
        Change(ChangeKind.CREATE, "c", ROOT, 1, at=9),
        Change(ChangeKind.MOVE, "b", "c", at=11),
        Change(ChangeKind.MOVE, "a", "c", at=12),
    ]
    for change in made:
        grown.do(change)
    assert spans(made, "a") == [Span("b", 2, 5), Span("b", 9, 11), Span("a", 1, ALWAYS)]
    assert spans(made, "c") == [Span("c", 9, ALWAYS), Span("b", 11, ALWAYS), Span("a", 12, ALWAYS)]


def test_a_limit_is_met_by_who_ran_alone_all_the_time() -> None:
    """FS-3, FS-15: a pass is due when protection ends, for what is spent from then on has to be watched."""
    lab = Lab()
    tree.set_limits(lab.state, "a", [(12 * HOUR, 0)], 0)
    lab.run("w", "a", min_runtime=HOUR)
    lab.wait(9 * HOUR)
    assert not lab.state.workloads["w"].funded
    assert lab.state.budgets["a"].usage.total(lab.now) == 12 * HOUR


def test_a_limit_that_others_use_up_as_well_is_never_met_at_once() -> None:
    """FS-3, FS-15: a fleet that were due at the instant of its own pass would be passed over for ever."""
    lab = Lab()
    lab.run("w", "a", min_runtime=HOUR)
    lab.wait(HOUR)
    left = 10
    allowed = [Allowance(8 * HOUR + left, 8 * HOUR, Fraction(8))]
    set_allowances(lab.state, "a", allowed, lab.now)
    assert runs_dry_in(lab.state, lab.state.budgets["a"], left) == 1, "the pass does not close it"
    assert dry_at(lab.state, "a", allowed, lab.now) == lab.now + 1


@pytest.mark.parametrize(
    ("period", "left", "rate", "met"),
    [
        (Period.ALL, 10, Fraction(3), 4),
        (Period.ALL, 10, Fraction(0), None),
        (Period.ALL, 0, Fraction(0), 0),
        (Period.MONTH, 0, Fraction(1), 0),
        (Period.MONTH, 1000 * HOUR, Fraction(1000), HOUR),
        (Period.MONTH, 1000 * HOUR, Fraction(1), None),
    ],
)
def test_a_limit_is_met_when_nothing_is_left_of_it(period: Period, left: int, rate: Fraction, met: int | None) -> None:
    """FS-3: of a month's, within the month alone, since the next begins with the whole limit."""
    now = ms(2026, 1, 15)
    found = met_at(Limit(5, Unit.GPU_HOURS, period), Fraction(left), rate, now)
    assert found == (None if met is None else now + met)
