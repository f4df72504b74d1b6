"""Named snapshots of a world (CT-2)."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from app.core.times import to_iso
from app.core.world import Snapshot
from app.usecases import snapshots
from app.wire.control.clock import Clock, read_clock
from app.wire.control.vocabulary import STRICT, TEXT, ServiceOf, WorldOf

router = APIRouter(tags=["snapshots"])
Name = Annotated[str, Path(max_length=200, pattern=TEXT)]


class NewSnapshot(BaseModel):
    """What to call it."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"name": "before-the-upgrade"}]}}
    name: str = Field(max_length=200, pattern=TEXT)


class SnapshotFacts(BaseModel):
    """The world's time, seed, profile and clock when it was saved."""

    name: str
    at: str
    seed: int
    profile: str
    started_at: str
    frozen: bool
    rate: float


class Snapshots(BaseModel):
    snapshots: list[SnapshotFacts]


class Removed(BaseModel):
    removed: str


@router.get("/snapshots", summary="The world's snapshots")
async def list_snapshots(service: ServiceOf, world: WorldOf) -> Snapshots:
    return Snapshots(snapshots=[_shown(one) for one in await service.db.run(snapshots.listed, world)])


@router.post("/snapshots", status_code=201, summary="Keep all that the world is at this instant")
async def save_snapshot(wanted: NewSnapshot, service: ServiceOf, world: WorldOf) -> SnapshotFacts:
    return _shown(await service.db.run(snapshots.save, world, wanted.name))


@router.post("/snapshots/{name}/restore", summary="Make the world what it was, its clock included")
async def restore_snapshot(name: Name, service: ServiceOf, world: WorldOf) -> Clock:
    """All that happened since is gone, and the world's time goes back: a new history begins. The snapshot stays."""
    await service.db.run(snapshots.restore, world, name)
    return await read_clock(service, world)


@router.delete("/snapshots/{name}", summary="Forget a snapshot")
async def remove_snapshot(name: Name, service: ServiceOf, world: WorldOf) -> Removed:
    await service.db.run(snapshots.remove, world, name)
    return Removed(removed=name)


def _shown(one: Snapshot) -> SnapshotFacts:
    return SnapshotFacts(
        name=one.name,
        at=to_iso(one.at),
        seed=one.seed,
        profile=one.profile,
        started_at=to_iso(one.started_at),
        frozen=one.frozen,
        rate=one.rate,
    )
