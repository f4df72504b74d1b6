"""The first page: what runs, what it costs, what waits, what is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.page import PageOf
from app.console.pages.clusters import Row, row_of
from app.console.pages.events import Told, gathered
from app.core.faults import Rule
from app.usecases import faults, overviews
from app.usecases.overviews import WorldState

router = APIRouter()
NEWEST = 60
MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Overview:
    """The four figures, the clusters, and what happened last. Money in micro-dollars."""

    gpus_running: int
    gpus_wanted: int
    gpus_held: int
    workers: int
    micro_usd_per_hour: int
    spent: int
    waiting: int
    waiting_for: str
    faults: int
    hits: int
    clusters: list[Row]
    newest: list[Told]


def view(world: WorldState, rules: Sequence[Rule]) -> Overview:
    """The overview of a world with its fault rules."""
    each = [cluster.gpus for cluster in world.clusters]
    nodes = sum(cluster.waiting for cluster in world.clusters)
    totals = world.totals
    kinds = (
        (nodes, "node for a machine", "nodes for machines"),
        (totals.workloads_waiting, "workload for GPUs", "workloads for GPUs"),
        (totals.jobs_queued, "job for quota", "jobs for quota"),
    )
    return Overview(
        gpus_running=sum(running for running, _ in each),
        gpus_wanted=sum(wanted for _, wanted in each),
        gpus_held=totals.gpus_held,
        workers=totals.workers,
        micro_usd_per_hour=totals.micro_usd_per_hour,
        spent=world.spent,
        waiting=sum(number for number, _, _ in kinds),
        waiting_for=", ".join(f"{number:,} {one if number == 1 else more}" for number, one, more in kinds if number),
        faults=sum(not rule.is_spent for rule in rules),
        hits=sum(rule.hits for rule in rules),
        clusters=[row_of(cluster) for cluster in world.clusters],
        newest=gathered(world.newest)[:MOST_SHOWN],
    )


@router.get("")
async def show_overview(page: PageOf) -> Response:
    """The overview."""
    found = await page.db.run(overviews.whole, page.world, NEWEST)
    rules = await page.db.run(faults.listed, page.world)
    return await page.answer("overview.html", view(found, rules), title="Overview")
