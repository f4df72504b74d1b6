"""What jobs have written (VX-17)."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from app.core.times import to_iso
from app.usecases import logs
from app.wire.control.vocabulary import TEXT, Instant, ServiceOf, WorldOf

router = APIRouter(tags=["jobs"])
Job = Annotated[str, Path(min_length=1, max_length=128, pattern=TEXT, description="Id, or display name: the newest.")]
Task = Annotated[str | None, Query(max_length=128, pattern=TEXT, description="`service`, or a replica's name.")]


class LogLine(BaseModel):
    number: int
    time: str
    task: str = Field(examples=["workerpool0-0"])
    severity: str = Field(examples=["INFO"])
    text: str
    payload: dict[str, Any] | None = Field(description="What a program wrote as JSON.")


class JobLog(BaseModel):
    job: str
    lines: list[LogLine]
    last: int = Field(description="The number to go on behind.")
    over: bool = Field(description="The job has ended: no more will come.")


@router.get("/jobs/{job}/logs", summary="The lines of a job's log, the oldest first")
async def read_logs(
    job: Job,
    service: ServiceOf,
    world: WorldOf,
    task: Task = None,
    since: Annotated[Instant | None, Query(description="From this instant on.")] = None,
    after: Annotated[int, Query(ge=0, lt=2**63, description="Behind the line of this number.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> JobLog:
    """A page that is not full is the last one for now; `over` says of such a page whether more can come."""
    found = await service.db.run(logs.of_job, world, job, task=task, since=since, after=after, limit=limit)
    return JobLog(
        job=found.job.job_id,
        lines=[
            LogLine(
                number=number,
                time=to_iso(line.at),
                task=line.task,
                severity=line.severity,
                text=line.text,
                payload=None if line.payload is None else dict(line.payload),
            )
            for number, line in found.lines
        ],
        last=found.lines[-1][0] if found.lines else after,
        over=found.is_over,
    )
