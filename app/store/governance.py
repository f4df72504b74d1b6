"""Cluster scheduler configs and compute quotas: rows in and out as core values."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from app.core.governance import KEPT, Kind, Resource, Status
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.pages import Question
from app.store.rows import Shape, dollars

SHAPE = Shape(Resource)
_KIND, _DOING, _OUTCOME = (SHAPE.columns.index(column) for column in ("kind", "doing", "outcome"))
_FIXED = {"account", "region", "kind", "resource_id", "cluster_id", "name", "created_at"}
_CHANGING = [column for column in SHAPE.columns if column not in _FIXED]
_read_changing = SHAPE.getter(_CHANGING)
_TENANT = "world = $1 AND account = $2 AND region = $3"
_KEY = f"{_TENANT} AND kind = $4 AND resource_id = $5"
_LIVING = f"NOT (outcome = '{Status.DELETED}' AND settles_at <= {{}})"
_SEEN = "(vanishes_at IS NULL OR vanishes_at > {})"
STATUS = "CASE WHEN settles_at > {} THEN doing ELSE outcome END"
FIND = f"SELECT {SHAPE.select} FROM governance WHERE {_KEY} AND {_SEEN.format('$6')}"
_SORTS = {"Name": "name", "CreationTime": "created_at", "ClusterArn": "cluster_id"}


class Version(NamedTuple):
    """A version as it was asked for, and how that ended."""

    begun_at: WorldTime
    outcome: Status
    failure: str | None
    spec: dict[str, Any]


def _resource(row: Iterable[Any]) -> Resource:
    values = list(row)
    values[_KIND] = Kind(values[_KIND])
    values[_DOING], values[_OUTCOME] = Status(values[_DOING]), Status(values[_OUTCOME])
    return Resource(*values)


def _key(scope: Scope, kind: Kind, resource_id: str) -> tuple[str, str, str, str, str]:
    return scope.world, scope.account, scope.region, kind, resource_id


async def find(tx: Tx, scope: Scope, kind: Kind, resource_id: str, now: WorldTime) -> Resource | None:
    """The resource, as long as it can be seen."""
    row = await tx.fetchrow(FIND, *_key(scope, kind, resource_id), now)
    return _resource(row) if row else None


async def lock(tx: Tx, scope: Scope, kind: Kind, resource_id: str, now: WorldTime) -> Resource | None:
    """The same, locked until the transaction ends."""
    row = await tx.fetchrow(f"{FIND} FOR UPDATE", *_key(scope, kind, resource_id), now)
    return _resource(row) if row else None


async def version(tx: Tx, scope: Scope, kind: Kind, resource_id: str, number: int) -> Version | None:
    row = await tx.fetchrow(
        f"SELECT begun_at, outcome, failure, spec FROM governance_version WHERE {_KEY} AND version = $6",
        *_key(scope, kind, resource_id),
        number,
    )
    return Version(row[0], Status(row[1]), row[2], row[3]) if row else None


async def insert(tx: Tx, scope: Scope, resource: Resource) -> None:
    """A new resource and its first version."""
    await tx.execute(
        f"INSERT INTO governance (world, {SHAPE.select}) VALUES ($1, {dollars(2, len(SHAPE.columns))})",
        scope.world,
        *SHAPE.values(resource),
    )
    await insert_version(tx, scope, resource)


async def insert_version(tx: Tx, scope: Scope, resource: Resource) -> None:
    """Keep the resource's current version, and how the operation that makes it ends."""
    await tx.execute(
        """INSERT INTO governance_version
            (world, account, region, kind, resource_id, version, begun_at, outcome, failure, spec)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)""",
        *_key(scope, resource.kind, resource.resource_id),
        resource.version,
        resource.begun_at,
        resource.outcome,
        resource.failure,
        resource.spec,
    )


async def save(tx: Tx, scope: Scope, resource: Resource) -> None:
    await tx.execute(
        f"UPDATE governance SET {SHAPE.assignments(_CHANGING, 6)} WHERE {_KEY}",
        *_key(scope, resource.kind, resource.resource_id),
        *_read_changing(resource),
    )


