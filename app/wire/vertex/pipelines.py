"""Training pipelines, each with the job that carries it out (VX-18). Their tasks are free JSON, which is read here."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from app.core.google import GoogleOperation
from app.core.listing_filter import Vocabulary
from app.core.pipeline import PipelineView, Task, task_of
from app.core.scope import Scope
from app.store.db import Tx
from app.usecases import pipelines
from app.usecases.clusters import world_of
from app.usecases.tuning import TuningIntent
from app.wire.google.errors import GoogleError, Violation
from app.wire.google.proto import Message
from app.wire.google.reading import read
from app.wire.vertex import operations, tuning_jobs
from app.wire.vertex.constraints import common, enforce, unset
from app.wire.vertex.custom_jobs import COLLECTION as CUSTOM_JOBS
from app.wire.vertex.custom_jobs import home, region_of
from app.wire.vertex.job_constraints import broken
from app.wire.vertex.listing import Listable, Listing, Position
from app.wire.vertex.messages.jobs import CustomJobSpec
from app.wire.vertex.messages.pipelines import PipelineState, TrainingPipeline
from app.wire.vertex.messages.requests import (
    CreateTrainingPipelineRequest,
    ListRequest,
    ListTrainingPipelinesResponse,
    Named,
)
from app.wire.vertex.messages.tuning import HyperparameterTuningJobSpec
from app.wire.vertex.names import full
from app.wire.vertex.rpc import PACKAGES, PIPELINES, Context, rpc
from app.wire.vertex.telling import JOB_LIST, Told

COLLECTION = "trainingPipelines"
INPUTS = "training_task_inputs"
_TASKS: Mapping[Task, type[Message]] = {"custom": CustomJobSpec, "tuning": HyperparameterTuningJobSpec}
_LIST = Vocabulary(
    texts=JOB_LIST.texts | {"training_task_definition"},
    times=JOB_LIST.times,
    states=frozenset(PipelineState.__members__),
)
Answer = dict[str, Any]


@rpc(PIPELINES, "POST trainingPipelines", CreateTrainingPipelineRequest, TrainingPipeline, body="training_pipeline")
async def create_training_pipeline(ctx: Context, req: CreateTrainingPipelineRequest) -> Answer:
    message = req.training_pipeline or TrainingPipeline()
    given = message.canonical()
    enforce(chain(unset(message, ""), common(given)))
    task = task_of(given["trainingTaskDefinition"])
    inputs = _inputs(ctx, task, given)
    enforce(_problems(task, inputs, region_of(ctx.scope, given.get("labels", {}))))
    intent = pipelines.PipelineIntent(
        display_name=given["displayName"],
        task=task,
        request=given | {"trainingTaskInputs": inputs.canonical()},
        inputs=inputs.canonical(),
        labels=given.get("labels", {}),
        encryption=given.get("encryptionSpec", {}).get("kmsKeyName"),
        home=home(ctx.service.settings),
    )
    return shown(await ctx.service.db.run(pipelines.create, ctx.scope, intent))


@rpc(PIPELINES, "GET trainingPipelines/*", Named, TrainingPipeline)
async def get_training_pipeline(ctx: Context, req: Named) -> Answer:
    return shown(await ctx.service.db.run(pipelines.get, ctx.scope, ctx.name.id))


@rpc(PIPELINES, "GET trainingPipelines", ListRequest, ListTrainingPipelinesResponse)
async def list_training_pipelines(ctx: Context, req: ListRequest) -> Answer:
    listing = Listing[PipelineView](ctx, req, COLLECTION, of=TrainingPipeline, vocabulary=_LIST)

    async def fetch(after: Position | None, limit: int) -> list[PipelineView]:
        return await ctx.service.db.run(pipelines.listed, ctx.scope, after[0] if after else None, limit)

    return await listing.answer(fetch, _LISTED)


@rpc(PIPELINES, "DELETE trainingPipelines/*", Named)
async def delete_training_pipeline(ctx: Context, req: Named) -> Answer:
    return operations.shown(ctx, await ctx.service.db.run(_delete, ctx.scope, ctx.name.id))


@rpc(PIPELINES, "POST trainingPipelines/*:cancel", Named, body="*")
async def cancel_training_pipeline(ctx: Context, req: Named) -> Answer:
    await ctx.service.db.run(pipelines.cancel, ctx.scope, ctx.name.id)
    return {}


async def _delete(tx: Tx, scope: Scope, pipeline_id: str) -> GoogleOperation:
    await pipelines.delete(tx, scope, pipeline_id)
    return await operations.deleted(tx, scope, await world_of(tx, scope), f"{COLLECTION}/{pipeline_id}")


def _inputs(ctx: Context, task: Task, given: Mapping[str, Any]) -> Message:
    """The task's inputs as a message; the SDK writes them in mixed case, and numbers as floats."""
    try:
        return read(_TASKS[task], given["trainingTaskInputs"], package=PACKAGES[ctx.version], version=ctx.version)
    except GoogleError as error:
        error.message = (
            f"Unable to parse `training_pipeline.{INPUTS}` into {task} task `inputs` defined in the file: "
            f"{given['trainingTaskDefinition']}\n{error.message}"
        )
        raise


def _problems(task: Task, inputs: Message, region: str | None) -> Iterator[Violation]:
    yield from unset(inputs, INPUTS)
    given = inputs.canonical()
    if task == "custom":
        yield from broken(given, INPUTS, region)
    else:
        intent = TuningIntent(display_name="", **tuning_jobs.wanted(given))
        yield from tuning_jobs.problems(intent, f"{INPUTS}.", region)


def _told(told: PipelineView) -> Told:
    one = told.pipeline
    return Told(
        one.display_name,
        told.state,
        one.created_at,
        told.started_at,
        told.ended_at,
        told.updated_at,
        told.error,
        one.labels,
        one.encryption,
    )


def _facts(told: PipelineView) -> dict[str, Any]:
    definition = told.pipeline.request["trainingTaskDefinition"]
    return _told(told).facts() | {"training_task_definition": definition}


def shown(told: PipelineView) -> Answer:
    """The pipeline as TrainingPipeline."""
    one = told.pipeline
    scope = Scope("", one.account, one.region)
    behind = {
        "backingCustomJob": one.job_id and full(scope, CUSTOM_JOBS, one.job_id),
        "backingHyperparameterTuningJob": one.tuning_id and full(scope, tuning_jobs.COLLECTION, one.tuning_id),
        "bestTrialBackingCustomJob": told.best_job_id and full(scope, CUSTOM_JOBS, told.best_job_id),
    }
    metadata = {name: value for name, value in behind.items() if value}
    return {
        **one.request,
        "name": full(scope, COLLECTION, one.pipeline_id),
        **({"trainingTaskMetadata": metadata} if metadata else {}),
        **_told(told).members(),
    }


_LISTED = Listable[PipelineView](
    position=lambda told: (told.pipeline.number,),
    facts=_facts,
    shown=shown,
)
