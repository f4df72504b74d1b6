"""What training plans could be bought: a pure function of the seed, the question and the time.

Nothing of it is remembered. An offering's id says what was offered and is sealed with the seed, so that a purchase can
read it back and nobody can make one up.
"""

import base64
import binascii
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from hmac import compare_digest

from app.core.chance import below, digest
from app.core.times import WorldTime, after, from_millis, millis, to_millis

ENDS = time(11, 30, tzinfo=UTC)
"""Every block ends at this time of the day."""
EARLIEST = timedelta(minutes=30)
LATEST = timedelta(days=56)
LONGEST_DAYS = 182
EXTENSION_SHORT_DAYS = 14
"""Up to here an extension is of any number of days, then of whole weeks."""
SHOWN = 3
"""How many start days a search shows (chosen)."""
SPLIT_DAYS = 4
"""From this length on a plan of two blocks with a day's pause between is offered too (chosen)."""
_DAY = timedelta(days=1)
_DAY_MS = 24 * 3_600_000
_CENT = 10_000
_STEP = timedelta(minutes=30)
_SEAL_BYTES = 10
_OFFERED_IN_TEN = 7


@dataclass(frozen=True, slots=True)
class Block:
    """One reserved capacity: from when to when."""

    starts_at: WorldTime
    ends_at: WorldTime

    @property
    def milliseconds(self) -> int:
        return millis(self.starts_at, self.ends_at)


@dataclass(frozen=True, slots=True)
class Machines:
    """What is reserved: instances of a type, as they are or in UltraServers."""

    instance_type: str
    count: int
    ultra_type: str = ""
    ultra_count: int = 0


@dataclass(frozen=True, slots=True)
class Offer:
    """A plan that could be bought, in one zone for one target."""

    machines: Machines
    target: str
    zone: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class ExtensionOffer:
    """More time for the plan `plan`, from `starts_at`, which is its present end."""

    plan: str
    starts_at: WorldTime
    ends_at: WorldTime


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search: `hours` None takes the shortest; nothing may start before `earliest` or end after `latest_end`."""

    machines: Machines
    target: str
    hours: int | None
    earliest: WorldTime | None
    latest_end: WorldTime | None


def offers(seed: int, region: str, zones: Sequence[str], wanted: Wanted, now: WorldTime) -> list[Offer]:
    """What is offered for one kind of machines and one target, the earliest first; a plan of two blocks comes last."""
    found: list[Offer] = []
    for blocks in _choices(seed, region, wanted, now):
        day = f"{blocks[0].starts_at:%Y-%m-%d}"
        zone = zones[below(seed, f"{region}/{wanted.machines.instance_type}/{day}", "plan-zone", len(zones))]
        if wanted.latest_end is None or blocks[-1].ends_at <= wanted.latest_end:
            found.append(Offer(wanted.machines, wanted.target, zone, blocks))
    return found


def _choices(seed: int, region: str, wanted: Wanted, now: WorldTime) -> Iterator[tuple[Block, ...]]:
    soonest = after(now, EARLIEST)
    first = soonest if wanted.earliest is None else max(soonest, wanted.earliest)
    if (at_once := _at_once(soonest, wanted.hours)) and at_once.starts_at >= first:
        yield (at_once,)
    days, odd = divmod(24 if wanted.hours is None else wanted.hours, 24)
    if odd or not 1 <= days <= LONGEST_DAYS:
        return
    starts = _starts(seed, f"{region}/{wanted.machines.instance_type}", first, after(now, LATEST))
    for start in starts:
        yield (Block(start, after(start, days * _DAY)),)
    if days >= SPLIT_DAYS and starts:
        half = after(starts[0], days // 2 * _DAY)
        yield (Block(starts[0], half), Block(after(half, _DAY), after(starts[0], (days + 1) * _DAY)))


def _at_once(soonest: WorldTime, hours: int | None) -> Block | None:
    """The block that starts at the next half hour, if one that ends at 11:30 has just so many whole hours."""
    passed = timedelta(minutes=soonest.minute % 30, seconds=soonest.second, microseconds=soonest.microsecond)
    start = after(soonest, _STEP - passed if passed else timedelta(0))
    end = _next_end(start)
    more, odd = divmod((hours or 0) - (end - start) // timedelta(hours=1), 24)
    if hours is None:
        more = odd = 0
    if odd or not 0 <= more < LONGEST_DAYS or end - start == _DAY:
        return None
    return Block(start, after(end, more * _DAY))


def _next_end(instant: WorldTime) -> WorldTime:
    """The first 11:30 after the instant."""
    today = _end_of(instant.date())
    return today if today > instant else after(today, _DAY)


def _end_of(day: date) -> WorldTime:
    return WorldTime(datetime.combine(day, ENDS))


def _starts(seed: int, subject: str, first: WorldTime, last: WorldTime) -> list[WorldTime]:
    """The first days from `first` to `last` for which the seed has machines, each at 11:30."""
    found: list[WorldTime] = []
    if first > last:
        return found
    start = _end_of(first.date())
    start = start if start >= first else after(start, _DAY)
    while start <= last and len(found) < SHOWN:
        if below(seed, f"{subject}/{start:%Y-%m-%d}", "plan-day", 10) < _OFFERED_IN_TEN:
            found.append(start)
        start = after(start, _DAY)
    return found


def extension_days(hours: int | None) -> list[int]:
    """Any number of days up to two weeks, then whole weeks; without a word each day of a week, and two weeks."""
    if hours is None:
        return [1, 2, 3, 4, 5, 6, 7, EXTENSION_SHORT_DAYS]
    days, odd = divmod(hours, 24)
    fits = not odd and 1 <= days <= LONGEST_DAYS and (days <= EXTENSION_SHORT_DAYS or days % 7 == 0)
    return [days] if fits else []


def extension_offers(
    plan: str, ends_at: WorldTime, days: Sequence[int], latest_end: WorldTime | None
) -> list[ExtensionOffer]:
    """More time from the plan's end on, one offering for each number of days."""
    found = [ExtensionOffer(plan, ends_at, after(ends_at, many * _DAY)) for many in days]
    return [one for one in found if latest_end is None or one.ends_at <= latest_end]


