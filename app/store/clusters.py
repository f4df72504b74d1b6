"""Clusters and their instance groups: rows in and out as core values."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, NamedTuple

import asyncpg

from app.core.cluster import Cluster, Group
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import Shape, insert_rows, update_rows

CLUSTER = Shape(Cluster)
GROUP = Shape(Group)

CLUSTER_KEY = ("world", "account", "region", "cluster_id")
_KEY = "world = $1 AND account = $2 AND region = $3 AND cluster_id = $4"
_FIXED = {"account", "region", "cluster_id", "name", "created_at", "opens_at"}
_CHANGING = [column for column in CLUSTER.columns if column not in _FIXED]
_GROUP_CHANGING = [column for column in GROUP.columns if column not in ("name", "position", "created_at")]
_read_changing = CLUSTER.getter(_CHANGING)
_read_group_changing = GROUP.getter(_GROUP_CHANGING)

# Moves are few, so that a pass asks for those that arrive only where there are any. One that was begun while a claim
# waited for its lock is met by the next pass, which is due when it arrives.
_AWAITS = """EXISTS (SELECT 1 FROM node_move m WHERE (m.world, m.account, m.region, m.cluster_id)
        = (cluster.world, cluster.account, cluster.region, cluster.cluster_id))"""
_CLAIMED = f"{CLUSTER.select}, due_at, {_AWAITS}"
CLAIM = f"""SELECT {_CLAIMED} FROM cluster
    WHERE world = $1 AND due_at <= $2 AND (not_before_wall IS NULL OR not_before_wall <= clock_timestamp())
    ORDER BY due_at, created_at, account, region, cluster_id LIMIT 1 FOR UPDATE"""
_LIVE = "world = $1 AND account = $2 AND region = $3 AND {} = $4 AND deleted_at IS NULL"
LOCK = {by: f"SELECT {_CLAIMED} FROM cluster WHERE {_LIVE.format(by)} FOR UPDATE" for by in ("name", "cluster_id")}
GET = {by: f"SELECT {CLUSTER.select} FROM cluster WHERE {_LIVE.format(by)}" for by in ("name", "cluster_id")}
LIVING = f"""SELECT {CLUSTER.select} FROM cluster WHERE world = $1 AND deleted_at IS NULL
    AND ($2::text IS NULL OR account = $2) AND ($3::text IS NULL OR region = $3)
    AND ($4::text IS NULL OR name = $4 OR cluster_id = $4) ORDER BY created_at, account, region, cluster_id"""
CALLED = f"""SELECT {CLUSTER.select} FROM cluster WHERE world = $1 AND deleted_at IS NULL
    AND (lower(name) = $2 OR cluster_id = $2) AND ($3::text IS NULL OR account = $3)
    AND ($4::text IS NULL OR region = $4) ORDER BY created_at, account, region, cluster_id"""
GROUPS = f"SELECT {GROUP.select} FROM instance_group WHERE {_KEY} ORDER BY position"
SAVE = f"""UPDATE cluster SET {CLUSTER.assignments(_CHANGING, 6)}, due_at = $5, failures = 0, error = NULL,
    not_before_wall = NULL WHERE {_KEY}"""
_OWNED = (
    "instance",
    "instance_group",
    "cluster_operation",
    "count_change",
    "cluster_extension",
    "node_volume",
    "node_interface",
    "node_move",
    "slurm_conf",
)
_TOLD = ("cluster_event", "outbox")
REMEMBERED = 20
"""The last deleted clusters of a world whose events are kept, so that who is told of them late is told still."""
# A cluster may be buried as of an earlier instant than another: so a few are looked at, not the next one alone.
_FORGOTTEN = ", ".join(
    f"""no_{table} AS (DELETE FROM {table} t USING old WHERE t.world = $1
        AND (t.account, t.region, t.cluster_id) = (old.account, old.region, old.cluster_id))"""
    for table in _TOLD
)
FORGET = f"""WITH old AS MATERIALIZED (SELECT account, region, cluster_id FROM cluster
        WHERE world = $1 AND deleted_at IS NOT NULL
        ORDER BY deleted_at DESC, account, region, cluster_id OFFSET {REMEMBERED} LIMIT 10),
    {_FORGOTTEN} SELECT count(*) FROM old"""
BURY = f"""WITH {", ".join(f"no_{table} AS (DELETE FROM {table} WHERE {_KEY})" for table in _OWNED)}
    UPDATE cluster SET deleted_at = $5, due_at = NULL, deletion_begun_at = coalesce(deletion_begun_at, $5)
    WHERE {_KEY}"""


class Claimed(NamedTuple):
    """A cluster, locked until the transaction ends, the instant for which it is due, and whether nodes are on their way
    into it from other groups."""

    cluster: Cluster
    due_at: WorldTime | None
    awaits: bool = False


def reference(scope: Scope, name_or_arn: str) -> tuple[str, str]:
    """The column and the value by which a `ClusterName` is found; an ARN of another account or region finds none."""
    if not name_or_arn.startswith("arn:"):
        return "name", name_or_arn
    parts = name_or_arn.split(":", 5)
    if parts[3] != scope.region or parts[4] != scope.account:
        return "cluster_id", ""
    return "cluster_id", parts[5].partition("/")[2]


def _key(scope: Scope, cluster_id: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, cluster_id


def _group(row: Iterable[Any]) -> Group:
    values = list(row)
    for place in _ARRAYS:
        values[place] = tuple(values[place])
    return Group(*values)


_ARRAYS = [place for place, field in enumerate(fields(Group)) if field.name in ("instance_types", "zones")]


def _claimed(row: Iterable[Any]) -> Claimed:
    *facts, due_at, awaits = row
    return Claimed(Cluster(*facts), due_at, awaits)


async def claim_due(tx: Tx, world: str, now: WorldTime, *, wait: bool) -> Claimed | None:
    """The cluster that has been due the longest: one that another holds is passed over, or waited for."""
    row = await tx.fetchrow(CLAIM if wait else f"{CLAIM} SKIP LOCKED", world, now)
    if row is None:
        return None
    return _claimed(row)


async def lock(tx: Tx, scope: Scope, name_or_arn: str) -> Claimed | None:
    """The live cluster, locked until the transaction ends."""
    by, value = reference(scope, name_or_arn)
    row = await tx.fetchrow(LOCK[by], scope.world, scope.account, scope.region, value)
    if row is None:
        return None
    return _claimed(row)


async def get(tx: Tx, scope: Scope, name_or_arn: str) -> Cluster | None:
    by, value = reference(scope, name_or_arn)
    row = await tx.fetchrow(GET[by], scope.world, scope.account, scope.region, value)
    return Cluster(*row) if row else None


async def living(tx: Tx, world: str, account: str | None, region: str | None, named: str | None) -> list[Cluster]:
    """The live clusters of the world, oldest first: of one account, one region, one name or id, where given."""
    rows = await tx.fetch(LIVING, world, account, region, named)
    return [Cluster(*row) for row in rows]


async def called(tx: Tx, world: str, name: str, account: str | None, region: str | None) -> list[Cluster]:
    """The live clusters of the world that have the name, in lower case, or the id: of one account, one region, where
    given."""
    return [Cluster(*row) for row in await tx.fetch(CALLED, world, name, account, region)]


async def lags(tx: Tx, scope: Scope, cluster_id: str, at: WorldTime) -> bool:
    """Whether it has something to do for an instant before `at`, and does not fail at it."""
    found: bool = await tx.fetchval(
        f"SELECT EXISTS (SELECT 1 FROM cluster WHERE {_KEY} AND due_at < $5 AND failures = 0)",
        *_key(scope, cluster_id),
        at,
    )
    return found


async def take_jobs(tx: Tx, scope: Scope, cluster_id: str) -> None:
    """From now on passes over the locked cluster look after the jobs on its nodes."""
    await tx.execute(f"UPDATE cluster SET hosts = true WHERE {_KEY}", *_key(scope, cluster_id))


async def groups(tx: Tx, scope: Scope, cluster_id: str) -> dict[str, Group]:
    """The cluster's groups by name, in their order."""
    rows = await tx.fetch(GROUPS, *_key(scope, cluster_id))
    return {row["name"]: _group(row) for row in rows}


