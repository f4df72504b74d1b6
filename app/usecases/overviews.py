"""A world as a person looks at it: all its clusters, nodes, events and costs, of every account and region."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app import catalog
from app.core.cluster import cluster_status, group_status
from app.core.cluster_events import KINDS, description
from app.core.errors import Invalid
from app.core.instance import Instance
from app.core.metering import charge
from app.core.node import COUNTED, Node
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import clusters as store
from app.store import instances, overviews
from app.store.db import Tx
from app.store.overviews import Count, SeenCluster, SeenEvent, SeenGroup, SeenNode, Totals
from app.usecases import nodes
from app.usecases.clusters import must_get, unknown, world_of

__all__ = ["Count", "SeenCluster", "SeenEvent", "SeenGroup", "SeenNode"]
LEVELS = ("Info", "Warn", "Error")


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group: what is wanted, what is, and how its nodes stand."""

    facts: SeenGroup
    status: str
    counts: Sequence[Count]

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def nodes(self) -> int:
        """Places in the group, whatever they are at."""
        return sum(count.nodes for count in self.counts)

    @property
    def waiting(self) -> int:
        """Nodes that wait for a machine."""
        return sum(count.waiting for count in self.counts)

    @property
    def failed(self) -> int:
        """Nodes whose attempts fail, waiting ones aside, and those that are ill."""
        bad = sum(count.nodes - count.waiting for count in self.counts if count.status is Node.FAILED)
        return bad + sum(count.nodes for count in self.counts if count.status in (Node.ILL, Node.UNPATCHED, Node.STUCK))

    @property
    def last_error(self) -> str | None:
        """The newest message of any of its nodes, as it was."""
        told = [(count.since, count.message) for count in self.counts if count.message and count.since]
        return max(told, default=(None, None))[1]

    @property
    def gpus(self) -> tuple[int, int]:
        """Accelerators of its nodes that run, and of all that are wanted (by its first type)."""
        running = sum(
            count.nodes * accelerators(count.instance_type) for count in self.counts if count.status in COUNTED
        )
        return running, self.facts.target * accelerators(self.facts.instance_types[0])


@dataclass(frozen=True, slots=True)
class ClusterState:
    """A cluster with its groups."""

    facts: SeenCluster
    status: str
    groups: Sequence[GroupState]

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def target(self) -> int:
        return sum(group.facts.target for group in self.groups)

    @property
    def current(self) -> int:
        return sum(group.facts.current for group in self.groups)

    @property
    def waiting(self) -> int:
        return sum(group.waiting for group in self.groups)

    @property
    def failed(self) -> int:
        return sum(group.failed for group in self.groups)

    @property
    def gpus(self) -> tuple[int, int]:
        """Accelerators that run, and those that are wanted."""
        each = [group.gpus for group in self.groups]
        return sum(running for running, _ in each), sum(wanted for _, wanted in each)


@dataclass(frozen=True, slots=True)
class WorldState:
    """All clusters of a world, sums over it, and what it has cost so far, in micro-dollars."""

    clusters: Sequence[ClusterState]
    totals: Totals
    spent: int
    newest: Sequence[SeenEvent]


def accelerators(instance_type: str) -> int:
    """How many GPUs a machine of the type has; a Trainium chip counts as one."""
    kind = catalog.instance_types().get(instance_type)
    return 0 if kind is None or kind.gpu is None else kind.accelerators


async def clusters(tx: Tx, world: str) -> list[ClusterState]:
    """The living clusters, the newest first."""
    await world_of(tx, Scope(world, "", ""))
    counts, groups = await overviews.counts(tx, world), await overviews.groups(tx, world)
    return [_state(one, groups, counts) for one in await overviews.clusters(tx, world)]


async def cluster(tx: Tx, scope: Scope, name: str) -> ClusterState:
    """The living cluster of that name; NotFound."""
    for one in await clusters(tx, scope.world):
        if (one.facts.account, one.facts.region) == (scope.account, scope.region) and name in (
            one.name,
            one.facts.cluster_id,
        ):
            return one
    raise unknown(name)


async def whole(tx: Tx, world: str, newest: int) -> WorldState:
    """The world at a glance, with its newest events."""
    found = await clusters(tx, world)
    last = await events(tx, world, limit=newest)
    spent = sum(charge(weighted) for weighted in await overviews.spent(tx, world))
    return WorldState(found, await overviews.totals(tx, world), spent, last)


async def all_nodes(tx: Tx, scope: Scope, name: str) -> list[SeenNode]:
    """Every node of the cluster, by its groups' order; NotFound."""
    found = await must_get(tx, scope, name)
    return await overviews.nodes(tx, scope, found.cluster_id)


async def node(tx: Tx, scope: Scope, name: str, node_id: str) -> Instance:
    """One node by its logical id or by that of its instance; NotFound."""
    found = await must_get(tx, scope, name)
    for by in ("logical_id", "instance_id"):
        if known := await instances.find(tx, scope, found.cluster_id, by=by, values=[node_id]):
            return known[0]
    raise nodes.no_node(node_id, found)


async def events(
    tx: Tx,
    world: str,
    *,
    cluster: str | None = None,
    group: str | None = None,
    node: str | None = None,
    level: str | None = None,
    before: tuple[WorldTime, str, int] | None = None,
    limit: int,
) -> list[SeenEvent]:
    """Up to `limit` events of clusters, the newest first, from behind `before` = (time, cluster id, seq)."""
    if level is not None and level not in LEVELS:
        raise Invalid(f"No level '{level[:40]}'. There are {', '.join(LEVELS)}.")
    await world_of(tx, Scope(world, "", ""))
    kinds = None if level is None else [name for name, kind in KINDS.items() if kind.level == level]
    return await overviews.events(
        tx, world, cluster=cluster, group=group, node=node, kinds=kinds, before=before, limit=limit
    )


def text_of(seen: SeenEvent) -> str:
    """The event in AWS's words."""
    return description(seen.event, seen.cluster, seen.cluster_id)


def level_of(seen: SeenEvent) -> str:
    """How serious it is."""
    return KINDS[seen.event.kind].level


def _state(facts: SeenCluster, groups: Sequence[SeenGroup], counts: Sequence[Count]) -> ClusterState:
    own = [count for count in counts if count.cluster_id == facts.cluster_id]
    found = [
        GroupState(group, group_status(facts, group), [count for count in own if count.group == group.name])
        for group in groups
        if group.cluster_id == facts.cluster_id
    ]
    return ClusterState(facts, cluster_status(facts), found)


async def group_request(tx: Tx, scope: Scope, name: str, group: str) -> Mapping[str, Any] | None:
    """The JSON that the group was last asked for with, without its counts; None if the cluster has no such group."""
    found = await must_get(tx, scope, name)
    known = (await store.groups(tx, scope, found.cluster_id)).get(group)
    return None if known is None else known.spec["request"]