async def living(tx: Tx, scope: Scope, kind: Kind, cluster_id: str, now: WorldTime) -> list[Resource]:
    """The cluster's resources of the kind that are not Deleted, oldest first."""
    rows = await tx.fetch(
        f"""SELECT {SHAPE.select} FROM governance WHERE {_TENANT} AND cluster_id = $4 AND kind = $5
        AND {_LIVING.format("$6")} ORDER BY created_at, resource_id""",
        scope.world,
        scope.account,
        scope.region,
        cluster_id,
        kind,
        now,
    )
    return [_resource(row) for row in rows]


async def generations(tx: Tx, scope: Scope, kind: Kind, cluster_id: str, name: str) -> int:
    """How often the cluster has had a resource of this kind and name, what is gone included."""
    number: int = await tx.fetchval(
        f"SELECT count(*) FROM governance WHERE {_TENANT} AND cluster_id = $4 AND kind = $5 AND name = $6",
        scope.world,
        scope.account,
        scope.region,
        cluster_id,
        kind,
        name,
    )
    return number


async def count(tx: Tx, scope: Scope, kind: Kind, now: WorldTime) -> int:
    """How many of the kind the account has in the region that are not Deleted."""
    number: int = await tx.fetchval(
        f"""SELECT count(*) FROM governance WHERE {_TENANT} AND kind = $4
        AND {_LIVING.format("$5")}""",
        scope.world,
        scope.account,
        scope.region,
        kind,
        now,
    )
    return number


async def with_stable_specs(tx: Tx, scope: Scope, cluster_id: str) -> list[tuple[Resource, dict[str, Any] | None]]:
    """All of the cluster's resources, each with the spec of its `stable_version`, by kind and age."""
    rows = await tx.fetch(
        f"""SELECT {", ".join(f"g.{column}" for column in SHAPE.columns)}, v.spec FROM governance g
        LEFT JOIN governance_version v ON (v.world, v.account, v.region, v.kind, v.resource_id, v.version)
            = (g.world, g.account, g.region, g.kind, g.resource_id, g.stable_version)
        WHERE g.world = $1 AND g.account = $2 AND g.region = $3 AND g.cluster_id = $4
        ORDER BY g.kind, g.created_at, g.resource_id""",
        scope.world,
        scope.account,
        scope.region,
        cluster_id,
    )
    return [(_resource(facts), stable) for *facts, stable in rows]


async def end_with_cluster(tx: Tx, scope: Scope, cluster_id: str, at: WorldTime, delay: timedelta) -> None:
    """The cluster is gone: what of its resources is not being deleted already, is from `at` on, without failing."""
    await tx.execute(
        f"""UPDATE governance SET doing = '{Status.DELETING}', outcome = '{Status.DELETED}', failure = NULL,
            begun_at = $5, settles_at = $5::timestamptz + $6::interval,
            vanishes_at = $5::timestamptz + $6::interval + $7::interval, stable_version = NULL,
            operations = operations + 1
        WHERE {_TENANT} AND cluster_id = $4 AND outcome <> '{Status.DELETED}'""",
        scope.world,
        scope.account,
        scope.region,
        cluster_id,
        at,
        delay,
        KEPT,
    )


async def page(
    tx: Tx,
    scope: Scope,
    kind: Kind,
    now: WorldTime,
    *,
    sort: str,
    descending: bool,
    after: Sequence[Any] | None,
    limit: int,
    created_after: WorldTime | None,
    created_before: WorldTime | None,
    name_contains: str | None,
    status: str | None,
    cluster_id: str | None,
) -> list[Resource]:
    """Up to `limit` resources by `sort` (a SortBy of the vendor's), from behind `after` = (sort value, id)."""
    question = Question(scope.world, scope.account, scope.region, kind, now)
    state = STATUS.format("$5")
    order = question.beyond((_SORTS.get(sort, state), "resource_id"), after, descending)
    question.between("created_at", created_after, created_before)
    if name_contains:
        question.where("strpos(name, {}) > 0", name_contains)
    if status:
        question.where(f"{state} = {{}}", status)
    if cluster_id is not None:
        question.where("cluster_id = {}", cluster_id)
    rows = await tx.fetch(
        f"""SELECT {SHAPE.select} FROM governance WHERE {_TENANT} AND kind = $4 AND {_SEEN.format("$5")}{question.text}
        ORDER BY {order} LIMIT {int(limit)}""",
        *question.values,
    )
    return [_resource(row) for row in rows]
