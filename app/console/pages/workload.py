"""One workload: where it is, why it stands where it stands, and all that was decided about it (FS-13)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.decisions import Told, concerned, told
from app.console.figures import Figure, figure, reason_kind
from app.console.page import Page, PageOf
from app.console.pages.workloads import Line, line
from app.core.job import job_name
from app.core.times import WorldTime, from_millis, millis
from app.store.db import Tx
from app.usecases import clocks, explanations, listed_jobs
from app.usecases.explanations import Standing

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Rival:
    """The workload's budget, as if it ran, beside the sibling furthest ahead that holds work which is over."""

    own: str
    own_ratio: Figure | None
    other: str
    other_ratio: Figure | None
    yields: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Replicas of the gang on a node."""

    node: str
    replicas: int
    gpus: int
    is_held: bool
    """Others have their grace there still."""


@dataclass(frozen=True, slots=True)
class View:
    line: Line
    of: Standing
    job: str | None
    """The custom job's full name."""
    kind: str
    as_of: WorldTime | None
    waited: int | None
    """Milliseconds until it first started, or until now."""
    ratios: Sequence[tuple[str, Figure | None]]
    rivals: Sequence[Rival]
    places: Sequence[Place]
    ahead: Sequence[str]
    blocker: str | None
    earliest: WorldTime | None
    starts: WorldTime | None
    leaves: WorldTime | None
    kept: tuple[Sequence[str], WorldTime, WorldTime] | None
    """The hosts that are reserved for it, since when, and T."""
    decisions: Sequence[Told]


@router.get("/workloads/{name}")
async def show(page: PageOf, name: str) -> Response:
    """The workload by its name, or by its job's id or display name."""
    view = await page.db.run(_read, page, name)
    return await page.answer("workload.html", view, title=f"Workload {view.line.of.shown}")


async def _read(tx: Tx, page: Page, name: str) -> View:
    found = await explanations.stand(tx, page.world, page.given.get("cluster") or None, name)
    told_of = [each for one in found.decisions for each in concerned(one)]
    if found.why.told is not None:
        told_of += [*found.why.told.ahead, found.why.told.blocker or ""]
    names = await listed_jobs.shown(tx, page.world, told_of)
    return view(found, (await clocks.read(tx, page.world)).now, names)


def view(found: Standing, now: WorldTime, names: Mapping[str, str]) -> View:
    """All that the page shows."""
    row, why, runs = found.listed.row, found.why.told, found.listed.row.bound_at is not None
    first = now if row.first_bound_at is None else from_millis(row.first_bound_at)
    never_ran = row.first_bound_at is None and row.ended_at is not None
    kept = found.reservation
    return View(
        line=line(found.listed),
        of=found,
        job=None if row.job is None else job_name(*row.job),
        kind=reason_kind(found.why.reason) if row.ended_at is None else "off",
        as_of=_time(found.as_of or None),
        waited=None if never_ran else max(0, millis(from_millis(row.submit), first)),
        ratios=[] if why is None else [(name, figure(ratio)) for name, ratio in why.ratios],
        rivals=[
            Rival(one.own, figure(one.own_ratio), one.other, figure(one.other_ratio), one.yields)
            for one in found.rivals
        ],
        places=_places(found),
        ahead=[] if why is None else [names.get(each, each) for each in why.ahead],
        blocker=None if why is None or why.blocker is None else names.get(why.blocker, why.blocker),
        earliest=None if why is None or runs else _time(why.earliest),
        starts=_time(found.starts_at),
        leaves=_time(found.leaves_at),
        kept=None if kept is None else (kept.hosts, from_millis(kept.since), from_millis(kept.due)),
        decisions=[told(one, row.name, names) for one in reversed(found.decisions)],
    )


def _places(found: Standing) -> list[Place]:
    gpus = found.listed.row.gpus
    held = [Place(node, count, count * gpus, True) for node, count in sorted(found.claim.items())]
    return [Place(node, count, count * gpus, False) for node, count in sorted(found.places.items())] + held


def _time(at: int | None) -> WorldTime | None:
    return None if at is None else from_millis(at)
