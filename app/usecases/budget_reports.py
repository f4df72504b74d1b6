"""What a budget was charged and what its limits leave, over all fleets of the world: its burn-down (FS-3, CT-10)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from app.core.budget_limits import (
    DAY_MS,
    HOUR_MS,
    Holding,
    Span,
    Use,
    begins,
    held_by_day,
    met_at,
    next_month,
    spans,
    use_of,
)
from app.core.budget_shares import Share, shares
from app.core.budget_tree import Limit, Node, Period, Unit, grown
from app.core.errors import NotFound
from app.core.scope import Scope
from app.core.times import to_millis
from app.store import budget_use, budgets
from app.store.budget_use import FleetKey
from app.store.db import Tx
from app.store.listed_workloads import FleetOf
from app.usecases import clocks, known_fleets
from app.usecases.budget_limits import gpu_price
from app.usecases.fleet_memory import look_at

DAYS = 30
"""How far back a budget's days are told, today among them (chosen)."""
ByFleet = Mapping[FleetKey, Mapping[int, int]]
"""GPU-milliseconds by fleet and the instant at which a day begins."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A limit and what is left of it in its period: GPU-milliseconds, or micro-dollars for one in dollars. What is
    reserved is what protection will still cost."""

    limit: Limit
    charged: int
    reserved: int
    left: int
    per_hour: int = 0
    """What an hour costs of all that runs now and is charged."""
    met_at: int | None = None
    """When what is charged meets the limit, if that goes on; None: not in this period."""
    ends_at: int | None = None
    """When the period ends; None: never."""
    course: Sequence[tuple[int, int]] = ()
    """What was charged in the period by the end of each day, the last now; each day by the instant it begins."""


@dataclass(frozen=True, slots=True)
class Report:
    """A budget, its limits, and its days, each by the instant at which it begins, with GPU-milliseconds charged."""

    node: Node
    limits: list[Standing]
    days: list[tuple[int, int]]


async def report(tx: Tx, world: str, name: str) -> Report:
    """The budget's burn-down. NotFound."""
    now = to_millis((await clocks.read(tx, world)).now)
    changes = await budgets.changes(tx, world)
    tree = grown(changes)
    node = next((one for one in tree.nodes() if one.name == name), None)
    if node is None:
        raise NotFound(f"There is no budget {name[:80]!r}. `windtunnel budget list` shows those there are.")
    counted = spans(changes, name)
    held: dict[FleetKey, list[Holding]] = {}
    for one in await budget_use.held(tx, world):
        held.setdefault(one.fleet, []).append(one.holding)
    days = await _days(tx, world, counted, held, now)
    limits = [await _standing(tx, world, limit, counted, held, days, now) for limit in node.limits]
    total: Counter[int] = Counter()
    for of_fleet in days.values():
        total.update(of_fleet)
    return Report(node, limits, [(day, total[day]) for day in _told(now)])


async def _standing(
    tx: Tx,
    world: str,
    limit: Limit,
    counted: Sequence[Span],
    held: Mapping[FleetKey, Sequence[Holding]],
    days: ByFleet,
    now: int,
) -> Standing:
    since = begins(limit.period, now)
    closed = await budget_use.closed(tx, world, counted, since)
    charged = reserved = rate = Fraction(0)
    by_day: dict[int, Fraction] = {}
    for key in sorted({*closed, *held}):
        use = use_of(closed.get(key, 0), held.get(key, ()), counted, since, now)
        if use != Use():
            cost = await _cost(tx, world, limit, key)
            charged, reserved = charged + use.charged * cost, reserved + use.reserved * cost
            rate += use.gpus * cost
            for day, amount in days.get(key, {}).items():
                by_day[day] = by_day.get(day, Fraction(0)) + amount * cost
    allowed = limit.amount * (HOUR_MS if limit.unit is Unit.GPU_HOURS else 1)
    used, kept = -(-charged // 1), -(-reserved // 1)
    return Standing(
        limit,
        used,
        kept,
        allowed - used - kept,
        int(rate * HOUR_MS),
        met_at(limit, allowed - charged, rate, now),
        next_month(now) if limit.period is Period.MONTH else None,
        _course(charged, by_day, [day for day in _told(now) if day >= since]),
    )


def _course(charged: Fraction, by_day: Mapping[int, Fraction], days: Sequence[int]) -> list[tuple[int, int]]:
    """From what is charged now, back by what each day took."""
    found: list[tuple[int, int]] = []
    for day in reversed(days):
        found.append((day, -(-charged // 1)))
        charged -= by_day.get(day, 0)
    return found[::-1]


async def _cost(tx: Tx, world: str, limit: Limit, key: FleetKey) -> Fraction:
    """What a GPU-millisecond on the fleet takes of the limit: itself, or micro-dollars."""
    if limit.unit is Unit.GPU_HOURS:
        return Fraction(1)
    account, region, fleet = key
    return await gpu_price(tx, Scope(world, account, region), fleet) / HOUR_MS


async def _days(
    tx: Tx, world: str, counted: Sequence[Span], held: Mapping[FleetKey, Sequence[Holding]], now: int
) -> dict[FleetKey, Counter[int]]:
    first = _told(now)[0]
    closed = await budget_use.by_day(tx, world, counted, first, DAY_MS)
    found = {key: Counter(closed.get(key, {})) for key in {*closed, *held}}
    for key, holdings in held.items():
        found[key].update(held_by_day(holdings, counted, first, now))
    return found


def _told(now: int) -> list[int]:
    """The instants at which the days begin that are told."""
    today = now // DAY_MS * DAY_MS
    return list(range(max(0, today - (DAYS - 1) * DAY_MS), today + DAY_MS, DAY_MS))


async def shares_of(tx: Tx, world: str, name: str) -> list[tuple[FleetOf, list[Share]]]:
    """The share of each budget on the living clusters that are meant by name, id or ARN, or in managed pools."""
    now = to_millis((await clocks.read(tx, world)).now)
    found: list[tuple[FleetOf, list[Share]]] = []
    for one in await known_fleets.living(tx, world, name):
        state = await look_at(tx, one.scope, one.fleet, now)
        found.append((one, [] if state is None else shares(state)))
    if not found:
        raise NotFound(
            f"Neither a cluster nor a managed pool of this world is called {name[:200]!r}. `windtunnel fleet list` "
            "shows those there are."
        )
    return found
