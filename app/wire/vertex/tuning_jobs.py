"""Hyperparameter tuning jobs, with their trials inside (VX-18, VX-21)."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from app.core.google import GoogleOperation
from app.core.reports import Measurement
from app.core.scope import Scope
from app.store.db import Tx
from app.usecases import tuning
from app.usecases.clusters import world_of
from app.usecases.tuning import TrialView, TuningIntent, TuningView
from app.wire.google.errors import Violation
from app.wire.vertex import operations
from app.wire.vertex.constraints import common, enforce, unset
from app.wire.vertex.custom_jobs import COLLECTION as CUSTOM_JOBS
from app.wire.vertex.custom_jobs import home, region_of
from app.wire.vertex.job_constraints import broken
from app.wire.vertex.listing import Listable, Listing, Position
from app.wire.vertex.messages.requests import (
    CreateHyperparameterTuningJobRequest,
    ListHyperparameterTuningJobsResponse,
    ListRequest,
    Named,
)
from app.wire.vertex.messages.tuning import HyperparameterTuningJob
from app.wire.vertex.names import full
from app.wire.vertex.rpc import JOBS, Context, rpc
from app.wire.vertex.telling import JOB_LIST, Told, instants

COLLECTION = "hyperparameterTuningJobs"
Answer = dict[str, Any]


@rpc(
    JOBS,
    "POST hyperparameterTuningJobs",
    CreateHyperparameterTuningJobRequest,
    HyperparameterTuningJob,
    body="hyperparameter_tuning_job",
)
async def create_hyperparameter_tuning_job(ctx: Context, req: CreateHyperparameterTuningJobRequest) -> Answer:
    message = req.hyperparameter_tuning_job or HyperparameterTuningJob()
    given = message.canonical()
    intent = TuningIntent(
        display_name=given.get("displayName", ""),
        labels=given.get("labels", {}),
        encryption=given.get("encryptionSpec", {}).get("kmsKeyName"),
        home=home(ctx.service.settings),
        **wanted(given),
    )
    enforce(chain(unset(message, ""), common(given), problems(intent, "", region_of(ctx.scope, intent.labels))))
    return shown(await ctx.service.db.run(tuning.create, ctx.scope, intent))


@rpc(JOBS, "GET hyperparameterTuningJobs/*", Named, HyperparameterTuningJob)
async def get_hyperparameter_tuning_job(ctx: Context, req: Named) -> Answer:
    return shown(await ctx.service.db.run(tuning.get, ctx.scope, ctx.name.id))


@rpc(JOBS, "GET hyperparameterTuningJobs", ListRequest, ListHyperparameterTuningJobsResponse)
async def list_hyperparameter_tuning_jobs(ctx: Context, req: ListRequest) -> Answer:
    listing = Listing[TuningView](ctx, req, COLLECTION, of=HyperparameterTuningJob, vocabulary=JOB_LIST)

    async def fetch(after: Position | None, limit: int) -> list[TuningView]:
        return await ctx.service.db.run(tuning.listed, ctx.scope, after[0] if after else None, limit)

    return await listing.answer(fetch, _LISTED)


@rpc(JOBS, "DELETE hyperparameterTuningJobs/*", Named)
async def delete_hyperparameter_tuning_job(ctx: Context, req: Named) -> Answer:
    return operations.shown(ctx, await ctx.service.db.run(_delete, ctx.scope, ctx.name.id))


@rpc(JOBS, "POST hyperparameterTuningJobs/*:cancel", Named, body="*")
async def cancel_hyperparameter_tuning_job(ctx: Context, req: Named) -> Answer:
    await ctx.service.db.run(tuning.cancel, ctx.scope, ctx.name.id)
    return {}


async def _delete(tx: Tx, scope: Scope, tuning_id: str) -> GoogleOperation:
    await tuning.delete(tx, scope, tuning_id)
    return await operations.deleted(tx, scope, await world_of(tx, scope), f"{COLLECTION}/{tuning_id}")


def wanted(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the canonical resource, or the task of a pipeline, says of the study, for its TuningIntent."""
    return {
        "study_spec": given.get("studySpec", {}),
        "trial_job_spec": given.get("trialJobSpec", {}),
        "max_trials": given.get("maxTrialCount", 0),
        "parallel_trials": given.get("parallelTrialCount", 0),
        "max_failed": given.get("maxFailedTrialCount", 0),
    }


def problems(intent: TuningIntent, path: str, region: str | None) -> Iterator[Violation]:
    """What is wrong with the study and with the trials' job; `path` is where both are, with a full stop, or empty."""
    yield from (Violation(path + field, told) for field, told in tuning.study_problems(intent))
    yield from broken(intent.trial_job_spec, f"{path}trial_job_spec", region)


def _told(told: TuningView) -> Told:
    one = told.tuning
    return Told(
        one.display_name,
        told.state,
        one.created_at,
        one.started_at,
        one.ended_at,
        one.updated_at,
        told.error,
        one.labels,
        one.encryption,
    )


def shown(told: TuningView) -> Answer:
    """The job as HyperparameterTuningJob."""
    one = told.tuning
    scope = Scope("", one.account, one.region)
    limit = {"maxFailedTrialCount": one.max_failed} if one.max_failed else {}
    trials = {"trials": [_trial(scope, each) for each in told.trials]} if told.trials else {}
    return {
        "name": full(scope, COLLECTION, one.tuning_id),
        "studySpec": one.study_spec,
        "maxTrialCount": one.max_trials,
        "parallelTrialCount": one.parallel_trials,
        **limit,
        "trialJobSpec": one.trial_job_spec,
        **trials,
        **_told(told).members(),
    }


def _trial(scope: Scope, told: TrialView) -> Answer:
    one = told.trial
    made: Answer = {
        "id": str(one.number),
        "state": told.state,
        "parameters": [{"parameterId": name, "value": value} for name, value in told.parameters],
        "measurements": [_measurement(each) for each in told.measurements],
        **instants(startTime=one.started_at, endTime=one.ended_at),
        "infeasibleReason": one.reason,
    }
    if one.final is not None:
        made["finalMeasurement"] = _measurement(one.final)
    if one.job_id is not None:
        made["customJob"] = full(scope, CUSTOM_JOBS, one.job_id)
    return {name: value for name, value in made.items() if value}


def _measurement(one: Measurement) -> Answer:
    return {
        "elapsedDuration": f"{one.elapsed_ms / 1000:.3f}s",
        "stepCount": str(one.step),
        "metrics": [{"metricId": name, "value": value} for name, value in one.metrics.items()],
    }


_LISTED = Listable[TuningView](
    position=lambda told: (told.tuning.number,),
    facts=lambda told: _told(told).facts(),
    shown=shown,
)