async def insert_groups(tx: Tx, scope: Scope, cluster_id: str, new: Iterable[Group]) -> None:
    records = [(*_key(scope, cluster_id), *GROUP.values(group)) for group in new]
    await insert_rows(tx, "instance_group", (*CLUSTER_KEY, *GROUP.columns), records)


async def save(tx: Tx, scope: Scope, cluster: Cluster, due_at: WorldTime | None) -> None:
    await tx.execute(SAVE, *_key(scope, cluster.cluster_id), due_at, *_read_changing(cluster))


async def save_groups(tx: Tx, scope: Scope, cluster_id: str, changed: Iterable[Group]) -> None:
    records = [(*_key(scope, cluster_id), group.name, *_read_group_changing(group)) for group in changed]
    await update_rows(tx, "instance_group", (*CLUSTER_KEY, "name"), _GROUP_CHANGING, records)


async def remove_groups(tx: Tx, scope: Scope, cluster_id: str, names: list[str]) -> None:
    await tx.execute(f"DELETE FROM instance_group WHERE {_KEY} AND name = ANY($5)", *_key(scope, cluster_id), names)


async def bury(tx: Tx, scope: Scope, cluster_id: str, at: WorldTime) -> None:
    """The cluster is gone: what is left is a name and an id for the bill."""
    await tx.execute(BURY, *_key(scope, cluster_id), at)
    await tx.execute(FORGET, scope.world)


async def postpone(tx: Tx, scope: Scope, cluster_id: str, error: str) -> None:
    """A pass over the cluster failed: leave it alone for 50 ms of wall time, twice as long each time up to a minute."""
    await tx.execute(
        f"""UPDATE cluster SET failures = failures + 1, error = $5, not_before_wall = clock_timestamp()
            + make_interval(secs => least(60, 0.05 * 2 ^ least(failures, 20) * (0.5 + random() / 2)))
        WHERE {_KEY}""",
        *_key(scope, cluster_id),
        error,
    )


async def failing(tx: Tx, world: str) -> list[asyncpg.Record]:
    """The clusters whose last pass failed, with the reason."""
    return await tx.fetch(
        """SELECT account, region, cluster_id, name, failures, error, not_before_wall FROM cluster
        WHERE world = $1 AND failures > 0 ORDER BY account, region, cluster_id""",
        world,
    )


async def hurry(tx: Tx, scope: Scope, cluster_id: str, at: WorldTime) -> None:
    """The cluster needs looking at by `at`, or earlier if it was due earlier."""
    await tx.execute(f"UPDATE cluster SET due_at = least(due_at, $5) WHERE {_KEY}", *_key(scope, cluster_id), at)
