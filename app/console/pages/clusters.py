"""Clusters: what is wanted and what is, group by group."""

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup

from app.console.drawing import bars
from app.console.page import PageOf
from app.console.pages.events import Told, gathered
from app.core.times import WorldTime
from app.usecases import overviews
from app.usecases.overviews import ClusterState, GroupState, SeenEvent

router = APIRouter()
NEWEST = 60
MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Row:
    """A cluster in a list: `bar` compares what runs with what is wanted."""

    name: str
    account: str
    region: str
    orchestrator: str
    mode: str
    status: str
    created_at: WorldTime
    current: int
    target: int
    waiting: int
    failed: int
    gpus: int
    gpus_wanted: int
    groups: int
    bar: Markup
    error: str | None


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group of one cluster. `doing` says what happens to it now; `error` is the newest message of its nodes."""

    name: str
    status: str
    types: str
    role: str
    current: int
    target: int
    minimum: int
    waiting: int
    failed: int
    bar: Markup
    doing: str
    error: str | None


@dataclass(frozen=True, slots=True)
class Detail:
    """One cluster."""

    row: Row
    groups: list[GroupRow]
    newest: list[Told]
    failure: str | None
    backs_off: str | None


def row_of(cluster: ClusterState) -> Row:
    """The cluster in a list."""
    facts = cluster.facts
    running, wanted = cluster.gpus
    errors = [group.last_error for group in cluster.groups if group.last_error]
    return Row(
        name=facts.name,
        account=facts.account,
        region=facts.region,
        orchestrator=facts.orchestrator,
        mode="continuous" if facts.continuous else "classic",
        status=cluster.status,
        created_at=facts.created_at,
        current=cluster.current,
        target=cluster.target,
        waiting=cluster.waiting,
        failed=cluster.failed,
        gpus=running,
        gpus_wanted=wanted,
        groups=len(cluster.groups),
        bar=bar(cluster.current, cluster.waiting, cluster.failed, _nodes(cluster), cluster.target),
        error=facts.failure_message or (errors[0] if errors else None),
    )


def bar(current: int, waiting: int, failed: int, nodes: int, target: int) -> Markup:
    """What runs, is on its way, and fails, of what is wanted."""
    healthy = max(0, current - failed)
    coming = max(0, nodes - current - waiting)
    parts = [(healthy, "ok", "Running"), (coming, "wait", "On their way or out")]
    parts += [(waiting, "warn", "Waiting for a machine"), (failed, "bad", "Failed or unhealthy")]
    return bars.parts(parts, target, f"{current:,} of {target:,} nodes run")


def _nodes(cluster: ClusterState) -> int:
    return sum(group.nodes for group in cluster.groups)


def group_row(group: GroupState) -> GroupRow:
    """The group as its cluster's page shows it."""
    facts = group.facts
    return GroupRow(
        name=group.name,
        status=group.status,
        types=", ".join(facts.instance_types),
        role=facts.node_type or "",
        current=facts.current,
        target=facts.target,
        minimum=facts.minimum,
        waiting=group.waiting,
        failed=group.failed,
        bar=bar(facts.current, group.waiting, group.failed, group.nodes, facts.target),
        doing=doing(group),
        error=group.last_error,
    )


def doing(group: GroupState) -> str:
    """What happens to the group now."""
    facts = group.facts
    told = []
    if facts.delete_requested_at is not None:
        told.append("being deleted")
    elif facts.operation is not None:
        told.append(f"{facts.operation} under way")
    if facts.min_since is not None:
        told.append(f"MinCount {facts.minimum:,} not reached yet; rolls back after 3 h")
    if group.waiting:
        told.append(f"{group.waiting:,} waiting for a machine")
    others = [count for count in group.counts if count.status.value not in ("Running", "Failed")]
    told += [f"{count.nodes:,} {count.status.value.lower()}" for count in others]
    if facts.update_status is not None:
        told.append(f"software update {facts.update_status}")
    return "; ".join(told)


def view(cluster: ClusterState, newest: list[SeenEvent]) -> Detail:
    """One cluster's page."""
    groups = [group_row(group) for group in cluster.groups]
    told = gathered(newest)[:MOST_SHOWN]
    return Detail(row_of(cluster), groups, told, cluster.facts.failure_message, cluster.facts.error)


@router.get("/clusters")
async def show_clusters(page: PageOf) -> Response:
    """Every cluster of the world."""
    found = await page.db.run(overviews.clusters, page.world)
    return await page.answer("clusters.html", [row_of(one) for one in found], title="Clusters")


@router.get("/clusters/{name}")
async def show_cluster(page: PageOf, name: str) -> Response:
    """One cluster, with its groups."""
    found = await page.db.run(overviews.cluster, page.scope, name)
    newest = await page.db.run(overviews.events, page.world, cluster=found.facts.cluster_id, limit=NEWEST)
    return await page.answer("cluster.html", view(found, newest), title=found.name)
