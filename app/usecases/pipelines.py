"""Training pipelines: each makes the job that carries it out, and is told as that job is."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.core import job
from app.core.errors import FailedPrecondition, LimitExceeded, NotFound
from app.core.ids import job_id
from app.core.job_errors import RESOURCE_EXHAUSTED
from app.core.job_labels import Home
from app.core.pipeline import Backing, Pipeline, PipelineView, Task, view
from app.core.scope import Scope
from app.core.tuning import Tuning, best_trial, state
from app.core.world import World
from app.store import fleets
from app.store import pipelines as store
from app.store import tuning as tunings
from app.store.db import Tx
from app.usecases import jobs, tuning
from app.usecases.clusters import hold_world, world_of
from app.usecases.trial_jobs import LONGEST_NAME
from app.usecases.tuning import TuningIntent

MOST_LISTED = 1000


@dataclass(frozen=True, slots=True)
class PipelineIntent:
    """What a request wants. `request` is the TrainingPipeline, and `inputs` of its task a CustomJobSpec or a
    HyperparameterTuningJobSpec, in canonical JSON."""

    display_name: str
    task: Task
    request: Mapping[str, Any]
    inputs: Mapping[str, Any]
    labels: Mapping[str, str] = field(default_factory=dict)
    encryption: str | None = None
    home: Home = field(default_factory=Home)


async def create(tx: Tx, scope: Scope, intent: PipelineIntent) -> PipelineView:
    """The pipeline, and in the same transaction its job. Invalid as the job is; a quota that is too small fails the
    pipeline, which is there (vertex-ai-samples#700)."""
    world = await hold_world(tx, scope)
    spec = intent.inputs if intent.task == "custom" else intent.inputs.get("trialJobSpec", {})
    await jobs.hold_cluster(tx, scope, jobs.JobIntent("", spec, labels=intent.labels, home=intent.home))
    number = await fleets.number_job(tx, scope)  # which locks what comes behind clusters
    pipeline = Pipeline(
        account=scope.account,
        region=scope.region,
        pipeline_id=job_id(world.seed, scope.account, scope.region, number),
        number=number,
        display_name=intent.display_name,
        request=intent.request,
        labels=intent.labels,
        encryption=intent.encryption,
        created_at=world.now,
    )
    try:
        async with tx.transaction():
            backed = await _back(tx, scope, pipeline, intent)
    except LimitExceeded as refused:
        backed = replace(pipeline, error_code=RESOURCE_EXHAUSTED, error_message=refused.message)
    await store.insert(tx, scope.world, backed)
    return await get(tx, scope, backed.pipeline_id)


async def _back(tx: Tx, scope: Scope, pipeline: Pipeline, intent: PipelineIntent) -> Pipeline:
    facts: dict[str, Any] = {
        "labels": intent.labels,
        "encryption": intent.encryption,
        "pipeline_id": pipeline.pipeline_id,
        "home": intent.home,
    }
    if intent.task == "custom":
        name = _name(intent.display_name, "-custom-job")
        made = await jobs.create(tx, scope, jobs.JobIntent(name, intent.inputs, **facts))
        return replace(pipeline, job_id=made.job_id)
    inputs = intent.inputs
    found = await tuning.create(
        tx,
        scope,
        TuningIntent(
            display_name=_name(intent.display_name, "-hyperparameter-tuning-job"),
            study_spec=inputs.get("studySpec", {}),
            trial_job_spec=inputs.get("trialJobSpec", {}),
            max_trials=int(inputs.get("maxTrialCount", 0)),
            parallel_trials=int(inputs.get("parallelTrialCount", 0)),
            max_failed=int(inputs.get("maxFailedTrialCount", 0)),
            **facts,
        ),
    )
    return replace(pipeline, tuning_id=found.tuning.tuning_id)


def _name(name: str, tail: str) -> str:
    return name[: LONGEST_NAME - len(tail)] + tail


async def get(tx: Tx, scope: Scope, pipeline_id: str) -> PipelineView:
    """NotFound."""
    world = await world_of(tx, scope)
    found = await store.get(tx, scope, pipeline_id)
    if found is None:
        raise NotFound(
            f"The training pipeline projects/{scope.account}/locations/{scope.region}/trainingPipelines/"
            f"{pipeline_id[:64]} was not found. List those of this location."
        )
    return await _view(tx, scope, world, found)


async def listed(tx: Tx, scope: Scope, before: int | None = None, limit: int = MOST_LISTED) -> list[PipelineView]:
    """The project's pipelines in the region, the newest first: those with a `number` below `before` if that is
    given."""
    world = await world_of(tx, scope)
    return [await _view(tx, scope, world, one) for one in await store.listed(tx, scope, before, limit)]


async def cancel(tx: Tx, scope: Scope, pipeline_id: str) -> None:
    """Cancel what carries it out; of a pipeline that has ended nothing is asked."""
    found = await get(tx, scope, pipeline_id)
    if found.ended:
        return
    if found.pipeline.job_id is not None:
        await jobs.cancel(tx, scope, found.pipeline.job_id)
    if found.pipeline.tuning_id is not None:
        await tuning.cancel(tx, scope, found.pipeline.tuning_id)


async def delete(tx: Tx, scope: Scope, pipeline_id: str) -> None:
    """Delete the pipeline; what carried it out stays (chosen). FailedPrecondition while it is active."""
    await hold_world(tx, scope)
    found = await get(tx, scope, pipeline_id)
    if not found.ended:
        raise FailedPrecondition(
            f"The training pipeline {pipeline_id} is in state {found.state}, and only one that has ended can be "
            "deleted. Cancel it first, and wait until it has ended."
        )
    await store.remove(tx, scope, pipeline_id)


async def _view(tx: Tx, scope: Scope, world: World, seen: store.Seen) -> PipelineView:
    if seen.job is not None:
        told = job.view(seen.job, world.now)
        return view(seen.pipeline, Backing(told.state, told.started_at, told.ended_at, told.updated_at, told.error))
    if seen.tuning is not None:
        return view(seen.pipeline, _tuned(seen.tuning), await _best(tx, scope, seen.tuning))
    return view(seen.pipeline, None)


def _tuned(one: Tuning) -> Backing:
    error = None if one.error_code is None else (one.error_code, one.error_message or "")
    return Backing(state(one), one.started_at, one.ended_at, one.updated_at, error)


async def _best(tx: Tx, scope: Scope, one: Tuning) -> str | None:
    """The custom job of the best trial of a tuning job that has ended."""
    if one.ended_at is None:
        return None
    best = best_trial(one, await tunings.outlines(tx, scope, one.tuning_id))
    return None if best is None else best.job_id
