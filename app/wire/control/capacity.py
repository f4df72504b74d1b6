"""How many machines of a type exist (CT-4)."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.core.times import to_iso
from app.usecases import capacity, types
from app.wire.control.vocabulary import (
    MOST_NODES,
    STRICT,
    TEXT,
    InstanceType,
    Instant,
    Region,
    ServiceOf,
    WorldOf,
)

router = APIRouter(tags=["capacity"])
Total = Annotated[int, Field(ge=0, le=MOST_NODES)]


class CapacityChange(BaseModel):
    """From `at` (now) on there are `total` machines of the type; null is unlimited."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"instance_type": "ml.p5.48xlarge", "total": 10}]}}
    instance_type: InstanceType
    total: Total | None
    region: Region | None = Field(
        default=None, description="Left out: the default region; for machine types us-central1."
    )
    zone: str | None = Field(
        default=None, max_length=40, pattern=TEXT, description="One zone; the whole region if left out."
    )
    at: Instant | None = None


class Pool(BaseModel):
    """Machines of one type in a region, or in one zone of it. `total` null: unlimited."""

    region: str
    zone: str | None
    instance_type: str
    total: int | None
    used: int
    free: int | None


class PlannedChange(BaseModel):
    """A change to come."""

    at: str
    region: str
    zone: str | None
    instance_type: str
    total: int | None


class Capacity(BaseModel):
    """Pools that limit something or are used, and the schedule. A type that is not named is unlimited."""

    pools: list[Pool]
    changes: list[PlannedChange]


@router.get("/capacity", summary="Totals, what is used and free, and changes to come")
async def read_capacity(service: ServiceOf, world: WorldOf) -> Capacity:
    found = await service.db.run(capacity.overview, world)
    pools = [
        Pool(
            region=each.region,
            zone=each.zone or None,
            instance_type=each.instance_type,
            total=each.total,
            used=each.used,
            free=each.free,
        )
        for each in found.pools
    ]
    pools += [
        Pool(region=region, zone=None, instance_type=name, total=None, used=used, free=None)
        for region, name, used in found.unlimited
    ]
    pools.sort(key=lambda pool: (pool.region, pool.instance_type, pool.zone or ""))
    changes = [
        PlannedChange(**each._asdict() | {"at": to_iso(each.at), "zone": each.zone or None}) for each in found.changes
    ]
    return Capacity(pools=pools, changes=changes)


@router.post("/capacity", summary="Set the total of a type")
async def set_capacity(change: CapacityChange, service: ServiceOf, world: WorldOf) -> PlannedChange:
    """Lowering it below what is used takes nothing away from anyone."""
    region = change.region or types.default_region(change.instance_type, service.settings.default_region)
    at = await service.db.run(
        capacity.set_total, world, region, change.zone, change.instance_type, change.total, change.at
    )
    return PlannedChange(
        at=to_iso(at), region=region, zone=change.zone, instance_type=change.instance_type, total=change.total
    )
