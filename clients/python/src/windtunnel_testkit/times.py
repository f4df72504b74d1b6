"""Instants and durations of a world's time, as users write them and as the service does."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Union

Duration = Union[timedelta, int, float, str]
"""A timedelta, seconds as a number, or text such as "90s", "10m", "1h30m", "2d"."""
Instant = Union[datetime, str]
"""A datetime with a time zone, or ISO 8601 text such as "2026-01-01T00:00:00Z"."""
_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])")


def seconds(duration: Duration) -> float:
    """The duration in seconds. Raises ValueError for what is none, or below 0."""
    if isinstance(duration, str):
        text = duration.replace(" ", "")
        if not re.fullmatch(rf"(?:{_PART.pattern})+", text):
            raise ValueError(f"{duration!r} is no duration: write it as '90s', '10m', '1h30m' or '2d'")
        return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    value = duration.total_seconds() if isinstance(duration, timedelta) else float(duration)
    if value < 0:
        raise ValueError(f"{duration!r} is below 0, and a world's time never goes back")
    return value


def written(instant: Instant) -> str:
    """The instant as the service reads it. Raises ValueError for a datetime without a time zone."""
    if isinstance(instant, str):
        return instant
    if instant.tzinfo is None:
        raise ValueError(f"{instant!r} has no time zone: add tzinfo=timezone.utc")
    return instant.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def read(text: str) -> datetime:
    """An instant of the service's, in UTC."""
    form = "%Y-%m-%dT%H:%M:%S.%fZ" if "." in text else "%Y-%m-%dT%H:%M:%SZ"
    return datetime.strptime(text, form).replace(tzinfo=timezone.utc)


def shown(instant: datetime) -> str:
    """ISO 8601 to the second."""
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")
