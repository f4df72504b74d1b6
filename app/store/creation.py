"""The two statements of CreateCluster: look once, write once. Each is a transaction of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import NamedTuple

from app.core.announcements import CLUSTER_EVENT, Message
from app.core.cluster import Cluster, Group
from app.core.cluster_events import Event
from app.core.operations import Operation
from app.core.releases import Release
from app.core.scope import Scope
from app.core.times import WorldTime
from app.core.world import World
from app.store import software, worlds
from app.store.clusters import CLUSTER, GROUP
from app.store.db import Tx
from app.store.rows import dollars

_TENANT = "world = $1 AND account = $2 AND region = $3"
SURVEY = f"""SELECT {worlds.COLUMNS},
    (SELECT count(*) FROM cluster WHERE {_TENANT} AND cluster.name = $4),
    EXISTS (SELECT 1 FROM cluster WHERE {_TENANT} AND cluster.name = $4 AND deleted_at IS NULL),
    CASE WHEN $5::text IS NULL THEN false ELSE EXISTS (SELECT 1 FROM cluster WHERE {_TENANT} AND deleted_at IS NULL
        AND eks_arn = $5) END,
    EXISTS (SELECT 1 FROM quota WHERE {_TENANT}),
    {software.RELEASES_HELD}
    FROM world WHERE name = $1"""


def _recordset(table: str, types: Mapping[str, str], place: int) -> str:
    """An INSERT of the rows of a JSON array, under the key of the cluster that the same statement has inserted."""
    return f"""INSERT INTO {table} (world, account, region, cluster_id, {", ".join(types)})
        SELECT made.world, made.account, made.region, made.cluster_id, {", ".join(f"u.{name}" for name in types)}
        FROM made, jsonb_to_recordset(${place}) AS u({", ".join(f"{name} {kind}" for name, kind in types.items())})"""


_EVENT = {"seq": "bigint", "kind": "text", "at": "timestamptz", "group_name": "text", "params": "jsonb"}
_LAST = 3 + len(CLUSTER.columns)
CREATE = f"""WITH made AS (
        INSERT INTO cluster (world, due_at, {CLUSTER.select})
        SELECT name, $2, {dollars(3, len(CLUSTER.columns))} FROM world WHERE name = $1 FOR KEY SHARE
        ON CONFLICT DO NOTHING RETURNING world, account, region, cluster_id),
    grouped AS ({_recordset("instance_group", GROUP.types, _LAST)}),
    told AS ({_recordset("cluster_event", _EVENT, _LAST + 1)}),
    tagged AS (INSERT INTO tag (world, account, region, arn, key, value, position)
        SELECT made.world, made.account, made.region, ${_LAST + 2}, u.key, u.value, u.position
        FROM made, jsonb_to_recordset(${_LAST + 3}) AS u(key text, value text, position integer)),
    announced AS (INSERT INTO outbox (world, account, region, cluster_id, seq, at, detail_type, detail, first_event,
            last_event, first_at)
        SELECT made.world, made.account, made.region, made.cluster_id, 1, $2, ${_LAST + 4}, ${_LAST + 5}::jsonb,
            NULL, NULL, NULL FROM made
        UNION ALL SELECT made.world, made.account, made.region, made.cluster_id, 2, $2, '{CLUSTER_EVENT}', '{{}}',
            1, jsonb_array_length(${_LAST + 1}), $2 FROM made WHERE jsonb_array_length(${_LAST + 1}) > 0),
    begun AS (INSERT INTO cluster_operation (world, account, region, cluster_id, number, operation_id, kind, created_at,
            details)
        SELECT made.world, made.account, made.region, made.cluster_id, u.number, u.operation_id, u.kind, u.created_at,
            u.details
        FROM made, jsonb_populate_recordset(NULL::cluster_operation, ${_LAST + 6}) AS u)
    SELECT true FROM made"""


class Survey(NamedTuple):
    """The world, and whether the account has quotas at all. `generation` counts the clusters that have had the name,
    `taken` says that one has it now, `eks_taken` that one stands on the EKS cluster."""

    world: World
    generation: int
    taken: bool
    eks_taken: bool
    has_quotas: bool
    releases: list[Release]


async def survey(tx: Tx, scope: Scope, name: str, eks_arn: str | None) -> Survey | None:
    """What CreateCluster has to know, as one statement sees it; None without the world."""
    row = await tx.fetchrow(SURVEY, scope.world, scope.account, scope.region, name, eks_arn)
    if row is None:
        return None
    *world, generation, taken, eks_taken, has_quotas, found = row
    return Survey(worlds.from_row(world), generation, taken, eks_taken, has_quotas, [Release(*one) for one in found])


async def create(
    tx: Tx,
    world: str,
    cluster: Cluster,
    groups: Sequence[Group],
    events: Sequence[Event],
    tags: Mapping[str, str],
    due_at: WorldTime,
    announcement: Message,
    operations: Sequence[Operation] = (),
) -> bool:
    """Insert the cluster and all that comes with it; False when the name is taken or the world is gone."""
    made = await tx.fetchval(
        CREATE,
        world,
        due_at,
        *CLUSTER.values(cluster),
        [dict(zip(GROUP.columns, GROUP.values(group), strict=True)) for group in groups],
        [
            {"seq": place, "kind": event.kind, "at": event.at, "group_name": event.group, "params": event.params}
            for place, event in enumerate(events, 1)
        ],
        cluster.arn,
        [{"key": key, "value": value, "position": place} for place, (key, value) in enumerate(tags.items(), 1)],
        *announcement,
        [asdict(operation) for operation in operations],
    )
    return bool(made)
