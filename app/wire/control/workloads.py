"""Workloads: submitted to a cluster's scheduler, listed, explained, changed, taken back (CT-10, FS-13)."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from app.core.budget_tree import LONGEST_NAME
from app.core.job import job_name
from app.core.job_labels import Home
from app.core.own_workload import LONGEST_RUNTIME, MOST_PRIORITY, MOST_REPLICAS, Wanted
from app.core.scheduling.comparing import Rival
from app.core.scheduling.state import Reservation
from app.core.scheduling.workload import Kind
from app.service import Service
from app.usecases import explanations, workloads
from app.usecases.explanations import Standing
from app.usecases.workloads import Listed, Row
from app.wire.control.decisions import Cluster, DecisionRecord, Ratio, decision, moment, ratio
from app.wire.control.vocabulary import STRICT, TEXT, ServiceOf, WorldOf

router = APIRouter(tags=["workloads"])
Named = Annotated[
    str, Path(min_length=1, max_length=128, pattern=TEXT, description="Name; of a job its id or display name.")
]
Seconds = Annotated[int, Field(ge=1, le=LONGEST_RUNTIME // 1000)]
Priority = Annotated[int, Field(ge=-MOST_PRIORITY, le=MOST_PRIORITY)]


class WorkloadWanted(BaseModel):
    """A gang of replicas that start together, each with `gpus` GPUs of one node."""

    model_config = STRICT | {
        "json_schema_extra": {
            "examples": [
                {"name": "train-7b", "gpus": 8, "replicas": 4, "budget": "team-a", "min_runtime_seconds": 7200}
            ]
        }
    }
    name: str = Field(min_length=1, max_length=63, pattern=TEXT, description="Of its cluster, for ever.")
    cluster: str | None = Field(
        default=None, max_length=512, pattern=TEXT, description="Name, id or ARN; left out: the only one there is."
    )
    budget: str | None = Field(default=None, max_length=LONGEST_NAME, pattern=TEXT, description="A leaf of the tree.")
    gpus: int = Field(ge=1, le=1024, description="Of a replica.")
    replicas: int = Field(default=1, ge=1, le=MOST_REPLICAS)
    min_runtime_seconds: int = Field(default=0, ge=0, le=LONGEST_RUNTIME // 1000, description="Protected for so long.")
    runtime_seconds: Seconds | None = Field(default=None, description="How long it works; null: until it is cancelled.")
    priority: Priority = 0
    resumable: bool = Field(default=True, description="Whether it may queue again when others need its GPUs.")
    checkpoint_seconds: Seconds | None = Field(
        default=None, description="It saves its work so often; null: never, and begins anew each time."
    )
    kind: Literal["batch", "session"] = "batch"
    model: str = Field(default="", max_length=64, pattern=TEXT, description="Of GPUs; empty: any.", examples=["H100"])
    zone: str = Field(default="", max_length=40, pattern=TEXT, description="Of nodes; empty: any.")


class WorkloadChange(BaseModel):
    """Another priority, within its budget."""

    model_config = STRICT
    priority: Priority


class WorkloadRecord(BaseModel):
    """A workload, ours or a job's, as the last pass over its fleet left it."""

    workload: str
    job: str | None = Field(description="The custom job that it is.")
    job_name: str | None
    cluster_arn: str | None
    cluster_name: str | None
    pool: str | None = Field(description="The managed pool of the job's project and region that it is in instead.")
    budget: str | None
    status: str = Field(description="new, waiting, held, running, leaving, ended.")
    reason: str | None = Field(description="Why it ended, as finished, cancelled, timed-out.")
    gpus: int
    replicas: int
    model: str | None
    zone: str | None
    kind: str
    priority: int
    resumable: bool
    funded: bool
    submitted: str
    min_runtime_seconds: float
    runtime_seconds: float | None
    checkpoint_seconds: float | None
    done_seconds: float = Field(description="Of its runtime, as of its last checkpoint.")
    attempt: int
    first_started: str | None
    started: str | None
    waited_seconds: float | None = Field(description="Until it first started.")
    protected_until: str | None
    ends: str | None
    ended: str | None


class WorkloadList(BaseModel):
    workloads: list[WorkloadRecord]


