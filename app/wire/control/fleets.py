"""Clusters' GPUs as workloads see them, who waits, and how each fleet is scheduled (VX-1, VX-24, CT-10)."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from app.core.budget_tree import LONGEST_NAME
from app.core.fleet_policy import IN_SECONDS
from app.core.times import to_iso
from app.usecases import fleet_policies, queues
from app.usecases.fleet_policies import Fleet as CoreFleet
from app.usecases.known_fleets import pool_name
from app.usecases.queues import Queued
from app.wire.control.decisions import Cluster, Ratio, moment, ratio
from app.wire.control.vocabulary import STRICT, TEXT, ServiceOf, WorldOf
from app.wire.control.workloads import ReservationRecord, home_of, reservation

router = APIRouter(tags=["fleets"])
Named = Annotated[
    str, Path(max_length=512, pattern=TEXT, description="The cluster's name, id or ARN; or a managed pool's name.")
]


class Fleet(BaseModel):
    """A cluster's GPUs of one model, of the nodes that take jobs."""

    cluster_arn: str
    cluster_name: str
    gpu: str
    nodes: int
    gpus: int
    ready: int = Field(description="GPUs of nodes that take work now.")
    taken: int = Field(description="GPUs that jobs hold.")


class ManagedPool(BaseModel):
    """What a project's quota in a region leaves to jobs with budgets (FS-20)."""

    name: str = Field(
        description="With its project and region.",
        examples=["projects/111122223333/locations/us-central1/pool:custom_model_training_nvidia_h100_gpus"],
    )
    pool: str = Field(examples=["pool:custom_model_training_nvidia_h100_gpus"])
    project: str = Field(description="Its number.")
    region: str
    gpus: int
    taken: int
    waiting: int = Field(description="Jobs.")


class Fleets(BaseModel):
    fleets: list[Fleet]
    pools: list[ManagedPool] = Field(description="Those that have had work.")


class Gpus(BaseModel):
    """GPUs of the nodes that the scheduler knows."""

    total: int
    capacity: int = Field(description="What shares are shares of: of healthy nodes, and what runs on draining ones.")
    allocated: int
    held: int = Field(description="For who starts when the grace of others is over.")
    free: int = Field(description="On healthy nodes, those that are kept for a reservation among them.")
    reserved: int = Field(description="Of healthy nodes that are kept for large gangs, free or not.")
    draining: int
    drained: int


class PolicySettings(BaseModel):
    """Settings of a fleet's policy; null is the default again, what is left out stays."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"margin_millionths": 20_000, "sessions_only": True}]}}
    window_seconds: int | None = Field(default=None, description="Use counts for so long (FS-2).")
    least_commitment_seconds: int | None = Field(default=None, description="What starts counts at least so much.")
    longest_minimum_seconds: int | None = Field(default=None, description="The longest protection (FS-4).")
    margin_millionths: int | None = Field(default=None, description="How far a victim's ratio must be above (FS-8).")
    funded_grace_seconds: int | None = None
    unfunded_grace_seconds: int | None = None
    reservation_wait_seconds: int | None = Field(default=None, description="Large gangs reserve after that (FS-9).")
    max_reservations: int | None = None
    reservation_ban_seconds: int | None = Field(default=None, description="For who withdrew a holder (FS-18).")
    waive_at_t: bool | None = Field(default=None, description="At T the holder may evict whoever is over (FS-9).")
    yields_in_leaf: bool | None = Field(default=None, description="Expired work yields within its budget (FS-8).")
    move_interval_seconds: int | None = Field(default=None, description="Between two moves of a workload (FS-10).")
    warning_seconds: int | None = Field(default=None, description="Sessions are warned so long before (FS-12).")
    hole_wait_seconds: int | None = Field(default=None, description="Then a gang with a hole is requeued (FS-19).")
    tick_seconds: int | None = Field(default=None, description="While ratios may let somebody evict (FS-15).")
    sessions_only: bool | None = None


class Leader(BaseModel):
    """The scheduler process that leads the fleet, by the wall's clock, and what its last pass met."""

    name: str | None
    until: str | None
    epoch: int
    failures: int
    error: str | None


class FleetRecord(BaseModel):
    """A cluster's fleet, or a managed pool, as its last pass left it; `as_of` null: there was none."""

    cluster_arn: str | None = Field(description="Null of a managed pool.")
    cluster_name: str | None
    pool: str | None = Field(description="The managed pool, with its project and region.")
    as_of: str | None
    gpus: Gpus
    running: int = Field(description="Workloads that hold GPUs.")
    waiting: int
    reservations: list[ReservationRecord]
    policy: PolicySettings
    changed: list[str] = Field(description="The settings of the policy that are not the default.")
    leader: Leader


class Waiting(BaseModel):
    """Work that waits for all its nodes or its quota, or (`replicas`) for nodes in the places of lost ones."""

    job: str = Field(description="The job's name; of a workload that is no job its own.")
    job_name: str
    budget: str | None
    cluster_arn: str | None = Field(description="Null: it waits for the project's quota in its region.")
    cluster_name: str | None
    pool: str | None = Field(description="The managed pool whose scheduler it waits for.")
    queued: str
    gpus: int
    replicas: list[str] | None
    reason: str
    message: str
    priority: int
    ratio: Ratio | None = Field(description="Of its budget, which decides its turn.")
    ahead: list[str] = Field(description="Budgets whose turn is before, then the workload before it in its own.")
    blocker: str | None
    earliest: str | None = Field(description="When it could start at the earliest, as things are.")


