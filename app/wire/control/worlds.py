"""Worlds side by side (CT-0), and emptying one (CT-2)."""

from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Body, Path, Response
from pydantic import BaseModel, Field

from app import clock
from app.core.errors import Invalid
from app.core.scope import DEFAULT_WORLD
from app.core.times import WorldTime, to_iso
from app.core.world import MOST_RATE, World
from app.service import Service
from app.usecases import worlds
from app.usecases.worlds import MOST_DIFFERENCES, Setting
from app.wire.control import seeding
from app.wire.control.clock import Clock, clock_of, read_clock
from app.wire.control.seeding import Seed
from app.wire.control.vocabulary import STRICT, TEXT, Instant, ServiceOf, WorldOf

router = APIRouter(tags=["worlds"])
Name = Annotated[str, Path(max_length=200, pattern=TEXT)]


class NewWorld(BaseModel):
    """A world to make. What is left out is as the service was started; a fork takes it from its source."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"name": "test-1", "seed": 7, "frozen": True}]}}
    name: str = Field(max_length=200, pattern=TEXT)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    profile: Literal["instant", "fast", "realistic", "moto"] | None = None
    frozen: bool | None = None
    rate: float | None = Field(default=None, gt=0, le=MOST_RATE)
    start: Instant | None = None
    fork_of: str | None = Field(
        default=None, max_length=200, pattern=TEXT, description="The world to copy, as it is at this instant."
    )


class WorldFacts(BaseModel):
    """A world and its clock."""

    name: str
    seed: int
    profile: str
    started_at: str
    now: str
    frozen: bool
    rate: float
    advancing: bool


class Worlds(BaseModel):
    worlds: list[WorldFacts]


class Comparison(BaseModel):
    """Where two worlds differ: `differences` names table, key, and the columns with both values or the only owner."""

    equal: bool
    count: int
    differences: list[dict[str, Any]] = Field(description=f"The first {MOST_DIFFERENCES}.")


class Reset(BaseModel):
    """What to begin with. Without `seed`, world `main` begins with the service's seed file if it has one."""

    model_config = STRICT
    seed: Seed | None = None


class Dropped(BaseModel):
    dropped: str


@router.get("/worlds", summary="Every world")
async def list_worlds(service: ServiceOf) -> Worlds:
    return Worlds(worlds=[shown(world) for world in await service.db.run(worlds.listed)])


@router.post("/worlds", status_code=201, summary="Create a world, or fork one")
async def create_world(wanted: NewWorld, service: ServiceOf) -> WorldFacts:
    if wanted.fork_of is None:
        return shown(await service.db.run(worlds.create, wanted.name, setting_of(service, wanted)))
    fixed = [name for name in ("seed", "profile", "start") if getattr(wanted, name) is not None]
    if fixed:
        raise Invalid(f"A fork has its source's {', '.join(fixed)}: leave {'it' if len(fixed) == 1 else 'them'} out.")
    frozen = True if wanted.frozen is None else wanted.frozen
    return shown(await service.db.run(worlds.fork, wanted.fork_of, wanted.name, frozen=frozen, rate=wanted.rate))


@router.delete("/worlds/{name}", summary="Remove a world and all that is in it")
async def drop_world(name: Name, service: ServiceOf) -> Dropped:
    await service.db.run(worlds.drop, name)
    return Dropped(dropped=name)


@router.get("/worlds/{name}/export", summary="Everything in a world, as JSON with sorted keys")
async def export_world(name: Name, service: ServiceOf) -> Response:
    """Equal worlds give equal bytes, whatever their names. No wall time is in it."""
    content = await service.db.run(worlds.export, name)
    return Response(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), media_type="application/json")


@router.get("/worlds/{name}/compare/{other}", summary="How two worlds differ")
async def compare_worlds(name: Name, other: Name, service: ServiceOf) -> Comparison:
    found = await service.db.run(worlds.compare, name, other)
    return Comparison(equal=not found, count=len(found), differences=found[:MOST_DIFFERENCES])


@router.post("/reset", summary="Empty a world, or bring it back to its seed file")
async def reset_world(service: ServiceOf, world: WorldOf, wanted: Annotated[Reset | None, Body()] = None) -> Clock:
    """It begins again with its seed, profile, start, rate and clock state."""
    seed = wanted.seed if wanted is not None else None
    if seed is None and world == DEFAULT_WORLD and service.settings.seed_file is not None:
        seed = seeding.read(service.settings.seed_file)
    await service.db.run(seeding.reset, service, world, seed)
    return await read_clock(service, world)


def setting_of(service: Service, wanted: NewWorld) -> Setting:
    """How a new world begins: where nothing is said, as the service was started, and now, in whole seconds."""
    settings = service.settings
    start = wanted.start or WorldTime(clock.wall_now().replace(microsecond=0))
    return Setting(
        seed=settings.seed if wanted.seed is None else wanted.seed,
        profile=wanted.profile or settings.profile,
        start=start,
        rate=wanted.rate or settings.rate,
        frozen=settings.frozen if wanted.frozen is None else wanted.frozen,
    )


def shown(world: World) -> WorldFacts:
    facts = {name: value for name, value in clock_of(world).items() if name != "world"}
    return WorldFacts(name=world.name, seed=world.seed, **facts | {"now": to_iso(world.now)})
