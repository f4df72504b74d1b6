"""The bill along the calendar, as Cost Explorer shows it: its lines cut at days, hours or months.

A line's amount in a period is what the line grew by in it, so the periods sum to the line, and the lines to the bill.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from app.core.metering import charge, overlap_ms
from app.core.times import WorldTime
from app.store import ledger, tags
from app.store.db import Tx
from app.store.ledger import Entry
from app.usecases import clocks
from app.usecases.bills import Key, arn_of

Tags = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Usage:
    """An interval of the ledger, and the tags that its cluster has."""

    entry: Entry
    tags: Tags


@dataclass(slots=True)
class Amount:
    """Micro-dollars and billable milliseconds."""

    micro_usd: int = 0
    milliseconds: int = 0


@dataclass(slots=True)
class _Line:
    """A line's milliseconds x micro-dollars per hour, by period."""

    group: Key
    weighted: dict[int, int] = field(default_factory=lambda: defaultdict(int))


async def usage(tx: Tx, world: str, account: str, since: WorldTime, until: WorldTime) -> list[Usage]:
    """What the AWS account used in [since, until), in every region: of a project that has its number, nothing."""
    entries = await ledger.entries(tx, world, account=account, since=since, until=until)
    by_arn = await tags.of_account(tx, world, account)
    of_clusters = [(entry, arn) for entry in entries if (arn := arn_of(entry)) is not None]
    return [Usage(entry, by_arn.get(arn, {})) for entry, arn in of_clusters]


async def world_now(tx: Tx, world: str) -> WorldTime:
    return (await clocks.read(tx, world)).now


def along(
    used: Sequence[Usage],
    bounds: Sequence[WorldTime],
    now: WorldTime,
    line_of: Callable[[Usage], Key],
    group_of: Callable[[Usage], Key],
) -> list[dict[Key, Amount]]:
    """For each period between two neighbours of `bounds`, the amounts by group. A line lies in one group."""
    periods: list[dict[Key, Amount]] = [defaultdict(Amount) for _ in bounds[1:]]
    lines: dict[Key, _Line] = {}
    for one in used:
        entry = one.entry
        line = lines.setdefault(line_of(one), _Line(group_of(one)))
        end = now if entry.ended_at is None else entry.ended_at
        place = max(0, bisect_right(bounds, entry.started_at) - 1)
        while place < len(periods) and bounds[place] < end:
            until = min(bounds[place + 1], now)
            milliseconds = overlap_ms(entry.started_at, entry.ended_at, bounds[place], until)
            if milliseconds:
                line.weighted[place] += milliseconds * entry.micro_usd_per_hour
                periods[place][line.group].milliseconds += milliseconds
            place += 1
    for line in lines.values():
        _charge(line, periods)
    return periods


def _charge(line: _Line, periods: Sequence[dict[Key, Amount]]) -> None:
    total = charged = 0
    for place in sorted(line.weighted):
        total += line.weighted[place]
        periods[place][line.group].micro_usd += charge(total) - charged
        charged = charge(total)
