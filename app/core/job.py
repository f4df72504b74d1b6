"""A custom job: its facts, and what is told of it, computed from them (VX-1, VX-14a, VX-15)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from app.core.times import WorldTime, millis

STANDARD, SPOT, FLEX_START = "STANDARD", "SPOT", "FLEX_START"
POOL = ""
"""The fleet of a job without a cluster or a budget: the pool of its project and region."""
MANAGED = "pool:"
"""What the name of a managed pool begins with, the fleet of jobs with a budget and no cluster (FS-20)."""


class JobState(StrEnum):
    """The states that a custom job can be in; the API has others, which it never reaches."""

    QUEUED = "JOB_STATE_QUEUED"
    PENDING = "JOB_STATE_PENDING"
    RUNNING = "JOB_STATE_RUNNING"
    SUCCEEDED = "JOB_STATE_SUCCEEDED"
    FAILED = "JOB_STATE_FAILED"
    CANCELLING = "JOB_STATE_CANCELLING"
    CANCELLED = "JOB_STATE_CANCELLED"


FINAL = frozenset((JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED))


@dataclass(frozen=True, slots=True)
class Job:
    """What is known of a job. A fact is a timestamp; the state is computed by `state`.

    `number` counts the jobs of the project in the region. `needs` says how much of which quota metric it takes;
    `admitted_at` since when it has that. An attempt runs from `attempt_at`; `running_at` is when all its workers were
    up. `failure` is the class of the first failure that counts, decided on at `decide_at`; `retry_at` is when the
    next attempt may begin; `internal_at` appoints an internal error. `outcome` is told from `shown_at` on.
    """

    account: str
    region: str
    job_id: str
    number: int
    display_name: str
    spec: Mapping[str, Any]
    labels: Mapping[str, str]
    created_at: WorldTime
    queued_at: WorldTime
    updated_at: WorldTime
    strategy: str = STANDARD
    fleet: str = POOL
    fleet_account: str = ""
    fleet_region: str = ""
    needs: Mapping[str, int] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that every replica has beside those of its pool."""
    encryption: str | None = None
    budget: str | None = None
    min_runtime: int | None = None
    tuning_id: str | None = None
    trial_id: str | None = None
    pipeline_id: str | None = None
    admitted_at: WorldTime | None = None
    attempt: int = 0
    attempt_at: WorldTime | None = None
    running_at: WorldTime | None = None
    started_at: WorldTime | None = None
    ran_ms: int = 0
    """Running time of the attempts that are over."""
    retries: Mapping[str, int] = field(default_factory=dict)
    """How often the whole job was retried, by class of failure."""
    failure: str | None = None
    failure_replica: str | None = None
    failure_code: int | None = None
    decide_at: WorldTime | None = None
    retry_at: WorldTime | None = None
    internal_at: WorldTime | None = None
    cancel_at: WorldTime | None = None
    ended_at: WorldTime | None = None
    outcome: str | None = None
    error_code: int | None = None
    error_message: str | None = None
    shown_at: WorldTime | None = None
    deleted_at: WorldTime | None = None
    acted_at: WorldTime | None = None
    """The last instant at which anything of it was done: nothing is done for an earlier one."""
    log_seq: int = 0

    @property
    def on_cluster(self) -> bool:
        """It is placed on the nodes of a HyperPod cluster."""
        return self.is_scheduled and not is_managed(self.fleet)

    @property
    def is_scheduled(self) -> bool:
        """It is a workload of a scheduler's, on a cluster or in a managed pool."""
        return self.fleet != POOL


def is_managed(fleet: str) -> bool:
    """Whether the fleet is a managed pool: part of a project's quota in a region, and no cluster."""
    return fleet.startswith(MANAGED)


def job_name(account: str, region: str, job_id: str) -> str:
    """`projects/<number>/locations/<region>/customJobs/<id>`."""
    return f"projects/{account}/locations/{region}/customJobs/{job_id}"


def state(job: Job, now: WorldTime) -> JobState:
    """The state that is told at `now`. A failure is told with its error, some time after the end (VX-9)."""
    if job.outcome is not None and job.shown_at is not None and job.shown_at <= now:
        return JobState(job.outcome)
    if job.cancel_at is not None and job.ended_at is None:
        return JobState.CANCELLING
    if job.admitted_at is None:
        return JobState.QUEUED
    return JobState.PENDING if job.running_at is None else JobState.RUNNING


def ran_ms(job: Job, at: WorldTime) -> int:
    """Milliseconds in RUNNING over all attempts until `at`, or until the end: what the timeout counts (VX-14)."""
    if job.running_at is None or job.ended_at is not None:
        return job.ran_ms
    return job.ran_ms + millis(job.running_at, at)


@dataclass(frozen=True, slots=True)
class View:
    """What is told of a job at a moment: `error` is a code of google.rpc.Code and its message."""

    job: Job
    state: JobState
    created_at: WorldTime
    started_at: WorldTime | None
    ended_at: WorldTime | None
    updated_at: WorldTime
    error: tuple[int, str] | None


def view(job: Job, now: WorldTime) -> View:
    """The job as it is told at `now`."""
    told = state(job, now)
    over = told in FINAL
    failed = job.error_code is not None and over
    return View(
        job=job,
        state=told,
        created_at=job.created_at,
        started_at=job.started_at,
        ended_at=job.ended_at if over else None,
        updated_at=job.shown_at if over and job.shown_at is not None else job.updated_at,
        error=(job.error_code or 0, job.error_message or "") if failed else None,
    )
