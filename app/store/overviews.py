"""What there is in a whole world, of every account and region: a few statements that only read."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from app.core.cluster_events import Event
from app.core.node import Node
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.pages import Question
from app.store.worlds import NOW

_SAME = "(i.world, i.account, i.region, i.cluster_id) = (c.world, c.account, c.region, c.cluster_id)"


class SeenCluster(NamedTuple):
    """A living cluster, with the facts that its status is computed from; `error` is what its passes fail with."""

    account: str
    region: str
    cluster_id: str
    name: str
    orchestrator: str
    continuous: bool
    created_at: WorldTime
    operation: str | None
    in_service_at: WorldTime | None
    failed_at: WorldTime | None
    failure_message: str | None
    rolling_back_at: WorldTime | None
    delete_requested_at: WorldTime | None
    error: str | None


class SeenGroup(NamedTuple):
    """An instance group, with the facts that its status is computed from."""

    cluster_id: str
    name: str
    position: int
    instance_types: list[str]
    node_type: str | None
    target: int
    minimum: int
    current: int
    ill: int
    operation: str | None
    in_service_at: WorldTime | None
    min_since: WorldTime | None
    update_status: str | None
    delete_requested_at: WorldTime | None


class Count(NamedTuple):
    """Nodes of a group that are of one type and stand alike; `waiting` are those that wait for a machine. `message` is
    the newest that any of them has."""

    cluster_id: str
    group: str
    instance_type: str
    status: Node
    nodes: int
    waiting: int
    message: str | None
    since: WorldTime | None


class SeenNode(NamedTuple):
    """A node, as far as a drawing of many shows it."""

    group: str
    ordinal: int
    logical_id: str
    instance_id: str | None
    instance_type: str
    zone: str | None
    status: Node
    since: WorldTime
    message: str | None


class SeenEvent(NamedTuple):
    """An event and its cluster, which may be gone."""

    account: str
    region: str
    cluster_id: str
    cluster: str
    seq: int
    event: Event


class Totals(NamedTuple):
    """GPUs that workloads hold on nodes, workloads that wait, jobs that wait for quota, workers on machines of Vertex
    AI, and what all that runs costs in an hour."""

    gpus_held: int
    workloads_waiting: int
    jobs_queued: int
    workers: int
    micro_usd_per_hour: int


CLUSTERS = f"""SELECT {", ".join(f"c.{name}" for name in SeenCluster._fields)} FROM cluster c
    WHERE c.world = $1 AND c.deleted_at IS NULL ORDER BY c.created_at DESC, c.name"""
GROUPS = f"""SELECT {", ".join(f"i.{name}" for name in SeenGroup._fields)} FROM instance_group i
    JOIN cluster c ON {_SAME} WHERE c.world = $1 AND c.deleted_at IS NULL ORDER BY i.position"""
_NEWEST = "(array_agg(message ORDER BY since DESC) FILTER (WHERE message IS NOT NULL))[1]"
COUNTS = f"""SELECT cluster_id, group_name, instance_type, status, count(*), count(waiting_since), {_NEWEST},
        max(since) FILTER (WHERE message IS NOT NULL)
    FROM instance WHERE world = $1 GROUP BY cluster_id, group_name, instance_type, status ORDER BY 1, 2, 3, 4"""
NODES = """SELECT i.group_name, i.ordinal, i.logical_id, i.instance_id, i.instance_type, i.zone, i.status, i.since,
        i.message
    FROM instance i JOIN instance_group g
    ON (g.world, g.account, g.region, g.cluster_id, g.name) = (i.world, i.account, i.region, i.cluster_id, i.group_name)
    WHERE (i.world, i.account, i.region, i.cluster_id) = ($1, $2, $3, $4) ORDER BY g.position, i.ordinal"""
TOTALS = """SELECT
    (SELECT coalesce(sum(gpus), 0) FROM placement WHERE world = $1 AND ended_at IS NULL),
    (SELECT count(*) FROM workload WHERE world = $1 AND ended_at IS NULL AND status IN ('new', 'waiting')),
    (SELECT count(*) FROM custom_job WHERE world = $1 AND fleet = '' AND admitted_at IS NULL AND ended_at IS NULL),
    (SELECT count(*) FROM job_replica WHERE world = $1 AND zone IS NOT NULL),
    (SELECT coalesce(sum(micro_usd_per_hour), 0)::bigint FROM ledger WHERE world = $1 AND ended_at IS NULL)"""
# What each owner's intervals come to, up to now: milliseconds x micro-dollars per hour.
SPENT = f"""WITH clock AS MATERIALIZED (SELECT date_trunc('milliseconds', {NOW}) AS now FROM world WHERE name = $1)
    SELECT sum(round(extract(epoch FROM coalesce(ended_at, clock.now) - started_at) * 1000) * micro_usd_per_hour)
    FROM ledger, clock WHERE world = $1 GROUP BY account, region, cluster_id"""


async def clusters(tx: Tx, world: str) -> list[SeenCluster]:
    """The living ones, the newest first."""
    return [SeenCluster(*row) for row in await tx.fetch(CLUSTERS, world)]


async def groups(tx: Tx, world: str) -> list[SeenGroup]:
    """Of the living clusters, in their order."""
    return [SeenGroup(*row) for row in await tx.fetch(GROUPS, world)]


async def counts(tx: Tx, world: str) -> list[Count]:
    """All nodes, by group, type and where they stand."""
    return [Count(*_standing(row, Count)) for row in await tx.fetch(COUNTS, world)]


async def nodes(tx: Tx, scope: Scope, cluster_id: str) -> list[SeenNode]:
    """The cluster's nodes, by their groups' order and their ordinals."""
    rows = await tx.fetch(NODES, scope.world, scope.account, scope.region, cluster_id)
    return [SeenNode(*_standing(row, SeenNode)) for row in rows]


async def totals(tx: Tx, world: str) -> Totals:
    """Sums over the whole world."""
    row = await tx.fetchrow(TOTALS, world)
    assert row is not None
    return Totals(*row)


async def spent(tx: Tx, world: str) -> list[int]:
    """By cluster or job, what its intervals come to so far: milliseconds x micro-dollars per hour."""
    return [int(row[0]) for row in await tx.fetch(SPENT, world)]


async def events(
    tx: Tx,
    world: str,
    *,
    cluster: str | None,
    group: str | None,
    node: str | None,
    kinds: Sequence[str] | None,
    before: tuple[WorldTime, str, int] | None,
    limit: int,
) -> list[SeenEvent]:
    """Up to `limit` events, the newest first, from behind `before` = (time, cluster id, seq)."""
    question = Question(world)
    if cluster is not None:
        question.where("(c.name = {} OR c.cluster_id = {})", cluster, cluster)
    if group is not None:
        question.where("e.group_name = {}", group)
    if node is not None:
        question.where("(e.instance_id = {} OR e.logical_id = {})", node, node)
    if kinds is not None:
        question.where("e.kind = ANY({})", list(kinds))
    if before is not None:
        question.where("(e.at, e.cluster_id, e.seq) < ({}, {}, {})", *before)
    rows = await tx.fetch(
        f"""SELECT e.account, e.region, e.cluster_id, c.name, e.seq, e.kind, e.at, e.group_name, e.instance_id,
            e.logical_id, e.params
        FROM cluster_event e JOIN cluster c USING (world, account, region, cluster_id)
        WHERE e.world = $1{question.text} ORDER BY e.at DESC, e.cluster_id DESC, e.seq DESC LIMIT {int(limit)}""",
        *question.values,
    )
    return [_event(*row) for row in rows]


def _standing(row: Iterable[Any], shape: type[Count | SeenNode]) -> list[Any]:
    """The row's values, its status as one of ours."""
    facts = list(row)
    place = shape._fields.index("status")
    facts[place] = Node(facts[place])
    return facts


def _event(account: str, region: str, cluster_id: str, cluster: str, seq: int, *facts: Any) -> SeenEvent:
    return SeenEvent(account, region, cluster_id, cluster, seq, Event(*facts))
