"""The seed of a world: what it begins with, from a file or a request (CT-2); all of it or nothing."""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app import clock
from app.core.errors import Conflict, DomainError, Invalid
from app.core.scope import DEFAULT_WORLD
from app.core.times import WorldTime
from app.core.world import MOST_RATE
from app.request_log import new_request_id
from app.service import Service
from app.settings import Settings
from app.store.db import Database, Tx
from app.usecases import budgets, capacity, faults, lag, prices, quotas, types, worlds
from app.usecases.worlds import Setting
from app.wire import emulated
from app.wire.aws.errors import AwsError
from app.wire.aws.problems import Problems, serialization_text, validation_text
from app.wire.aws.registry import Context, Operation
from app.wire.control.budgets import BudgetWanted, wanted_of
from app.wire.control.capacity import CapacityChange
from app.wire.control.faults import FaultRule, rule_of
from app.wire.control.prices import PriceChange
from app.wire.control.quotas import QuotaChange, scope_of
from app.wire.control.refusals import problems_text
from app.wire.control.vocabulary import STRICT, Account, Instant, Region, tenant
from app.wire.google.errors import GoogleError
from app.wire.google.reading import read as read_message
from app.wire.vertex.application import rpcs
from app.wire.vertex.names import parse
from app.wire.vertex.rpc import PACKAGES
from app.wire.vertex.rpc import Context as VertexContext

VERSION = "v1"
"""Of Vertex AI's API, whose CustomJob a seed has."""
log = logging.getLogger(__name__)


class SeedClock(BaseModel):
    """The clock to begin with."""

    model_config = STRICT
    start: Instant | None = None
    frozen: bool | None = None
    rate: float | None = Field(default=None, gt=0, le=MOST_RATE)


class SeedCluster(BaseModel):
    """A CreateCluster request, its members as they are; beside them, for whom and where."""

    model_config = ConfigDict(extra="allow", strict=True)
    account: Account | None = None
    region: Region | None = None


class SeedJob(BaseModel):
    """A CustomJob of Vertex AI, its fields as they are; beside them, for whom and where."""

    model_config = ConfigDict(extra="allow", strict=True)
    project: str = "windtunnel"
    location: str = "us-central1"


class Seed(BaseModel):
    """What a world begins with."""

    model_config = STRICT
    clock: SeedClock = SeedClock()
    capacity: list[CapacityChange] = []
    prices: list[PriceChange] = []
    quotas: list[QuotaChange] = []
    budgets: list[BudgetWanted] = []
    faults: list[FaultRule] = []
    clusters: list[SeedCluster] = []
    jobs: list[SeedJob] = []


def read(path: Path) -> Seed:
    """The file's seed. Invalid: it cannot be read, is neither TOML nor JSON, or holds what is not known."""
    import tomllib

    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise Invalid(f"The seed file {path} cannot be read: {error}.") from error
    try:
        return Seed.model_validate(content)
    except ValidationError as error:
        raise Invalid(f"The seed file {path}: {problems_text(error.errors())}.") from error


async def begin(tx: Tx, service: Service) -> None:
    """Make the first world if it is not there, with its seed; else let it go on as the settings say. And chaos."""
    await _found(tx, service)
    settings = service.settings
    if settings.chaos is not None and not settings.restarted:  # as with the clock: `fault clear` has ended it
        await faults.begin_chaos(tx, DEFAULT_WORLD, settings.chaos)
    if settings.read_lag is not None and not settings.restarted:
        await lag.set_seconds(tx, DEFAULT_WORLD, settings.read_lag)


async def _found(tx: Tx, service: Service) -> None:
    settings = service.settings
    if await worlds.exists(tx, DEFAULT_WORLD):
        if not settings.restarted:  # a process that died must not undo what was done to the clock since
            await _go_on(tx, settings)
        return
    seed = read(settings.seed_file) if settings.seed_file else None
    planned = seed.clock if seed else SeedClock()
    start = settings.start or planned.start or clock.wall_now().replace(microsecond=0)
    setting = Setting(
        settings.seed,
        settings.profile,
        WorldTime(start),
        settings.rate if settings.is_given("rate") or planned.rate is None else planned.rate,
        settings.frozen if settings.is_given("frozen") else bool(planned.frozen),
    )
    if await worlds.found(tx, DEFAULT_WORLD, setting) and seed is not None:
        await plant(tx, service, DEFAULT_WORLD, seed)


