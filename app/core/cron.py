"""The cron expressions of scheduled updates, in UTC.

AWS takes less than cron does, and than libraries do: at most one moment a day, since minute and hour are numbers, and
either a day of the month or one of the week. Sources: the developer guide's page "Update your AMI version in your
SageMaker HyperPod cluster", and the pattern of CloudFormation's AWS::SageMaker::Cluster ScheduledUpdateConfig.
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from app.core.errors import Invalid
from app.core.times import WorldTime

_LAST = -1
_EVERY = "*"
_ANY = "?"
_NAMES = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_MONTHS_AHEAD = 12 * 50
"""The longest pause is that of a February's fifth weekday over the year 2100: forty years."""
_FIELDS = (
    ("Minutes", r"[0-5]?[0-9]", "0 to 59"),
    ("Hours", r"[01]?[0-9]|2[0-3]", "0 to 23"),
    ("Day-of-month", r"0?[1-9]|[12][0-9]|3[01]|\?", "1 to 31, or ?"),
    ("Month", r"0?[1-9]|1[0-2]|\*|\*/(?:[1-9]|1[0-2])", "1 to 12, *, or */3 for every third month"),
    (
        "Day-of-week",
        rf"{'|'.join(_NAMES)}|[1-7]|[1-7]#[1-5]|[1-7]L|L|\?",
        "MON to SUN, 1 (Monday) to 7, 1#2 for the second Monday of the month, 1L for its last, L for Sunday, or ?",
    ),
    ("Year", r"20[2-9][0-9]|\*", "2020 to 2099, or *"),
)
_EXAMPLE = "cron(Minutes Hours Day-of-month Month Day-of-week Year), such as cron(0 2 ? * SUN *)"


@dataclass(frozen=True, slots=True)
class Cron:
    """When something recurs: on `day` of the month, or on `weekday` (1 is Monday): each one, the `nth`, or the last."""

    minute: int
    hour: int
    day: int | None
    months: Sequence[int]
    weekday: int | None
    nth: int | None
    year: int | None

    def next_after(self, at: WorldTime) -> WorldTime | None:
        """The first occurrence after `at`, or None when there is none any more."""
        start = max(12 * at.year + at.month - 1, 12 * (self.year or 0))
        for count in range(start, start + _MONTHS_AHEAD):
            year, month = count // 12, count % 12 + 1
            if month not in self.months or self.year not in (None, year):
                continue
            for day in self._days(year, month):
                moment = datetime(year, month, day, self.hour, self.minute, tzinfo=UTC)
                if moment > at:
                    return WorldTime(moment)
        return None

    def _days(self, year: int, month: int) -> Iterator[int]:
        first, length = monthrange(year, month)
        if self.weekday is None:
            days = [day for day in (self.day,) if day is not None and day <= length]
        else:
            days = list(range(1 + (self.weekday - 1 - first) % 7, length + 1, 7))
        if self.nth is None:
            yield from days
        elif self.nth == _LAST:
            yield days[-1]
        else:
            yield from days[self.nth - 1 : self.nth]


@lru_cache(maxsize=1000)
def parse(expression: str) -> Cron:
    """What the expression says; Invalid, with what to write instead."""
    if not (expression.startswith("cron(") and expression.endswith(")")):
        raise Invalid(f"ScheduleExpression '{expression}' is no cron expression. Give {_EXAMPLE}.")
    words = expression[len("cron(") : -1].split(" ")
    if len(words) != len(_FIELDS):
        raise Invalid(
            f"ScheduleExpression '{expression}' has {len(words)} fields and must have {len(_FIELDS)}. Give {_EXAMPLE}."
        )
    for word, (name, pattern, takes) in zip(words, _FIELDS, strict=True):
        if not re.fullmatch(pattern, word, re.ASCII):
            raise Invalid(f"ScheduleExpression '{expression}': {name} '{word}' must be {takes}.")
    minute, hour, day, month, weekday, year = words
    if (day == _ANY) == (weekday == _ANY):
        raise Invalid(f"ScheduleExpression '{expression}': exactly one of Day-of-month and Day-of-week must be '?'.")
    return Cron(int(minute), int(hour), _number(day), _months(month), *_weekday(weekday), _number(year))


def _number(word: str) -> int | None:
    return None if word in (_ANY, _EVERY) else int(word)


def _months(word: str) -> Sequence[int]:
    every, _, step = word.partition("/")
    return range(1, 13, int(step or 1)) if every == _EVERY else (int(word),)


def _weekday(word: str) -> tuple[int | None, int | None]:
    """The day, and which of the month's; `L` alone is the last day of the week."""
    if word == _ANY:
        return None, None
    if word == "L":
        return 7, None
    if word in _NAMES:
        return _NAMES.index(word) + 1, None
    return int(word[0]), _LAST if word.endswith("L") else int(word[2:]) if "#" in word else None
