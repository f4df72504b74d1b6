"""Clusters' GPUs as jobs see them, and the jobs that wait (VX-1, VX-24)."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from app.core.times import to_iso
from app.usecases import queues
from app.usecases.queues import Queued
from app.wire.control.vocabulary import TEXT, ServiceOf, WorldOf

router = APIRouter(tags=["fleets"])
Cluster = Annotated[str | None, Query(max_length=512, pattern=TEXT, description="Name, id or ARN.")]


class Fleet(BaseModel):
    """A cluster's GPUs of one model, of the nodes that take jobs."""

    cluster_arn: str
    cluster_name: str
    gpu: str
    nodes: int
    gpus: int
    ready: int = Field(description="GPUs of nodes that take work now.")
    taken: int = Field(description="GPUs that jobs hold.")


class Fleets(BaseModel):
    fleets: list[Fleet]


class Waiting(BaseModel):
    """A job that waits for all its nodes or its quota, or (`replicas`) for nodes in the places of lost ones."""

    job: str
    job_name: str
    budget: str | None
    cluster_arn: str | None = Field(description="Null: it waits for the project's quota in its region.")
    queued: str
    gpus: int
    replicas: list[str] | None
    reason: str
    message: str


class Queue(BaseModel):
    queue: list[Waiting]


@router.get("/fleets", summary="The GPUs of clusters, by model")
async def read_fleets(service: ServiceOf, world: WorldOf, cluster: Cluster = None) -> Fleets:
    found = await service.db.run(queues.fleets, world, cluster)
    return Fleets(
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
        ]
    )


@router.get("/queue", summary="The jobs that wait, and why")
async def read_queue(service: ServiceOf, world: WorldOf, cluster: Cluster = None) -> Queue:
    """The first to be served comes first, on each cluster and in the pools of regions."""
    return Queue(queue=[_waiting(one) for one in await service.db.run(queues.queue, world, cluster)])


def _waiting(one: Queued) -> Waiting:
    return Waiting(
        job=one.name,
        job_name=one.shown,
        budget=one.budget,
        cluster_arn=None if one.cluster is None else one.cluster.arn,
        queued=to_iso(one.queued_at),
        gpus=one.gpus,
        replicas=None if one.lacking is None else list(one.lacking),
        reason=one.reason,
        message=one.message,
    )
