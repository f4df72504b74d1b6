"""Custom jobs: create, get, list, delete, cancel (VX-18). They cannot be changed."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from app.core.google import GoogleOperation
from app.core.job import JobState, View, view
from app.core.job_labels import CLUSTER, Home
from app.core.listing_filter import Vocabulary
from app.core.scope import Scope
from app.core.times import WorldTime
from app.settings import Settings
from app.store.db import Tx
from app.usecases import jobs
from app.usecases.clusters import world_of
from app.wire.google.scalars import rfc3339
from app.wire.vertex import operations
from app.wire.vertex.constraints import common, enforce, unset
from app.wire.vertex.job_constraints import broken
from app.wire.vertex.listing import Listed, Listing, Position
from app.wire.vertex.messages.jobs import CustomJob
from app.wire.vertex.messages.requests import CreateCustomJobRequest, ListCustomJobsResponse, ListRequest, Named
from app.wire.vertex.names import full
from app.wire.vertex.rpc import JOBS, Context, rpc

COLLECTION = "customJobs"
JOB_LIST = Vocabulary(
    texts=frozenset({"display_name", "name"}),
    times=frozenset({"create_time", "start_time", "end_time", "update_time"}),
    states=frozenset(JobState),
)
Answer = dict[str, Any]


@rpc(JOBS, "POST customJobs", CreateCustomJobRequest, CustomJob, body="custom_job")
async def create_custom_job(ctx: Context, req: CreateCustomJobRequest) -> Answer:
    message = req.custom_job or CustomJob()
    given = message.canonical()
    spec = given.get("jobSpec", {})
    labels = given.get("labels", {})
    enforce(chain(unset(message, ""), common(given), broken(spec, "job_spec", region_of(ctx.scope, labels))))
    intent = jobs.JobIntent(
        display_name=given.get("displayName", ""),
        spec=spec,
        labels=labels,
        encryption=given.get("encryptionSpec", {}).get("kmsKeyName"),
        home=home(ctx.service.settings),
    )
    made = await ctx.service.db.run(jobs.create, ctx.scope, intent)
    return shown(view(made, made.created_at))


def region_of(scope: Scope, labels: Mapping[str, str]) -> str | None:
    """The region whose machines are meant; None: the nodes of a cluster are."""
    return None if CLUSTER in labels else scope.region


def home(settings: Settings) -> Home:
    """Where a label's cluster is looked for first (VX-24)."""
    return Home(settings.default_account, settings.default_region)


@rpc(JOBS, "GET customJobs/*", Named, CustomJob)
async def get_custom_job(ctx: Context, req: Named) -> Answer:
    job, world = await ctx.service.db.run(jobs.get, ctx.scope, ctx.name.id)
    return shown(view(job, world.now))


@rpc(JOBS, "GET customJobs", ListRequest, ListCustomJobsResponse)
async def list_custom_jobs(ctx: Context, req: ListRequest) -> Answer:
    listing = Listing[View](ctx, req, COLLECTION, of=CustomJob, vocabulary=JOB_LIST)

    async def fetch(after: Position | None, limit: int) -> list[View]:
        return await ctx.service.db.run(_page, ctx.scope, after[0] if after else None, limit)

    return await listing.answer(fetch, _entry)


@rpc(JOBS, "DELETE customJobs/*", Named)
async def delete_custom_job(ctx: Context, req: Named) -> Answer:
    return operations.shown(ctx, await ctx.service.db.run(_delete, ctx.scope, ctx.name.id))


@rpc(JOBS, "POST customJobs/*:cancel", Named, body="*")
async def cancel_custom_job(ctx: Context, req: Named) -> Answer:
    await ctx.service.db.run(jobs.cancel, ctx.scope, ctx.name.id)
    return {}


async def _page(tx: Tx, scope: Scope, before: int | None, limit: int) -> list[View]:
    now = (await world_of(tx, scope)).now
    return [view(job, now) for job in await jobs.listed(tx, scope, before, limit)]


async def _delete(tx: Tx, scope: Scope, job_id: str) -> GoogleOperation:
    await jobs.delete(tx, scope, job_id)
    return await operations.deleted(tx, scope, await world_of(tx, scope), f"{COLLECTION}/{job_id}")


def _entry(told: View) -> Listed:
    job = told.job
    resource = shown(told)
    facts = {
        "name": resource["name"],
        "display_name": job.display_name,
        "state": told.state,
        "create_time": told.created_at,
        "start_time": told.started_at,
        "end_time": told.ended_at,
        "update_time": told.updated_at,
        "labels": job.labels,
    }
    return Listed((job.number,), facts, resource)


def shown(told: View) -> Answer:
    """The job as CustomJob."""
    job = told.job
    return {
        "name": full(Scope("", job.account, job.region), COLLECTION, job.job_id),
        "displayName": job.display_name,
        "jobSpec": job.spec,
        "state": told.state,
        **instants(told.created_at, told.started_at, told.ended_at, told.updated_at),
        **extras(told.error, job.labels, job.encryption),
    }


def instants(
    created: WorldTime, started: WorldTime | None, ended: WorldTime | None, updated: WorldTime
) -> dict[str, str]:
    """The four instants that are told of a job, those that have come."""
    told = {"createTime": created, "startTime": started, "endTime": ended, "updateTime": updated}
    return {name: rfc3339(instant) for name, instant in told.items() if instant is not None}


def extras(error: tuple[int, str] | None, labels: Mapping[str, str], encryption: str | None) -> Answer:
    """What a job may have or not; `error` is a code of google.rpc.Code and its message."""
    told: Answer = {}
    if error is not None:
        told["error"] = {"code": error[0], "message": error[1]}
    if labels:
        told["labels"] = labels
    if encryption:
        told["encryptionSpec"] = {"kmsKeyName": encryption}
    return told
