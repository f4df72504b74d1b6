"""What every page shows of its world: the clock, active faults, capacity, and the other worlds."""

from dataclasses import dataclass
from typing import Protocol

from app.core.capacity import Pool
from app.core.faults import Rule
from app.core.times import WorldTime, millis, to_millis
from app.core.world import World
from app.service import Service
from app.store.db import Tx
from app.usecases import capacity, clocks, faults, worlds

SCARCE_PERCENT = 90
MOST_FAULTS = 50


@dataclass(frozen=True, slots=True)
class Journey:
    """An advance that is under way: how far it has to go and has gone, in milliseconds; 0 in all if nobody knows."""

    target: WorldTime | None
    total: int
    gone: int


@dataclass(frozen=True, slots=True)
class Supply:
    """Machines of a type in a region or zone; `total` None: unlimited."""

    instance_type: str
    place: str
    used: int
    total: int | None

    @property
    def percent(self) -> int:
        return 0 if self.total is None else min(100, self.used * 100 // self.total) if self.total else 100

    @property
    def is_scarce(self) -> bool:
        return self.total is not None and self.percent >= SCARCE_PERCENT


@dataclass(frozen=True, slots=True)
class Bar:
    """What is always visible. `now_ms` is the clock in milliseconds since 1970, for a page that lets it tick."""

    world: World
    next_due: WorldTime | None
    worlds: list[World]
    faults: list[Rule]
    hits: int
    supplies: list[Supply]
    journey: Journey | None

    @property
    def now_ms(self) -> int:
        return to_millis(self.world.now)

    @property
    def scarce(self) -> list[Supply]:
        return [supply for supply in self.supplies if supply.is_scarce]


class Journeys(Protocol):
    """Where the advances are known that this process makes."""

    def of(self, world: str) -> tuple[WorldTime, WorldTime | None] | None:
        """From where, and up to where if that is known."""
        ...


async def read_bar(service: Service, world: str, journeys: Journeys) -> Bar:
    """NotFound without the world."""
    return await service.db.run(_read, world, journeys.of(world))


async def _read(tx: Tx, name: str, travel: tuple[WorldTime, WorldTime | None] | None) -> Bar:
    world, due = await clocks.read_with_next(tx, name)
    rules = [rule for rule in await faults.listed(tx, name) if not rule.is_spent]
    overview = await capacity.overview(tx, name)
    return Bar(
        world=world,
        next_due=due,
        worlds=await worlds.listed(tx),
        faults=rules,
        hits=sum(rule.hits for rule in rules),
        supplies=supplies(overview.pools, overview.unlimited),
        journey=_journey(world, travel),
    )


def supplies(pools: list[Pool], unlimited: list[tuple[str, str, int]]) -> list[Supply]:
    """What there is of each type, the scarcest first."""
    found = [Supply(pool.instance_type, pool.zone or pool.region, pool.used, pool.total) for pool in pools]
    found += [Supply(name, region, used, None) for region, name, used in unlimited]
    return sorted(found, key=lambda supply: (-supply.percent, supply.total is None, supply.instance_type, supply.place))


def _journey(world: World, travel: tuple[WorldTime, WorldTime | None] | None) -> Journey | None:
    """Somebody advances the world; if it is us, how far."""
    if travel is None:
        return Journey(None, 0, 0) if world.leased else None
    start, target = travel
    if target is None:
        return Journey(None, 0, 0)
    return Journey(target, millis(start, target), min(millis(start, world.now), millis(start, target)))
