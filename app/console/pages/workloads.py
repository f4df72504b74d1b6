"""Workloads: those there are, one that is submitted, taken back, or given another priority (CT-10)."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.deeds import Deed, command_line, httpx_lines
from app.console.forms import Form, FormOf
from app.console.page import Page, PageOf
from app.core.job_labels import Home
from app.core.own_workload import LONGEST_RUNTIME, MOST_PRIORITY, MOST_REPLICAS, Wanted
from app.core.times import WorldTime, from_millis
from app.store.db import Tx
from app.usecases import budgets, known_clusters, workloads
from app.usecases.workloads import Listed

router = APIRouter()
LIMIT = 200
STATUSES = ("new", "waiting", "held", "running", "leaving", "ended")
LONGEST_MINUTES = LONGEST_RUNTIME // 60_000
MOST_GPUS = 1024


@dataclass(frozen=True, slots=True)
class Line:
    """A workload in the list."""

    of: Listed
    where: str
    submitted: WorldTime
    started: WorldTime | None
    protected_until: WorldTime | None
    ended: WorldTime | None


@dataclass(frozen=True, slots=True)
class View:
    lines: Sequence[Line]
    is_cut: bool
    cluster: str | None
    budget: str | None
    status: str | None
    clusters: Sequence[str]
    leaves: Sequence[str]
    suggested: str
    """A name that no workload listed has."""


@router.get("/workloads")
async def show(page: PageOf) -> Response:
    """The list, and the form."""
    view = await page.db.run(_read, page)
    return await page.answer("workloads.html", view, title="Workloads")


async def _read(tx: Tx, page: Page) -> View:
    cluster, budget, status = (page.given.get(name) or None for name in ("cluster", "budget", "status"))
    wanted = (status,) if status in STATUSES else ()
    found = await workloads.listed(tx, page.world, cluster, budget, wanted, LIMIT + 1)
    leaves = [one.name for one in await budgets.nodes(tx, page.world) if one.is_leaf]
    names = [one.name for one in await known_clusters.living(tx, page.world, None)]
    shown = [line(one) for one in found[:LIMIT]]
    taken = {one.row.name for one in found}
    suggested = next(name for number in range(1, LIMIT + 3) if (name := f"demo-{number}") not in taken)
    return View(shown, len(found) > LIMIT, cluster, budget, status, names, leaves, suggested)


def line(one: Listed) -> Line:
    """The workload with its times; who never was protected has no end of it."""
    row = one.row
    protected = None if row.protected_until in (None, row.bound_at) else row.protected_until
    return Line(
        of=one,
        where=one.of.cluster or one.of.fleet,
        submitted=from_millis(row.submit),
        started=_time(row.bound_at),
        protected_until=_time(protected),
        ended=_time(row.ended_at),
    )


def _time(at: int | None) -> WorldTime | None:
    return None if at is None else from_millis(at)


@router.post("/do/workload/submit")
async def submit(page: PageOf, form: FormOf) -> Response:
    """Submit one to a cluster's scheduler."""
    cluster, wanted = form.optional("cluster"), read_wanted(form)
    home = Home(page.settings.default_account, page.settings.default_region)
    work = page.db.run(workloads.submit, page.world, cluster, wanted, home)
    return await page.perform(
        submit_deed(page, cluster, wanted),
        work,
        lambda made: f"It waits on {made.of.cluster}; the scheduler looks at it within a second of the world's time.",
    )


def read_wanted(form: Form) -> Wanted:
    """What the form asks for; durations are given in minutes, 0 and empty are none."""
    runtime = form.whole("runtime_minutes", 0, LONGEST_MINUTES, 0)
    checkpoint = form.whole("checkpoint_minutes", 0, LONGEST_MINUTES, 0)
    return Wanted(
        name=form.text("name", 63),
        gpus=form.whole("gpus", 1, MOST_GPUS),
        replicas=form.whole("replicas", 1, MOST_REPLICAS, 1),
        budget=form.optional("budget"),
        min_runtime=form.whole("min_runtime_minutes", 0, LONGEST_MINUTES, 0) * 60_000,
        runtime=runtime * 60_000 or None,
        checkpoint=checkpoint * 60_000 or None,
        priority=form.whole("priority", 0, MOST_PRIORITY, 0),
    )


def submit_deed(page: Page, cluster: str | None, wanted: Wanted) -> Deed:
    """The same by the other ways."""
    words = ["workload", "submit", wanted.name, "--gpus", str(wanted.gpus)]
    body: dict[str, object] = {"name": wanted.name, "gpus": wanted.gpus}
    replicas, priority = wanted.replicas if wanted.replicas > 1 else None, wanted.priority or None
    plain = {"replicas": replicas, "cluster": cluster, "budget": wanted.budget, "priority": priority}
    for name, value in plain.items():
        if value is not None:
            words += [f"--{name}", str(value)]
            body[name] = value
    times = {"min_runtime": wanted.min_runtime or None, "runtime": wanted.runtime, "checkpoint": wanted.checkpoint}
    for name, duration in times.items():
        if duration is not None:
            words += [f"--{name.replace('_', '-')}", f"{duration // 60_000}m"]
            body[f"{name}_seconds"] = duration // 1000
    return Deed(
        f"Submit workload {wanted.name}",
        command_line(page.world, *words),
        httpx_lines(page.endpoint, "POST", "workloads", body),
    )


@router.post("/do/workload/cancel")
async def cancel(page: PageOf, form: FormOf) -> Response:
    """Take it back."""
    name, cluster = form.text("name", 128), form.optional("cluster")
    deed = Deed(
        f"Cancel workload {name}",
        command_line(page.world, "workload", "cancel", name, *_of(cluster)),
        httpx_lines(page.endpoint, "POST", f"workloads/{page.part(name)}/cancel{_query(page, cluster)}"),
    )
    return await page.perform(
        deed, page.db.run(workloads.cancel, page.world, cluster, name), "It ends in the next pass."
    )


@router.post("/do/workload/priority")
async def prioritise(page: PageOf, form: FormOf) -> Response:
    """Give it another priority within its budget."""
    name, cluster = form.text("name", 128), form.optional("cluster")
    value = form.whole("priority", 0, MOST_PRIORITY)
    path = f"workloads/{page.part(name)}{_query(page, cluster)}"
    deed = Deed(
        f"Give workload {name} priority {value}",
        command_line(page.world, "workload", "priority", name, str(value), *_of(cluster)),
        httpx_lines(page.endpoint, "PATCH", path, {"priority": value}),
    )
    work = page.db.run(workloads.prioritise, page.world, cluster, name, value)
    return await page.perform(deed, work, "From the next pass on it has that place within its budget.")


def _of(cluster: str | None) -> tuple[str, ...]:
    return () if cluster is None else ("--cluster", cluster)


def _query(page: Page, cluster: str | None) -> str:
    return "" if cluster is None else f"?cluster={page.part(cluster)}"
