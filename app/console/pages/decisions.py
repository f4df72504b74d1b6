"""What schedulers decided, with code and figures: the newest first (FS-13)."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.decisions import KINDS, Told, concerned, told
from app.console.page import Page, PageOf
from app.store.db import Tx
from app.usecases import fleet_policies, known_clusters, listed_jobs

router = APIRouter()
LIMIT = 200


@dataclass(frozen=True, slots=True)
class Line:
    """A decision, and the fleet whose it is."""

    of: Told
    where: str
    cluster: str | None
    workload: str | None
    """The name by which its page is found."""


@dataclass(frozen=True, slots=True)
class View:
    lines: Sequence[Line]
    cluster: str | None
    kind: str | None
    workload: str
    clusters: Sequence[str]
    kinds: Sequence[str]


@router.get("/decisions")
async def show(page: PageOf) -> Response:
    """The newest decisions, of one cluster, kind or workload if that is named."""
    return await page.answer("decisions.html", await page.db.run(_read, page), title="Decisions")


async def _read(tx: Tx, page: Page) -> View:
    cluster, kind, workload = (page.given.get(name, "").strip() or None for name in ("cluster", "kind", "workload"))
    kinds = () if kind is None or kind not in KINDS else (kind,)
    found = await fleet_policies.decisions(tx, page.world, cluster, workload, kinds, None, LIMIT)
    names = await listed_jobs.shown(tx, page.world, [name for one in found for name in concerned(one)])
    lines = [
        Line(told(one, shown=names), one.of.cluster or one.of.fleet, one.of.cluster, one.workload)
        for one in reversed(found)
    ]
    clusters = [one.name for one in await known_clusters.living(tx, page.world, None)]
    return View(lines, cluster, kind, workload or "", clusters, list(KINDS))
