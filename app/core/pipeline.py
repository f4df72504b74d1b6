"""Training pipelines: each is carried out by one job, whose state is its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from app.core.errors import Invalid
from app.core.job import FINAL, JobState
from app.core.times import WorldTime

Task = Literal["custom", "tuning"]
_TASKS: Mapping[str, Task] = {"custom_task": "custom", "hyperparameter_tuning_task": "tuning"}


class PipelineState(StrEnum):
    """The states that a pipeline can be in: those of the job behind it."""

    QUEUED = "PIPELINE_STATE_QUEUED"
    PENDING = "PIPELINE_STATE_PENDING"
    RUNNING = "PIPELINE_STATE_RUNNING"
    SUCCEEDED = "PIPELINE_STATE_SUCCEEDED"
    FAILED = "PIPELINE_STATE_FAILED"
    CANCELLING = "PIPELINE_STATE_CANCELLING"
    CANCELLED = "PIPELINE_STATE_CANCELLED"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What is known of a pipeline. `request` is the TrainingPipeline as it was asked for; `job_id` or `tuning_id` is
    what carries it out, and neither is set when that was refused, with the error."""

    account: str
    region: str
    pipeline_id: str
    number: int
    display_name: str
    request: Mapping[str, Any]
    labels: Mapping[str, str]
    encryption: str | None
    created_at: WorldTime
    job_id: str | None = None
    tuning_id: str | None = None
    error_code: int | None = None
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class Backing:
    """What is told of the job behind a pipeline."""

    state: JobState
    started_at: WorldTime | None
    ended_at: WorldTime | None
    updated_at: WorldTime
    error: tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class PipelineView:
    """A pipeline as it is told; `best_job_id` is the custom job of a tuning job's best trial."""

    pipeline: Pipeline
    state: PipelineState
    started_at: WorldTime | None
    ended_at: WorldTime | None
    updated_at: WorldTime
    error: tuple[int, str] | None
    best_job_id: str | None = None

    @property
    def ended(self) -> bool:
        return self.state in _FINAL


_FINAL = frozenset(PipelineState(f"PIPELINE_{state.removeprefix('JOB_')}") for state in FINAL)


def task_of(definition: str) -> Task:
    """What a `trainingTaskDefinition` names: `gs://…/custom_task_1.0.0.yaml`. Invalid for what is not emulated."""
    name = definition.rpartition("/")[2].rpartition("_")[0]
    if name not in _TASKS:
        raise Invalid(
            f"training_task_definition '{definition[:200]}' is not emulated. Use "
            "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml or "
            "hyperparameter_tuning_task_1.0.0.yaml of the same folder."
        )
    return _TASKS[name]


def view(pipeline: Pipeline, backing: Backing | None, best_job_id: str | None = None) -> PipelineView:
    """As it is told; a pipeline whose job was refused failed when it was made."""
    if backing is None:
        error = (pipeline.error_code or 0, pipeline.error_message or "")
        made = pipeline.created_at
        return PipelineView(pipeline, PipelineState.FAILED, None, made, made, error)
    state = PipelineState(f"PIPELINE_{backing.state.removeprefix('JOB_')}")
    return PipelineView(
        pipeline, state, backing.started_at, backing.ended_at, backing.updated_at, backing.error, best_job_id
    )
