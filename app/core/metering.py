"""Billable intervals and what they cost: integer milliseconds, integer micro-dollars, one rounding (HP-22)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from app.core.times import WorldTime, millis

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Interval:
    """One billing cycle of a node: `number` counts from 1 and chains to the one before by `previous_end`."""

    logical_id: str
    number: int
    instance_id: str
    group: str
    instance_type: str
    started_at: WorldTime
    ended_at: WorldTime | None
    previous_end: WorldTime | None
    reserved: bool = False
    """The machine is a training plan's, which was paid upfront."""


def settle(opened: Sequence[Interval], closed: Sequence[Interval]) -> tuple[list[Interval], list[Interval]]:
    """The intervals to close, then those to insert: what began and ended in one batch is inserted with its end.

    So each one finds the end of the one before it, to which it is chained.
    """
    ends = {(one.logical_id, one.number): one.ended_at for one in closed}
    begun = [(one.logical_id, one.number) for one in opened]
    inserted = [replace(one, ended_at=ends.get(key)) for key, one in zip(begun, opened, strict=True)]
    begun_now = set(begun)
    return [one for one in closed if (one.logical_id, one.number) not in begun_now], inserted


def charge(weighted_ms: int | Fraction) -> int:
    """Micro-dollars of a bill line; `weighted_ms` sums milliseconds x micro-dollars per hour. Rounded half up, once."""
    return (2 * weighted_ms + HOUR_MS) // (2 * HOUR_MS)


def overlap_ms(start: WorldTime, end: WorldTime | None, since: WorldTime | None, until: WorldTime) -> int:
    """Milliseconds of the interval within [since, until); an open interval lasts until `until`."""
    first = start if since is None else max(start, since)
    last = until if end is None else min(end, until)
    return max(0, millis(first, last))
