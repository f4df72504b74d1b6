"""Nodes: all of a cluster at once, and one with what happened to it."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup

from app.console import standing
from app.console.drawing import grid
from app.console.drawing.grid import Block
from app.console.page import Page, PageOf
from app.console.pages.events import Told, told_of
from app.console.paging import Paging
from app.core.instance import Instance
from app.core.scope import Scope
from app.core.times import WorldTime, millis
from app.usecases import clocks, overviews
from app.usecases.overviews import ClusterState, SeenEvent, SeenNode

router = APIRouter()
SIZE = 100
NEWEST = 200
Address = Callable[[str], str]
"""A node's page by its logical id, or a group's by its name."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value to filter by, and how many nodes have it."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class NodesView:
    """The nodes of a cluster that fit a filter: drawn all, listed by pages."""

    cluster: str
    clusters: list[ClusterState]
    drawing: Markup
    kinds: list[tuple[str, str, int]]
    groups: list[Choice]
    zones: list[Choice]
    states: list[Choice]
    listed: Sequence[SeenNode]
    total: int
    paging: Paging


@dataclass(frozen=True, slots=True)
class Filter:
    """What nodes are looked at; what is empty lets all through."""

    group: str = ""
    zone: str = ""
    state: str = ""

    def fits(self, node: SeenNode) -> bool:
        return self.group in ("", node.group) and self.zone in ("", node.zone or "") and self.state in ("", node.status)


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node; `age` in milliseconds since it has stood so."""

    cluster: str
    node: Instance
    status: str
    kind: str
    letter: str
    age: int
    events: list[Told]


def view(
    clusters: list[ClusterState],
    cluster: str,
    nodes: Sequence[SeenNode],
    wanted: Filter,
    skipped: int,
    addresses: tuple[Address, Address],
) -> NodesView:
    """The nodes of `cluster` that are wanted; `addresses` are those of a node and of a group."""
    found = [node for node in nodes if wanted.fits(node)]
    kinds = Counter(standing.kind_of(node.status) for node in found)
    return NodesView(
        cluster=cluster,
        clusters=clusters,
        drawing=draw(found, *addresses),
        kinds=[(kind, standing.MEANINGS[kind], kinds[kind]) for kind in grid.KINDS if kinds[kind]],
        groups=_choices(node.group for node in nodes),
        zones=_choices(node.zone for node in nodes if node.zone),
        states=_choices(node.status.value for node in nodes),
        listed=found[skipped : skipped + SIZE],
        total=len(nodes),
        paging=Paging(skipped, SIZE, len(found)),
    )


def _choices(values: Iterable[str]) -> list[Choice]:
    return [Choice(value, count) for value, count in sorted(Counter(values).items())]


def draw(nodes: Sequence[SeenNode], node_address: Address, group_address: Address) -> Markup:
    """All of them, group by group."""
    linked = len(nodes) <= grid.MOST_LINKS
    blocks = []
    for name, members in groupby(nodes, lambda node: node.group):
        group = list(members)
        cells = [(standing.kind_of(node.status), standing.letter_of(node.status)) for node in group]
        links = [(node_address(node.logical_id), _title(node)) for node in group] if linked else []
        blocks.append(Block(name, group_address(name), cells, links))
    return grid.grid(blocks, f"{len(nodes):,} nodes")


def _title(node: SeenNode) -> str:
    return f"{node.group} {node.ordinal}: {node.status.value}" + (f" in {node.zone}" if node.zone else "")


@router.get("/nodes")
async def show_nodes(
    page: PageOf, cluster: str = "", group: str = "", zone: str = "", state: str = "", skip: int = 0
) -> Response:
    """The nodes of one cluster: of the newest if none is named."""
    clusters = await page.db.run(overviews.clusters, page.world)
    scope, name = _chosen(page, clusters, cluster)
    nodes = await page.db.run(overviews.all_nodes, scope, name) if name else []
    where = _where(page, scope)
    base = page.url(f"nodes/{page.part(name)}") if name else ""
    query = page.url("", **where).partition("?")[2]

    def node_address(logical_id: str) -> str:
        return f"{base}/{page.part(logical_id)}" + (f"?{query}" if query else "")

    def group_address(title: str) -> str:
        return page.url("nodes", cluster=name, group=title, **where)

    wanted = Filter(group, zone, state)
    shown = view(clusters, name, nodes, wanted, max(0, skip), (node_address, group_address))
    return await page.answer("nodes.html", shown, title="Nodes")


def _chosen(page: Page, clusters: list[ClusterState], name: str) -> tuple[Scope, str]:
    """The scope and name of the cluster to show; no name without any cluster."""
    if name or not clusters:
        return page.scope, name
    facts = clusters[0].facts
    return Scope(page.world, facts.account, facts.region), facts.name


def _where(page: Page, scope: Scope) -> dict[str, str]:
    settings = page.settings
    if (scope.account, scope.region) == (settings.default_account, settings.default_region):
        return {}
    return {"account": scope.account, "region": scope.region}


@router.get("/nodes/{cluster}/{node_id}")
async def show_node(page: PageOf, cluster: str, node_id: str) -> Response:
    """One node, with all that happened to it."""
    node = await page.db.run(overviews.node, page.scope, cluster, node_id)
    events = await page.db.run(overviews.events, page.world, cluster=cluster, node=node.logical_id, limit=NEWEST)
    now = (await page.db.run(clocks.read, page.world)).now
    return await page.answer("node.html", view_node(cluster, node, events, now), title=node.logical_id)


def view_node(cluster: str, node: Instance, events: Sequence[SeenEvent], now: WorldTime) -> NodeView:
    """One node's page."""
    return NodeView(
        cluster=cluster,
        node=node,
        status=node.status.value,
        kind=standing.kind_of(node.status),
        letter=standing.letter_of(node.status),
        age=millis(node.since, now),
        events=[told_of(seen) for seen in events],
    )
