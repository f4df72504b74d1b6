"""Custom jobs of all projects and regions, and one of them with its workers (VX-7, VX-16)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.deeds import Deed
from app.console.forms import FormOf
from app.console.page import Page, PageOf
from app.core.job import FINAL, Job, JobState, job_name
from app.core.replica import Replica, Worker
from app.core.scope import DEFAULT_WORLD, Scope
from app.core.times import WorldTime, millis
from app.store.db import Tx
from app.usecases import clocks, jobs, known_clusters, listed_jobs
from app.usecases.jobs import Inspected
from app.usecases.listed_jobs import Seen

router = APIRouter()
LIMIT = 200
STATES = {state.removeprefix("JOB_STATE_").lower(): state for state in JobState}
_WORKERS = {
    Worker.RUNNING: "ok",
    Worker.DONE: "ok",
    Worker.WAITING: "wait",
    Worker.RESTARTING: "bad",
    Worker.STOPPING: "warn",
    Worker.STOPPED: "off",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A job in the list; `where` is the cluster, the managed pool or the region that it runs in."""

    job: Job
    state: str
    where: str
    cluster: str | None


@dataclass(frozen=True, slots=True)
class ListView:
    lines: Sequence[Line]
    is_cut: bool
    text: str
    state: str | None
    states: Sequence[str]


@dataclass(frozen=True, slots=True)
class WorkerLine:
    """A worker, its colour, and since when it has waited for a machine."""

    of: Replica
    kind: str
    machine: str | None
    waiting: int | None


@dataclass(frozen=True, slots=True)
class View:
    job: Job
    name: str
    state: str
    cluster: str | None
    ran_ms: int
    queued_ms: int
    """How long it has queued, or did."""
    workers: Sequence[WorkerLine]
    counts: Mapping[str, int]
    """How many workers are in which state."""
    may_cancel: bool
    pools: Sequence[Mapping[str, Any]]


@router.get("/jobs")
async def show_list(page: PageOf) -> Response:
    """The list."""
    text, chosen = page.given.get("text", ""), page.given.get("state") or None
    wanted = JobState(STATES[chosen]) if chosen in STATES else None
    found = await page.db.run(listed_jobs.listed, page.world, text[:128], wanted, LIMIT + 1)
    lines = [_line(one) for one in found[:LIMIT]]
    view = ListView(lines, len(found) > LIMIT, text, chosen, list(STATES))
    return await page.answer("jobs.html", view, title="Jobs")


def _line(one: Seen) -> Line:
    where = one.cluster or one.job.fleet or one.job.region
    return Line(one.job, shown_state(one.state), where, one.cluster)


def shown_state(state: JobState) -> str:
    """`RUNNING`."""
    return state.removeprefix("JOB_STATE_")


@router.get("/jobs/{job}")
async def show(page: PageOf, job: str) -> Response:
    """One job, by its id or display name."""
    view = await page.db.run(_read, page.world, job)
    return await page.answer("job.html", view, title=f"Job {view.job.display_name}")


async def _read(tx: Tx, world: str, name: str) -> View:
    found = await jobs.inspect(tx, world, name)
    living = await known_clusters.living(tx, world, None)
    job = found.job
    mine = (one.name for one in living if one.cluster_id == job.fleet and one.account == job.fleet_account)
    return view(found, next(mine, None), (await clocks.read(tx, world)).now)


def view(found: Inspected, cluster: str | None, now: WorldTime) -> View:
    """All that the page shows."""
    job = found.job
    workers = [_worker(one, now) for one in found.replicas]
    counts: dict[str, int] = {}
    for one in found.replicas:
        counts[one.status] = counts.get(one.status, 0) + 1
    return View(
        job=job,
        name=job_name(job.account, job.region, job.job_id),
        state=shown_state(found.state),
        cluster=cluster,
        ran_ms=found.ran_ms,
        queued_ms=max(0, millis(job.queued_at, job.admitted_at or job.ended_at or now)),
        workers=workers,
        counts=counts,
        may_cancel=found.state not in (*FINAL, JobState.CANCELLING) and job.ended_at is None,
        pools=list(job.spec.get("workerPoolSpecs", ())),
    )


def _worker(one: Replica, now: WorldTime) -> WorkerLine:
    waiting = None if one.waiting_since is None else max(0, millis(one.waiting_since, now))
    return WorkerLine(one, _WORKERS.get(one.status, "busy"), one.node or one.machine, waiting)


@router.post("/do/job/cancel")
async def cancel(page: PageOf, form: FormOf) -> Response:
    """Ask for the job's end."""
    name = form.text("name", 300)
    work = page.db.run(_cancel, page.world, name)
    return await page.perform(
        _deed(page, name), work, "It stops, and is told as cancelled when its workers have stopped."
    )


async def _cancel(tx: Tx, world: str, name: str) -> None:
    job = await jobs.named(tx, world, name.rpartition("/")[2])
    await jobs.cancel(tx, Scope(world, job.account, job.region), job.job_id)


def _deed(page: Page, name: str) -> Deed:
    """As Google's REST API and its Python client take it; `windtunnel` has no verb of its own for jobs of Google's."""
    region = name.split("/")[3] if name.count("/") >= 5 else ""
    world = "" if page.world == DEFAULT_WORLD else f"/w/{page.world}"
    base = page.endpoint.removesuffix(world)
    curl = f"curl -X POST -H 'content-type: application/json' -d '{{}}' {page.endpoint}/v1/{name}:cancel"
    python = (
        "from google.cloud import aiplatform_v1\n\n"
        f'# eval "$(windtunnel env --world {page.world})" points Google\'s client at {base}\n'
        'jobs = aiplatform_v1.JobServiceClient(transport="rest", client_options={"api_endpoint": '
        f'"{page.endpoint}"}})\n'
        f'jobs.cancel_custom_job(name="{name}")  # region {region}'
    )
    return Deed("Cancel the job", curl, python)
