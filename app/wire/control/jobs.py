"""A job and its workers as the service knows them, which is more than the vendor's API tells (VX-7, VX-16)."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from app.core.job import job_name
from app.core.replica import Replica
from app.core.times import WorldTime, to_iso
from app.usecases import jobs
from app.usecases.jobs import Inspected
from app.wire.control.vocabulary import TEXT, ServiceOf, WorldOf

router = APIRouter(tags=["jobs"])
Named = Annotated[str, Path(min_length=1, max_length=128, pattern=TEXT, description="Id, or display name: the newest.")]


class Worker(BaseModel):
    """A worker of a job. Counts are of the present attempt of the job, but for those that say otherwise."""

    name: str = Field(examples=["workerpool0-0"])
    status: str = Field(examples=["Running"])
    since: str
    machine_type: str
    machine: str | None = Field(description="The machine that it has, or had last; on a cluster the node's logical id.")
    machines: int = Field(description="How many it has had, over all attempts.")
    runs: int = Field(description="How often its program has begun, over all attempts.")
    restarts: int = Field(description="How often it was lost and came back.")
    exit_code: int | None = Field(description="Of a program that has failed and is started again.")
    waits_since: str | None = Field(description="Since when it has waited for a machine.")
    saved_seconds: float = Field(description="How much of its work the last checkpoint holds.")
    lost_seconds: float = Field(description="How much work was done for nothing, over all attempts.")


class JobRecord(BaseModel):
    """A job: how often it was tried, why it was retried, and its workers."""

    job: str = Field(examples=["projects/123456789012/locations/us-central1/customJobs/5518405205760147456"])
    display_name: str
    state: str = Field(examples=["JOB_STATE_RUNNING"])
    strategy: str = Field(examples=["STANDARD"])
    attempt: int
    retries: dict[str, int] = Field(description="How often the whole job was retried, by class of failure.")
    created: str
    queued: str
    admitted: str | None = Field(description="Since when it has had its quota, or its place on a cluster.")
    started: str | None
    ended: str | None
    deciding: str | None = Field(description="When it is decided what becomes of the job after a failure.")
    running_seconds: float = Field(description="In RUNNING, over all attempts until now: what the timeout counts.")
    workers: list[Worker]


@router.get("/jobs/{job}", summary="A job, its attempts and its workers")
async def read_job(job: Named, service: ServiceOf, world: WorldOf) -> JobRecord:
    found = await service.db.run(jobs.inspect, world, job)
    return _record(found)


def _record(found: Inspected) -> JobRecord:
    job = found.job
    return JobRecord(
        job=job_name(job.account, job.region, job.job_id),
        display_name=job.display_name,
        state=found.state,
        strategy=job.strategy,
        attempt=job.attempt,
        retries=dict(job.retries),
        created=to_iso(job.created_at),
        queued=to_iso(job.queued_at),
        admitted=_shown(job.admitted_at),
        started=_shown(job.started_at),
        ended=_shown(job.ended_at),
        deciding=_shown(job.decide_at),
        running_seconds=found.ran_ms / 1000,
        workers=[_worker(one) for one in found.replicas],
    )


def _worker(replica: Replica) -> Worker:
    return Worker(
        name=replica.name,
        status=replica.status,
        since=to_iso(replica.since),
        machine_type=replica.machine_type,
        machine=replica.node or replica.machine,
        machines=replica.machines,
        runs=replica.runs,
        restarts=replica.restarts,
        exit_code=replica.exit_code,
        waits_since=_shown(replica.waiting_since),
        saved_seconds=replica.saved_ms / 1000,
        lost_seconds=replica.lost_ms / 1000,
    )


def _shown(moment: WorldTime | None) -> str | None:
    return None if moment is None else to_iso(moment)
