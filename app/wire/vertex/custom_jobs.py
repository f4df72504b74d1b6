"""Custom jobs: create, get, list, delete, cancel (VX-18). They cannot be changed."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from app.core.google import GoogleOperation
from app.core.job import View, view
from app.core.job_labels import CLUSTER, Home
from app.core.scope import Scope
from app.settings import Settings
from app.store.db import Tx
from app.usecases import jobs
from app.usecases.clusters import world_of
from app.wire.vertex import operations
from app.wire.vertex.constraints import common, enforce, unset
from app.wire.vertex.job_constraints import broken
from app.wire.vertex.listing import Listable, Listing, Position
from app.wire.vertex.messages.jobs import CustomJob
from app.wire.vertex.messages.requests import CreateCustomJobRequest, ListCustomJobsResponse, ListRequest, Named
from app.wire.vertex.names import full
from app.wire.vertex.rpc import JOBS, Context, rpc
from app.wire.vertex.telling import JOB_LIST, Told

COLLECTION = "customJobs"
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

    return await listing.answer(fetch, _LISTED)


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


def _told(told: View) -> Told:
    job = told.job
    return Told(
        job.display_name,
        told.state,
        told.created_at,
        told.started_at,
        told.ended_at,
        told.updated_at,
        told.error,
        job.labels,
        job.encryption,
    )


def shown(told: View) -> Answer:
    """The job as CustomJob."""
    job = told.job
    name = full(Scope("", job.account, job.region), COLLECTION, job.job_id)
    return {"name": name, "jobSpec": job.spec, **_told(told).members()}


_LISTED = Listable[View](
    position=lambda told: (told.job.number,),
    facts=lambda told: _told(told).facts(),
    shown=shown,
)
