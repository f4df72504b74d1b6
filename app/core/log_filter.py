"""What filters of Cloud Logging may ask of an entry: the vocabulary for `app.core.filters` (VX-17).

Texts are compared without regard to case, `:` finds what they contain. Nothing that is compared with a field that is
not there holds, but for NOT.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from app.core.filters import Comparison, Filter, Predicate, compiled, moment, wrong
from app.core.log_lines import SEVERITIES, Logged
from app.core.projects import number_of

Entry = tuple[Logged, Mapping[str, Any]]
"""What a filter is asked about: a line, and the LogEntry that it is told as."""
Path = tuple[str, ...]

_TIMES = ("timestamp", "receiveTimestamp")
_TOLD = ("insertId", "jsonPayload", "labels", "logName", "resource", "severity", "textPayload", *_TIMES)
_ABSENT = ("errorGroups", "httpRequest", "operation", "protoPayload", "sourceLocation", "spanId", "split", "trace")
"""Fields of LogEntry that no entry of ours has."""
_FIELDS = {name.lower(): name for name in (*_TOLD, *_ABSENT, "traceSampled")}
_JOB_ID, _PROJECT_ID = ("resource", "labels", "job_id"), ("resource", "labels", "project_id")
_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EQUALS: Mapping[str, Callable[[Any, Any], bool]] = {**_ORDER, "=": operator.eq, "!=": operator.ne, ":": operator.eq}
_PROJECT = re.compile(r"projects/([^/]+)(?=/)")
_MINUTE, _DAY = timedelta(minutes=1), timedelta(days=1)
_NEVER = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Clocks:
    """The world's time, and the machine's, by which clients reckon.

    gcloud and google-cloud-logging bound what they ask for: until now, or since a day ago. In a world whose clock is
    another one they would find nothing; there such a bound, to a minute, is read by the world's clock (chosen).
    """

    world: datetime
    wall: datetime

    def instant(self, comparison: Comparison) -> datetime:
        """The instant that a comparison is about."""
        named = moment(comparison)
        if abs(self.world - self.wall) <= _MINUTE:
            return named
        if comparison.operator in ("<", "<=") and abs(named - self.wall) <= _MINUTE:
            return _NEVER
        if comparison.operator in (">", ">=") and abs(named - (self.wall - _DAY)) <= _MINUTE:
            return self.world - _DAY
        return named


class Needed(NamedTuple):
    """What all lines have that a filter accepts, as far as it is easily seen: so that few others are read."""

    job_id: str | None = None
    begin: datetime | None = None
    end: datetime | None = None


def log_filter(text: str, clocks: Clocks) -> Filter:
    """The filter of entries. Invalid names the place of what cannot be read."""
    return compiled(text, lambda comparison: _compile(comparison, clocks))


def needed(found: Filter, clocks: Clocks) -> Needed:
    """The job, and the first and last instant at which accepted lines can have been written."""
    jobs = [each.value for each in found.needed if (_known(each), each.operator) == (_JOB_ID, "=")]
    times = [each for each in found.needed if _known(each) in [(name,) for name in _TIMES]]
    begins = [clocks.instant(each) for each in times if each.operator in (">", ">=", "=")]
    ends = [clocks.instant(each) for each in times if each.operator in ("<", "<=", "=")]
    return Needed(next(iter(jobs), None), max(begins, default=None), min(ends, default=None))


def _known(comparison: Comparison) -> Path:
    """The path in LogEntry's own names; they are read in snake case too, and in any case."""
    if not comparison.path:
        return ()
    first, *rest = comparison.path
    return (_FIELDS.get(first.replace("_", "").lower(), ""), *rest)


def _compile(comparison: Comparison, clocks: Clocks) -> Predicate:
    path = _known(comparison)
    if not path:
        return _anywhere(comparison.value.lower())
    first = path[0]
    if not first:
        shown = ".".join(comparison.path)[:80]
        raise wrong(comparison.at, f"'{shown}' is no field of an entry; they are {', '.join(_TOLD)}.")
    if comparison.operator in ("=~", "!~"):
        raise wrong(comparison.at, "regular expressions are not read; a colon finds what a text contains.")
    if path[0] in _TIMES and len(path) == 1:
        return _time(comparison, clocks)
    if path == ("severity",):
        return _severity(comparison)
    return _value(path, comparison)