async def _go_on(tx: Tx, settings: Settings) -> None:
    """What was given is applied where a world can change in it; the rest is said to have no effect."""
    asked = {name: getattr(settings, name) for name in ("profile", "rate", "frozen") if settings.is_given(name)}
    wanted = dict.fromkeys(("profile", "rate", "frozen")) | asked
    try:
        await worlds.adjust(tx, DEFAULT_WORLD, **wanted)
    except Conflict as error:
        log.warning("%s It keeps its profile.", error.message)
        await worlds.adjust(tx, DEFAULT_WORLD, **wanted | {"profile": None})
    late = [name.replace("_", "-") for name in ("start", "seed", "seed_file") if settings.is_given(name)]
    if late:
        log.warning(
            "world %s exists already, so what is only for making a world was not applied: %s; "
            "to begin again: windtunnel reset --seed-file FILE",
            DEFAULT_WORLD,
            ", ".join(late),
        )


async def reset(tx: Tx, service: Service, world: str, seed: Seed | None) -> None:
    """Empty the world and plant the seed in it."""
    changed = seed.clock.model_dump(exclude_none=True) if seed else {}
    await worlds.reset(tx, world, changed)
    if seed is not None:
        await plant(tx, service, world, seed)
    if world == DEFAULT_WORLD and service.settings.chaos is not None:
        await faults.begin_chaos(tx, world, service.settings.chaos)
    if world == DEFAULT_WORLD and service.settings.read_lag is not None:
        await lag.set_seconds(tx, world, service.settings.read_lag)


async def plant(tx: Tx, service: Service, world: str, seed: Seed) -> None:
    """Give the new world all of the seed but its clock. Invalid, with the entry that is to blame."""
    for change in seed.capacity:
        region = change.region or types.default_region(change.instance_type, service.settings.default_region)
        await capacity.set_total(tx, world, region, change.zone, change.instance_type, change.total, change.at)
    for price in seed.prices:
        region = price.region or prices.EVERY_REGION
        await prices.set_price(tx, world, price.instance_type, region, price.micro_usd_per_hour)
    for quota in seed.quotas:
        await quotas.set_quota(tx, scope_of(quota, service, world), quota.name, quota.value)
    if seed.budgets:
        await budgets.apply(tx, world, [wanted_of(one) for one in seed.budgets])
    for rule in seed.faults:
        await faults.add(tx, world, rule_of(rule))
    inside = replace(service, database=cast(Database, _Inside(tx)))
    for place, request in enumerate(seed.clusters):
        try:
            await _create_cluster(inside, world, request)
        except (DomainError, AwsError) as error:
            raise Invalid(f"clusters.{place} of the seed: {error.message}") from error
    for place, job in enumerate(seed.jobs):
        try:
            await _create_job(inside, world, job)
        except (DomainError, GoogleError) as error:
            raise Invalid(f"jobs.{place} of the seed: {error.message}") from error


class _Inside:
    """A database whose transactions are all part of one: what an operation commits holds only if the seed does."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    async def run(self, work: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        return await work(self._tx, *args, **kwargs)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        yield self._tx

    connection = transaction


async def _create_cluster(service: Service, world: str, entry: SeedCluster) -> None:
    """As the wire does it, validation included."""
    scope = tenant(service, world, entry.account, entry.region)
    operation = _operation("CreateCluster")
    found = Problems()
    value = operation.read(entry.model_extra or {}, "", found)
    if found.mistyped:
        raise Invalid(serialization_text(found.mistyped))
    if found.broken:
        raise Invalid(validation_text(found.broken))
    if found.ignored:
        raise Invalid(f"CreateCluster has no member {', '.join(found.ignored)}.")
    await operation.handler(Context(service, scope, new_request_id()), value)


async def _create_job(service: Service, world: str, entry: SeedJob) -> None:
    """As the wire does it, validation included; no fault rule strikes the request, since nobody has sent it."""
    create = rpcs()["CreateCustomJob"]
    parent = f"projects/{entry.project}/locations/{entry.location}"
    asked = {"parent": parent, create.body: entry.model_extra or {}}
    request = read_message(create.request, asked, package=PACKAGES[VERSION], version=VERSION)
    name = parse(parent, "parent")
    await create.handler(VertexContext(service, name.scope(world), name, VERSION), request)


def _operation(name: str) -> Operation:
    for service in emulated.services():
        if name in service.operations:
            return service.operations[name]
    raise Invalid(f"{name} is not in this version.")
