"""When cron expressions of scheduled updates occur: AWS's examples, rare days, and a slow second opinion."""

import calendar
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.cron import parse
from app.core.times import WorldTime


def moment(text: str) -> WorldTime:
    return WorldTime(datetime.fromisoformat(text).replace(tzinfo=UTC))


def occurrences(expression: str, at: str, count: int) -> list[str]:
    found, now = [], moment(at)
    for _ in range(count):
        following = parse(expression).next_after(now)
        if following is None:
            break
        found.append(f"{following:%Y-%m-%d %H:%M}")
        now = following
    return found


@pytest.mark.parametrize(
    ("expression", "first"),
    [
        ("cron(30 14 ? 12 MON 2026)", ["2026-12-07 14:30", "2026-12-14 14:30", "2026-12-21 14:30", "2026-12-28 14:30"]),
        ("cron(30 14 15 12 ? 2026)", ["2026-12-15 14:30"]),
        ("cron(00 12 ? * 1 *)", ["2026-01-05 12:00", "2026-01-12 12:00"]),
        ("cron(30 12 15 * ? *)", ["2026-01-15 12:30", "2026-02-15 12:30"]),
        ("cron(30 12 15 */3 ? *)", ["2026-01-15 12:30", "2026-04-15 12:30", "2026-07-15 12:30", "2026-10-15 12:30"]),
        ("cron(30 12 ? */3 MON *)", ["2026-01-05 12:30", "2026-01-12 12:30"]),
        ("cron(30 12 ? * 1#2 *)", ["2026-01-12 12:30", "2026-02-09 12:30"]),
        ("cron(30 12 ? * 1L *)", ["2026-01-26 12:30", "2026-02-23 12:30"]),
        ("cron(0 0 ? * L *)", ["2026-01-04 00:00", "2026-01-11 00:00"]),
        ("cron(5 7 ? */12 7#5 *)", ["2027-01-31 07:05"]),
        ("cron(0 0 1 1 ? 2099)", ["2099-01-01 00:00"]),
        ("cron(0 0 31 * ? *)", ["2026-01-31 00:00", "2026-03-31 00:00", "2026-05-31 00:00"]),
    ],
)
def test_examples(expression: str, first: list[str]) -> None:
    """HP-30: most are those of AWS's page."""
    assert occurrences(expression, "2026-01-01T00:00", 5)[: len(first)] == first


def test_an_occurrence_is_not_after_itself() -> None:
    cron = parse("cron(0 2 ? * SUN *)")
    sunday = moment("2026-01-04T02:00")
    assert cron.next_after(WorldTime(sunday - timedelta(milliseconds=1))) == sunday
    assert cron.next_after(sunday) == sunday + timedelta(days=7)


def test_rare_days_are_found() -> None:
    """A leap day over the year 2100, and a February's fifth Monday."""
    assert occurrences("cron(0 0 29 2 ? *)", "2096-03-01T00:00", 1) == ["2104-02-29 00:00"]
    assert occurrences("cron(0 0 ? 2 1#5 *)", "2072-03-01T00:00", 1) == ["2112-02-29 00:00"]


@pytest.mark.parametrize("expression", ["cron(0 0 30 2 ? *)", "cron(0 0 31 4 ? *)", "cron(0 0 1 1 ? 2025)"])
def test_what_never_comes(expression: str) -> None:
    assert occurrences(expression, "2026-01-01T00:00", 1) == []


def test_at_the_end_of_all_clocks() -> None:
    assert occurrences("cron(0 0 1 * ? *)", "9000-01-01T00:00", 1) == ["9000-02-01 00:00"]


@st.composite
def expressions(draw: st.DrawFn) -> tuple[int, int, str, str, str]:
    minute, hour = draw(st.integers(0, 59)), draw(st.integers(0, 23))
    month = draw(st.sampled_from(["*", *map(str, range(1, 13)), *(f"*/{step}" for step in range(1, 13))]))
    if draw(st.booleans()):
        return minute, hour, str(draw(st.integers(1, 31))), month, "?"
    number = draw(st.integers(1, 7))
    kind = draw(st.sampled_from(["{}", "{}L", *(f"{{}}#{nth}" for nth in range(1, 6))]))
    return minute, hour, "?", month, kind.format(number)


def matches(day: datetime, day_of_month: str, month: str, weekday: str) -> bool:
    """The slow second opinion on a day."""
    if month.startswith("*/"):
        if (day.month - 1) % int(month[2:]):
            return False
    elif month != "*" and day.month != int(month):
        return False
    if day_of_month != "?":
        return day.day == int(day_of_month)
    if day.isoweekday() != int(weekday[0]):
        return False
    if weekday.endswith("L"):
        return day.day + 7 > calendar.monthrange(day.year, day.month)[1]
    return "#" not in weekday or (day.day - 1) // 7 + 1 == int(weekday[2:])


@given(expressions(), st.integers(0, 6 * 366 * 86_400))
def test_like_a_look_at_every_day(parts: tuple[int, int, str, str, str], seconds: int) -> None:
    """RL-10."""
    minute, hour, day_of_month, month, weekday = parts
    at = WorldTime(moment("2024-01-01T00:00") + timedelta(seconds=seconds))
    found = parse(f"cron({minute} {hour} {day_of_month} {month} {weekday} *)").next_after(at)
    day = at.replace(hour=hour, minute=minute, second=0, microsecond=0)
    for _ in range(400):
        if day > at and matches(day, day_of_month, month, weekday):
            assert found == day
            return
        day += timedelta(days=1)
    assert found is None or found > day - timedelta(days=1)