def _anywhere(text: str) -> Predicate:
    return lambda entry: any(text in str(leaf).lower() for leaf in _leaves(entry[1]))


def _is_presence(comparison: Comparison) -> bool:
    return (comparison.operator, comparison.value, comparison.quoted) == (":", "*", False)


def _time(comparison: Comparison, clocks: Clocks) -> Predicate:
    if _is_presence(comparison):
        return lambda entry: True
    wanted, compare = clocks.instant(comparison), _EQUALS[comparison.operator]
    return lambda entry: compare(entry[0].line.at, wanted)


def _severity(comparison: Comparison) -> Predicate:
    if _is_presence(comparison):
        return lambda entry: True
    value = comparison.value.upper()
    if value not in SEVERITIES and not re.fullmatch("[0-9]{1,3}", value):
        told = f"'{comparison.value[:80]}' is no severity; they are {', '.join(SEVERITIES)}."
        raise wrong(comparison.at, told)
    wanted = SEVERITIES[value] if value in SEVERITIES else int(value)
    compare = _EQUALS[comparison.operator]
    return lambda entry: compare(SEVERITIES[entry[0].line.severity], wanted)


def _value(path: Path, comparison: Comparison) -> Predicate:
    values = _values_at(path)
    if _is_presence(comparison):
        return lambda entry: bool(values(entry))
    wanted = comparison.value
    if path == ("logName",) and comparison.operator != ":":
        wanted = _numbered(wanted)
    elif path == _PROJECT_ID:
        wanted = number_of(wanted)
    holds = _Test("=" if comparison.operator == "!=" else comparison.operator, wanted)
    if comparison.operator == "!=":
        return lambda entry: bool(found := values(entry)) and not any(map(holds, found))
    return lambda entry: any(map(holds, values(entry)))


def _values_at(path: Path) -> Callable[[Entry], Sequence[Any]]:
    """What an entry has there. A project is known by id and number, a trial's lines by both of its jobs."""
    if path == ("logName",):
        return lambda entry: (_numbered(entry[1]["logName"]), entry[1]["logName"])
    if path == _PROJECT_ID:
        return lambda entry: (entry[0].account,)
    if path == _JOB_ID:
        return lambda entry: tuple(filter(None, (entry[0].job_id, entry[0].tuning_id)))
    return lambda entry: _values(entry[1], path)


def _numbered(log_name: str) -> str:
    return _PROJECT.sub(lambda found: f"projects/{number_of(found[1])}", log_name, count=1)


def _values(value: Any, path: Path) -> Sequence[Any]:
    """What is there: the elements of a list, and nothing for a field that is not there."""
    if isinstance(value, list):
        return [each for item in value for each in _values(item, path)]
    if not path:
        return [value]
    if not isinstance(value, Mapping) or path[0] not in value:
        return ()
    return _values(value[path[0]], path[1:])


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


class _Test:
    """`value operator wanted`, for a value of whichever type it turns out to be."""

    def __init__(self, operator: str, wanted: str) -> None:
        self._operator = operator
        self._wanted = wanted
        self._folded = wanted.lower()
        try:
            self._number: float | None = float(wanted)
        except ValueError:
            self._number = None

    def __call__(self, value: Any) -> bool:
        if isinstance(value, Mapping):
            return self._operator == ":" and any(map(self, _leaves(value)))
        if isinstance(value, str):
            return self._holds_of_text(value)
        if isinstance(value, bool) or value is None:
            word = "null" if value is None else str(value).lower()
            return self._operator in ("=", ":") and word == self._folded
        return self._number is not None and _EQUALS[self._operator](value, self._number)

    def _holds_of_text(self, value: str) -> bool:
        if self._operator == ":":
            return self._folded in value.lower()
        if self._operator == "=":
            return value.lower() == self._folded
        return _ORDER[self._operator](value, self._wanted)
