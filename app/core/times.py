"""The world's time: what a user sees and pays for. UTC, to the millisecond."""

from datetime import UTC, datetime, timedelta
from typing import NewType

WorldTime = NewType("WorldTime", datetime)
"""An instant of a world. A `WallTime` (see `app.clock`) is another type, so that the two cannot be mixed."""

EPOCH = WorldTime(datetime(1970, 1, 1, tzinfo=UTC))
MILLISECOND = timedelta(milliseconds=1)


def after(instant: WorldTime, delay: timedelta) -> WorldTime:
    """The instant `delay` later."""
    return WorldTime(instant + delay)


def millis(start: WorldTime, end: WorldTime) -> int:
    """Whole milliseconds from `start` to `end`."""
    return (end - start) // MILLISECOND


def to_millis(instant: WorldTime) -> int:
    """Milliseconds since 1970."""
    return millis(EPOCH, instant)


def from_millis(value: int) -> WorldTime:
    """The instant `value` milliseconds after 1970."""
    return after(EPOCH, timedelta(milliseconds=value))


def to_iso(instant: WorldTime) -> str:
    """ISO 8601 with milliseconds and `Z`, as `2026-01-02T03:04:05.678Z`."""
    return instant.strftime("%Y-%m-%dT%H:%M:%S.") + f"{instant.microsecond // 1000:03d}Z"


def floor_ms(instant: WorldTime) -> WorldTime:
    """The instant without what is finer than a millisecond."""
    return WorldTime(instant - timedelta(microseconds=instant.microsecond % 1000))


def whole_second(instant: WorldTime) -> WorldTime:
    """The instant, or the next whole second: all that happens within one is decided on together (FS-15)."""
    part = instant.microsecond
    return instant if not part else WorldTime(instant + timedelta(microseconds=1_000_000 - part))


def floor_second(instant: WorldTime) -> WorldTime:
    """The whole second that the instant lies in."""
    return WorldTime(instant - timedelta(microseconds=instant.microsecond))