class Queue(BaseModel):
    queue: list[Waiting]


@router.get("/fleets", summary="The GPUs of clusters by model, and managed pools")
async def read_fleets(service: ServiceOf, world: WorldOf, cluster: Cluster = None) -> Fleets:
    found = await service.db.run(queues.fleets, world, cluster)
    managed = await service.db.run(fleet_policies.pools, world, cluster)
    return Fleets(
        pools=[_pool(one) for one in managed],
        fleets=[
            Fleet(
                cluster_arn=one.cluster.arn,
                cluster_name=one.cluster.name,
                gpu=one.model,
                nodes=one.nodes,
                gpus=one.gpus,
                ready=one.ready,
                taken=one.taken,
            )
            for one in found
        ],
    )


def _pool(one: CoreFleet) -> ManagedPool:
    return ManagedPool(
        name=pool_name(one.of.scope, one.of.fleet),
        pool=one.of.fleet,
        project=one.of.scope.account,
        region=one.of.scope.region,
        gpus=one.gpus.total,
        taken=one.gpus.allocated,
        waiting=one.waiting,
    )


@router.get("/queue", summary="The jobs that wait, and why")
async def read_queue(
    service: ServiceOf,
    world: WorldOf,
    cluster: Cluster = None,
    budget: Annotated[
        str | None, Query(max_length=LONGEST_NAME, pattern=TEXT, description="Charged to it or to one below it.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=queues.MOST_SHOWN)] = 100,
) -> Queue:
    """The first to be served comes first, on each cluster and in the pools of regions."""
    found = await service.db.run(queues.queue, world, cluster, budget, limit)
    return Queue(queue=[_waiting(one) for one in found])


def _waiting(one: Queued) -> Waiting:
    return Waiting(
        job=one.name,
        job_name=one.shown,
        budget=one.budget,
        cluster_arn=None if one.cluster is None else one.cluster.arn,
        cluster_name=None if one.cluster is None else one.cluster.name,
        pool=one.pool,
        queued=to_iso(one.queued_at),
        gpus=one.gpus,
        replicas=None if one.lacking is None else list(one.lacking),
        reason=one.reason,
        message=one.message,
        priority=one.priority,
        ratio=ratio(*one.told.ratios[-1]) if one.told is not None and one.told.ratios else None,
        ahead=[] if one.told is None else list(one.told.ahead),
        blocker=None if one.told is None else one.told.blocker,
        earliest=None if one.told is None or one.told.earliest is None else moment(one.told.earliest),
    )


@router.get("/fleets/{cluster:path}", summary="A cluster's fleet: GPUs, reservations, policy, leader")
async def read_fleet(cluster: Named, service: ServiceOf, world: WorldOf) -> FleetRecord:
    return _fleet(await service.db.run(fleet_policies.show, world, cluster, home_of(service)))


@router.patch("/fleets/{cluster:path}", summary="Change settings of a fleet's policy")
async def change_fleet(cluster: Named, wanted: PolicySettings, service: ServiceOf, world: WorldOf) -> FleetRecord:
    """The next pass, at once, goes by them."""
    given = {_setting(name): getattr(wanted, name) for name in wanted.model_fields_set}
    settings = {name: _stored(name, value) for name, value in given.items()}
    return _fleet(await service.db.run(fleet_policies.change, world, cluster, home_of(service), settings))


def _stored(name: str, value: int | bool | None) -> int | bool | None:
    return value if value is None or isinstance(value, bool) else value * _unit(name)


def _setting(field: str) -> str:
    return field.removesuffix("_seconds").removesuffix("_millionths")


def _field(setting: str) -> str:
    return f"{setting}_seconds" if setting in IN_SECONDS else "margin_millionths" if setting == "margin" else setting


def _unit(setting: str) -> int:
    return 1000 if setting in IN_SECONDS else 1


def _fleet(one: CoreFleet) -> FleetRecord:
    lead, settings = one.lead, fleet_policies.settings_of(one.policy)
    values = {_field(name): value // _unit(name) for name, value in settings.items() if not isinstance(value, bool)}
    switches = {name: value for name, value in settings.items() if isinstance(value, bool)}
    return FleetRecord(
        cluster_arn=one.of.arn,
        cluster_name=one.of.cluster,
        pool=pool_name(one.of.scope, one.of.pool) if one.of.pool else None,
        as_of=None if one.as_of is None else moment(one.as_of),
        gpus=Gpus(**one.gpus._asdict()),
        running=one.running,
        waiting=one.waiting,
        reservations=[reservation(each) for each in one.reservations],
        policy=PolicySettings.model_validate(values | switches),
        changed=[_field(name) for name in one.settings],
        leader=Leader(
            name=lead.leader,
            until=None if lead.until is None else lead.until.isoformat(timespec="milliseconds"),
            epoch=lead.epoch,
            failures=lead.failures,
            error=lead.error,
        ),
    )
