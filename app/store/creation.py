"""The two statements of CreateCluster: look once, write once. Each is a transaction of its own."""

from collections.abc import Mapping, Sequence
from functools import cache
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
from app.store.operations import SHAPE as OPERATION
from app.store.rows import dollars

_TENANT = "world = $1 AND account = $2 AND region = $3"
SURVEY = f"""SELECT {worlds.COLUMNS},
    ARRAY(SELECT deleted_at IS NULL FROM cluster WHERE {_TENANT} AND cluster.name = $4),
    CASE WHEN $5::text IS NULL THEN false ELSE EXISTS (SELECT 1 FROM cluster WHERE {_TENANT} AND deleted_at IS NULL
        AND eks_arn = $5) END,
    EXISTS (SELECT 1 FROM quota WHERE {_TENANT}),
    {software.RELEASES_HELD}
    FROM world WHERE name = $1"""


def _recordset(table: str, types: Mapping[str, str], rows: str) -> str:
    """An INSERT of the rows of a JSON array, under the key of the cluster that the same statement has inserted."""
    return f"""INSERT INTO {table} (world, account, region, cluster_id, {", ".join(types)})
        SELECT made.world, made.account, made.region, made.cluster_id, {", ".join(f"u.{name}" for name in types)}
        FROM made, jsonb_to_recordset({rows}) AS u({", ".join(f"{name} {kind}" for name, kind in types.items())})"""


_EVENT = {"seq": "bigint", "kind": "text", "at": "timestamptz", "group_name": "text", "params": "jsonb"}
_TOLD = """INSERT INTO outbox
            (world, account, region, cluster_id, at, seq, detail_type, detail, first_event, last_event, first_at)
        SELECT made.world, made.account, made.region, made.cluster_id, $2,"""
_GROUPS = f"${3 + len(CLUSTER.columns)}"
_BESIDES = f"${4 + len(CLUSTER.columns)}::jsonb"
_PARTS = {
    "events": f"""told AS ({_recordset("cluster_event", _EVENT, f"{_BESIDES}->'events'")}),
    noticed AS ({_TOLD} 2, '{CLUSTER_EVENT}', '{{}}', 1, jsonb_array_length({_BESIDES}->'events'), $2
        FROM made)""",
    "operations": f"""begun AS ({_recordset("cluster_operation", OPERATION.types, f"{_BESIDES}->'operations'")})""",
    "tags": f"""tagged AS (INSERT INTO tag (world, account, region, arn, key, value, position)
        SELECT made.world, made.account, made.region, {_BESIDES}->>'arn', u.key, u.value, u.position
        FROM made, jsonb_to_recordset({_BESIDES}->'tags') AS u(key text, value text, position integer))""",
}
"""What few clusters come with: a part that inserts nothing would cost as much as one that does."""


@cache
def create_statement(*parts: str) -> str:
    """The cluster, its groups, what is announced of it, and these of `_PARTS`."""
    return f"""WITH made AS (
        INSERT INTO cluster (world, due_at, {CLUSTER.select})
        SELECT name, $2, {dollars(3, len(CLUSTER.columns))} FROM world WHERE name = $1 FOR KEY SHARE
        ON CONFLICT DO NOTHING RETURNING world, account, region, cluster_id),
    grouped AS ({_recordset("instance_group", GROUP.types, _GROUPS)}),
    announced AS ({_TOLD} 1, {_BESIDES}->>'detail_type', {_BESIDES}->'detail', NULL, NULL, NULL FROM made)
    {"".join(f", {_PARTS[part]}" for part in parts)}
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
    *world, living, eks_taken, has_quotas, found = row
    releases = [Release(*one) for one in found]
    return Survey(worlds.from_row(world), len(living), any(living), eks_taken, has_quotas, releases)


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
    parts = {
        "events": [
            {"seq": place, "kind": event.kind, "at": event.at, "group_name": event.group, "params": event.params}
            for place, event in enumerate(events, 1)
        ],
        "operations": [dict(zip(OPERATION.columns, OPERATION.values(one), strict=True)) for one in operations],
        "tags": [{"key": key, "value": value, "position": place} for place, (key, value) in enumerate(tags.items(), 1)],
    }
    given = {name: rows for name, rows in parts.items() if rows}
    detail_type, detail = announcement
    made = await tx.fetchval(
        create_statement(*given),
        world,
        due_at,
        *CLUSTER.values(cluster),
        [dict(zip(GROUP.columns, GROUP.values(group), strict=True)) for group in groups],
        {"detail_type": detail_type, "detail": detail, "arn": cluster.arn, **given},
    )
    return bool(made)