class ReservationRecord(BaseModel):
    """Hosts that are kept for a gang; from `due`, the T of FS-9, it may evict there."""

    workload: str
    budget: str
    hosts: list[str]
    since: str
    due: str


class RivalRecord(BaseModel):
    """Two sibling budgets: the workload's, as if it ran, and the one furthest ahead with work that is over."""

    own: Ratio
    other: Ratio
    yields: bool = Field(description="Whether the other is ahead by at least the margin of the fleet's policy.")


class Why(BaseModel):
    """Why a workload stands where it stands, and what would change that, `as_of` its fleet's last pass."""

    workload: str
    job_name: str | None
    cluster_arn: str | None
    pool: str | None
    budget: str | None
    status: str
    as_of: str | None = Field(description="Null: before the fleet's first pass.")
    reason: str = Field(examples=["not-its-turn"])
    unblocks: str
    wanted: int = Field(description="GPUs that it waits for.")
    free: int | None = Field(description="GPUs that are free where it may run.")
    ratios: list[Ratio] = Field(description="Of its budget and those above it, from the top.")
    rivals: list[RivalRecord] = Field(description="Whose GPUs it might get by fair share, from the top of the tree.")
    ahead: list[str] = Field(description="Budgets whose turn is before, then the workload before it in its own.")
    blocker: str | None = Field(description="The budget that cannot pay, or whom the nodes are kept for.")
    earliest: str | None = Field(description="When it could start at the earliest, as things are.")
    starts: str | None = Field(description="When the GPUs that are held for it are its.")
    leaves: str | None = Field(description="When its grace is over.")
    protected_until: str | None
    reservation: ReservationRecord | None
    decisions: list[DecisionRecord] = Field(description="The last that concern it, the oldest first.")


class Inspected(WorkloadRecord):
    """A workload with its places, and why it stands where it stands."""

    places: dict[str, int] = Field(description="How many replicas on each host.")
    held: dict[str, int] = Field(description="Likewise where GPUs are held for it.")
    why: Why


def home_of(service: Service) -> Home:
    """Where a cluster is looked for first."""
    return Home(service.settings.default_account, service.settings.default_region)


@router.post("/workloads", status_code=201, summary="Submit a workload to a cluster's scheduler")
async def submit_workload(wanted: WorkloadWanted, service: ServiceOf, world: WorldOf) -> WorkloadRecord:
    made = await service.db.run(workloads.submit, world, wanted.cluster, _wanted(wanted), home_of(service))
    return record(made)


def _wanted(one: WorkloadWanted) -> Wanted:
    return Wanted(
        name=one.name,
        gpus=one.gpus,
        replicas=one.replicas,
        budget=one.budget,
        min_runtime=one.min_runtime_seconds * 1000,
        runtime=None if one.runtime_seconds is None else one.runtime_seconds * 1000,
        priority=one.priority,
        resumable=one.resumable,
        checkpoint=None if one.checkpoint_seconds is None else one.checkpoint_seconds * 1000,
        kind=Kind(one.kind),
        model=one.model,
        zone=one.zone,
    )


