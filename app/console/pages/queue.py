"""Who waits, in the order in which they are served, and why each does (FS-13)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup

from app.console.drawing.bars import parts
from app.console.figures import Figure, figure, reason_kind
from app.console.page import Page, PageOf
from app.core.job_labels import Home
from app.core.times import WorldTime, from_millis, millis
from app.store.db import Tx
from app.usecases import budgets, clocks, fleet_policies, known_clusters, listed_jobs, queues, workloads
from app.usecases.fleet_policies import Fleet
from app.usecases.queues import Queued
from app.usecases.workloads import Listed

router = APIRouter()
LIMIT = 200
MOST_PROTECTED = 30


@dataclass(frozen=True, slots=True)
class Line:
    """One that waits. `place` is its turn on its fleet, `waited` milliseconds."""

    place: int
    of: Queued
    where: str
    workload: str | None
    kind: str
    """The colour of its reason."""
    ratio: Figure | None
    ahead: Sequence[str]
    blocker: str | None
    waited: int
    earliest: WorldTime | None
    earliest_in: int | None


@dataclass(frozen=True, slots=True)
class Protected:
    """Funded work that nobody may evict until then."""

    of: Listed
    where: str
    gpus: int
    until: WorldTime
    for_ms: int


@dataclass(frozen=True, slots=True)
class FleetHead:
    """A fleet's GPUs by what they do."""

    name: str
    of: Fleet
    bar: Markup
    as_of: WorldTime | None
    due: Sequence[tuple[str, WorldTime]]
    """T of each reservation."""


@dataclass(frozen=True, slots=True)
class View:
    lines: Sequence[Line]
    is_cut: bool
    fleets: Sequence[FleetHead]
    protected: Sequence[Protected]
    cluster: str | None
    budget: str | None
    clusters: Sequence[str]
    budgets: Sequence[str]


@router.get("/queue")
async def show(page: PageOf) -> Response:
    """The queue."""
    cluster, budget = page.given.get("cluster") or None, page.given.get("budget") or None
    view = await page.db.run(_read, page, cluster, budget)
    return await page.answer("queue.html", view, title="Queue")


async def _read(tx: Tx, page: Page, cluster: str | None, budget: str | None) -> View:
    waiting = await queues.queue(tx, page.world, cluster, budget, LIMIT + 1)
    now = (await clocks.read(tx, page.world)).now
    living = await known_clusters.living(tx, page.world, cluster)
    home = Home(page.settings.default_account, page.settings.default_region)
    busy = [one for one in living if one.hosts]
    fleets = [await fleet_policies.show(tx, page.world, one.arn, home) for one in busy]
    if cluster is None:
        fleets += await fleet_policies.pools(tx, page.world, None)
    running = await workloads.listed(tx, page.world, cluster, None, ("running",), workloads.MOST_LISTED)
    every = living if cluster is None else await known_clusters.living(tx, page.world, None)
    told = [one.told for one in waiting if one.told is not None]
    ids = [name for one in told for name in (*one.ahead, one.blocker or "")]
    kept = [one.workload for fleet in fleets for one in fleet.reservations]
    names = await listed_jobs.shown(tx, page.world, [*ids, *kept])
    return View(
        lines=lines(waiting[:LIMIT], now, names),
        is_cut=len(waiting) > LIMIT,
        fleets=[fleet_head(one, names) for one in fleets],
        protected=protected(running, now),
        cluster=cluster,
        budget=budget,
        clusters=[one.name for one in every],
        budgets=[one.name for one in await budgets.nodes(tx, page.world)],
    )


def lines(waiting: Iterable[Queued], now: WorldTime, names: Mapping[str, str]) -> list[Line]:
    """Each with its turn on its own fleet. `names` are those of jobs by their ids."""
    turns: dict[str, int] = {}
    found = []
    for one in waiting:
        where = one.cluster.name if one.cluster is not None else one.pool or "quota of its region"
        turns[where] = turns.get(where, 0) + 1
        found.append(_line(one, where, turns[where], now, names))
    return found


def _line(one: Queued, where: str, place: int, now: WorldTime, names: Mapping[str, str]) -> Line:
    told = one.told
    is_of_fleet = one.cluster is not None or one.pool is not None
    earliest = None if told is None or told.earliest is None else from_millis(told.earliest)
    return Line(
        place=place,
        of=one,
        where=where,
        workload=one.name.rpartition("/")[2] if is_of_fleet else None,
        kind=reason_kind(one.reason),
        ratio=figure(told.ratios[-1][1]) if told is not None and told.ratios else None,
        ahead=[] if told is None else [names.get(each, each) for each in told.ahead],
        blocker=None if told is None or told.blocker is None else names.get(told.blocker, told.blocker),
        waited=max(0, millis(one.queued_at, now)),
        earliest=earliest,
        earliest_in=None if earliest is None else max(0, millis(now, earliest)),
    )


def fleet_head(one: Fleet, names: Mapping[str, str] | None = None) -> FleetHead:
    """The fleet in brief; `names` are those of jobs by their ids."""
    gpus = one.gpus
    values = (
        (gpus.allocated, "accent", "allocated"),
        (gpus.held, "busy", "held for who starts soon"),
        (gpus.free, "ok", "free"),
        (gpus.draining + gpus.drained, "warn", "draining or drained"),
    )
    label = f"{gpus.allocated:,} of {gpus.total:,} GPUs allocated, {gpus.free:,} free"
    return FleetHead(
        name=one.of.cluster or one.of.fleet,
        of=one,
        bar=parts(values, gpus.total, label),
        as_of=None if one.as_of is None else from_millis(one.as_of),
        due=[((names or {}).get(kept.workload, kept.workload), from_millis(kept.due)) for kept in one.reservations],
    )


def protected(running: Iterable[Listed], now: WorldTime) -> list[Protected]:
    """Whose protection lasts, the first to end first."""
    found = []
    for one in running:
        row = one.row
        if row.funded and row.protected_until is not None and (until := from_millis(row.protected_until)) > now:
            gpus = row.gpus * row.replicas
            found.append(Protected(one, one.of.cluster or one.of.fleet, gpus, until, millis(now, until)))
    return sorted(found, key=lambda one: (one.until, one.of.shown))[:MOST_PROTECTED]