def fee(micro_usd_per_day: int, count: int, milliseconds: int) -> int:
    """Micro-dollars of so many instances for so long, rounded half up to a whole cent."""
    unit = _DAY_MS * _CENT
    return (2 * micro_usd_per_day * count * milliseconds + unit) // (2 * unit) * _CENT


def dollars(micro_usd: int) -> str:
    """An amount in whole cents as AWS writes it: `1098.42`."""
    cents = micro_usd // _CENT
    return f"{cents // 100}.{cents % 100:02d}"


def offer_id(seed: int, owner: str, offer: Offer) -> str:
    """`tpo-` and what was offered; `owner` is the account and region it was offered to."""
    kind = offer.machines
    times = [str(to_millis(at) // 60_000) for block in offer.blocks for at in (block.starts_at, block.ends_at)]
    parts = [kind.instance_type, str(kind.count), kind.ultra_type, str(kind.ultra_count), offer.target, offer.zone]
    return _sealed("tpo", seed, owner, [*parts, *times])


def read_offer(seed: int, owner: str, text: str) -> Offer | None:
    """The offering that has this id, or None for an id that was not made for `owner` by this seed."""
    parts = _opened("tpo", seed, owner, text)
    if parts is None:
        return None
    instance_type, count, ultra_type, ultra_count, target, zone, *times = parts
    moments = [from_millis(int(minute) * 60_000) for minute in times]
    blocks = tuple(Block(*pair) for pair in zip(moments[::2], moments[1::2], strict=True))
    return Offer(Machines(instance_type, int(count), ultra_type, int(ultra_count)), target, zone, blocks)


def extension_id(seed: int, owner: str, offer: ExtensionOffer) -> str:
    """`tpeo-` and what was offered."""
    times = [str(to_millis(at) // 60_000) for at in (offer.starts_at, offer.ends_at)]
    return _sealed("tpeo", seed, owner, [offer.plan, *times])


def read_extension(seed: int, owner: str, text: str) -> ExtensionOffer | None:
    """The extension that has this id, or None for an id that was not made for `owner` by this seed."""
    parts = _opened("tpeo", seed, owner, text)
    if parts is None:
        return None
    plan, start, end = parts
    return ExtensionOffer(plan, from_millis(int(start) * 60_000), from_millis(int(end) * 60_000))


def _sealed(kind: str, seed: int, owner: str, parts: Sequence[str]) -> str:
    body = "|".join(parts).encode()
    return f"{kind}-{_plain(_seal(kind, seed, owner, body) + body)}"


def _opened(kind: str, seed: int, owner: str, text: str) -> list[str] | None:
    head, _, tail = text.partition("-")
    try:
        raw = base64.b32decode(tail.upper() + "=" * (-len(tail) % 8))
    except (binascii.Error, ValueError):
        return None
    seal, body = raw[:_SEAL_BYTES], raw[_SEAL_BYTES:]
    if head != kind or _plain(raw) != tail or not compare_digest(seal, _seal(kind, seed, owner, body)):
        return None
    return body.decode().split("|")


def _plain(raw: bytes) -> str:
    return base64.b32encode(raw).decode().rstrip("=").lower()


def _seal(kind: str, seed: int, owner: str, body: bytes) -> bytes:
    return digest(seed, f"{owner}/{body.hex()}", f"{kind}-seal", _SEAL_BYTES)