@router.get("/workloads", summary="Workloads, the newest first, also those that have ended")
async def list_workloads(
    service: ServiceOf,
    world: WorldOf,
    cluster: Cluster = None,
    budget: Annotated[str | None, Query(max_length=LONGEST_NAME, pattern=TEXT)] = None,
    status: Annotated[
        list[Literal["new", "waiting", "held", "running", "leaving", "ended"]] | None, Query(description="Of these.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=workloads.MOST_LISTED)] = 100,
) -> WorkloadList:
    found = await service.db.run(workloads.listed, world, cluster, budget, tuple(status or ()), limit)
    return WorkloadList(workloads=[record(one) for one in found])


@router.get("/workloads/{name}", summary="A workload: where it is, and why it stands where it stands")
async def read_workload(name: Named, service: ServiceOf, world: WorldOf, cluster: Cluster = None) -> Inspected:
    found = await service.db.run(explanations.stand, world, cluster, name)
    shown = record(found.listed).model_dump()
    return Inspected(**shown, places=dict(found.places), held=dict(found.claim), why=_why(found))


@router.get("/workloads/{name}/why", summary="Why a workload waits, who is ahead, and what would unblock it")
async def explain_workload(name: Named, service: ServiceOf, world: WorldOf, cluster: Cluster = None) -> Why:
    return _why(await service.db.run(explanations.stand, world, cluster, name))


@router.patch("/workloads/{name}", summary="Give a workload another priority")
async def change_workload(
    name: Named, change: WorkloadChange, service: ServiceOf, world: WorldOf, cluster: Cluster = None
) -> WorkloadRecord:
    """From the next pass on; it orders workloads of one budget, and no other."""
    return record(await service.db.run(workloads.prioritise, world, cluster, name, change.priority))


@router.post("/workloads/{name}/cancel", summary="Take a workload back")
async def cancel_workload(name: Named, service: ServiceOf, world: WorldOf, cluster: Cluster = None) -> WorkloadRecord:
    """It ends in the next pass. A job's is cancelled where the job was made."""
    return record(await service.db.run(workloads.cancel, world, cluster, name))


def record(one: Listed) -> WorkloadRecord:
    row, waited = one.row, None
    if row.first_bound_at is not None:
        waited = (row.first_bound_at - row.submit) / 1000
    return WorkloadRecord(
        workload=row.name,
        job=None if row.job is None else job_name(*row.job),
        job_name=None if row.job is None else one.shown,
        cluster_arn=one.of.arn,
        cluster_name=one.of.cluster,
        pool=one.of.pool,
        budget=row.leaf,
        status=row.status,
        reason=row.end_reason,
        gpus=row.gpus,
        replicas=row.replicas,
        model=row.model or None,
        zone=row.zone or None,
        kind=row.kind,
        priority=row.priority,
        resumable=row.resumable,
        funded=row.funded,
        submitted=moment(row.submit),
        min_runtime_seconds=row.min_runtime / 1000,
        runtime_seconds=_seconds(row.runtime),
        checkpoint_seconds=_seconds(row.checkpoint),
        done_seconds=row.done / 1000,
        attempt=row.attempt,
        first_started=_moment(row.first_bound_at),
        started=_moment(row.bound_at),
        waited_seconds=waited,
        protected_until=_protected(row),
        ends=_moment(row.ends_at),
        ended=_moment(row.ended_at),
    )


def _why(found: Standing) -> Why:
    row, told = found.listed.row, found.why.told
    return Why(
        workload=row.name,
        job_name=None if row.job is None else found.listed.shown,
        cluster_arn=found.listed.of.arn,
        pool=found.listed.of.pool,
        budget=row.leaf,
        status=row.status,
        as_of=moment(found.as_of) if found.as_of else None,
        reason=found.why.reason,
        unblocks=found.why.message,
        wanted=found.why.wanted,
        free=None if told is None else told.free,
        ratios=[] if told is None else [ratio(name, value) for name, value in told.ratios],
        rivals=[_rival(one) for one in found.rivals],
        ahead=[] if told is None else list(told.ahead),
        blocker=None if told is None else told.blocker,
        earliest=None if told is None or row.bound_at is not None else _moment(told.earliest),
        starts=_moment(found.starts_at),
        leaves=_moment(found.leaves_at),
        protected_until=_protected(row),
        reservation=None if found.reservation is None else reservation(found.reservation),
        decisions=[decision(one) for one in found.decisions],
    )


def _rival(one: Rival) -> RivalRecord:
    own, other = ratio(one.own, one.own_ratio), ratio(one.other, one.other_ratio)
    return RivalRecord(own=own, other=other, yields=one.yields)


def reservation(one: Reservation) -> ReservationRecord:
    return ReservationRecord(
        workload=one.workload, budget=one.leaf, hosts=list(one.hosts), since=moment(one.since), due=moment(one.due)
    )


def _protected(row: Row) -> str | None:
    """None for who never was, as unfunded work."""
    until = row.protected_until
    return None if until is None or until == row.bound_at else moment(until)


def _moment(value: int | None) -> str | None:
    return None if value is None else moment(value)


def _seconds(value: int | None) -> float | None:
    return None if value is None else value / 1000
