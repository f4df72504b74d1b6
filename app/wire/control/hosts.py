"""Hosts: the GPU nodes that workloads run on, and their maintenance (FS-11, CT-10)."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from app.usecases import hosts
from app.usecases.hosts import NOTHING, Shown
from app.wire.control.decisions import Cluster, moment
from app.wire.control.vocabulary import STRICT, TEXT, ServiceOf, WorldOf

router = APIRouter(tags=["hosts"])
Node = Annotated[str, Path(min_length=1, max_length=128, pattern=TEXT, description="Logical id or instance id.")]


class Maintenance(BaseModel):
    """Why the host is to be emptied, and what follows once it is."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"reason": "row 7 is rewired", "then": "reboot"}]}}
    reason: str | None = Field(default=None, min_length=1, max_length=200, pattern=TEXT)
    then: Literal["reboot", "replace", "nothing"] = Field(
        default="nothing", description="nothing: it stays empty until it is resumed."
    )


class HostWork(BaseModel):
    workload: str
    job_name: str = Field(description="The name that a job shows; else the workload's.")
    gpus: int = Field(description="On this host.")
    funded: bool
    protected_until: str | None


class HostRecord(BaseModel):
    """A GPU node of a cluster that has had workloads."""

    node: str = Field(description="NodeLogicalId.")
    instance_id: str | None
    cluster_arn: str
    cluster_name: str
    group: str
    instance_type: str
    status: str = Field(description="AWS's word for the node.")
    state: str = Field(description="healthy, draining, drained; away: it takes no work, whoever asks.")
    gpus: int | None = Field(description="Null while it is away.")
    taken: int = Field(description="GPUs that workloads hold.")
    marked: str | None = Field(description="Since when it is to be emptied.")
    reason: str | None
    then: str | None = Field(description="What follows once it is empty: reboot, replace or nothing.")
    protected_until: str | None = Field(description="Of one that drains: until then work on it is protected.")
    workloads: list[HostWork]


class Hosts(BaseModel):
    hosts: list[HostRecord]


@router.get("/hosts", summary="The GPU nodes that workloads run on")
async def read_hosts(service: ServiceOf, world: WorldOf, cluster: Cluster = None) -> Hosts:
    """By cluster, in the order of its groups."""
    return Hosts(hosts=[_record(one) for one in await service.db.run(hosts.listed, world, cluster)])


@router.get("/hosts/{node}", summary="A host, and what runs on it")
async def read_host(node: Node, service: ServiceOf, world: WorldOf) -> HostRecord:
    return _record(await service.db.run(hosts.show, world, node))


@router.post("/hosts/{node}/drain", summary="Mark a host for maintenance")
async def drain_host(node: Node, wanted: Maintenance, service: ServiceOf, world: WorldOf) -> HostRecord:
    """It takes no new work; unfunded work leaves at once, the rest when its protection ends."""
    return _record(await service.db.run(hosts.drain, world, node, wanted.reason, wanted.then))


@router.post("/hosts/{node}/resume", summary="Have a marked host take work again")
async def resume_host(node: Node, service: ServiceOf, world: WorldOf) -> HostRecord:
    return _record(await service.db.run(hosts.resume, world, node))


def _record(one: Shown) -> HostRecord:
    row = one.of
    marked = row.marked_at is not None and one.state != hosts.AWAY
    return HostRecord(
        node=row.node,
        instance_id=row.instance_id,
        cluster_arn=one.cluster.arn,
        cluster_name=one.cluster.name,
        group=row.group,
        instance_type=row.instance_type,
        status=one.status,
        state=one.state,
        gpus=None if one.state == hosts.AWAY else row.gpus,
        taken=sum(work.gpus for work in row.residents),
        marked=moment(row.marked_at) if marked and row.marked_at is not None else None,
        reason=row.reason if marked else None,
        then=(row.repair or NOTHING) if marked else None,
        protected_until=None if one.empty_at is None else moment(one.empty_at),
        workloads=[
            HostWork(
                workload=work.workload,
                job_name=work.shown,
                gpus=work.gpus,
                funded=work.funded,
                protected_until=None if work.protected_until is None else moment(work.protected_until),
            )
            for work in row.residents
        ],
    )
