"""The nodes of clusters: due sets, bulk saves, pages."""

from collections.abc import Iterable, Mapping, Sequence

import asyncpg

from app.core.cluster import Candidate, Group, Work
from app.core.instance import Instance
from app.core.node import Node
from app.core.scope import Scope
from app.core.software import Member
from app.core.times import WorldTime, to_millis
from app.store.db import Tx
from app.store.rows import Shape, insert_rows

SHAPE = Shape(Instance)
_KEY = "world = $1 AND account = $2 AND region = $3 AND cluster_id = $4"
_STATUS = SHAPE.columns.index("status")
_FIXED = ("group_name", "ordinal", "logical_id", "created_at", "wish")
_CHANGING = [column for column in SHAPE.columns if column not in _FIXED]
_read_changing = SHAPE.getter(("logical_id", *_CHANGING))

DUE = f"""SELECT {", ".join(f"i.{column}" for column in SHAPE.columns)} FROM instance i JOIN instance_group g
    ON (g.world, g.account, g.region, g.cluster_id, g.name) = (i.world, i.account, i.region, i.cluster_id, i.group_name)
    WHERE i.world = $1 AND i.account = $2 AND i.region = $3 AND i.cluster_id = $4 AND i.due_at <= $5
    ORDER BY i.due_at, g.position, i.ordinal LIMIT $6"""
NEXT_DUE = f"""SELECT least((SELECT min(due_at) FROM instance WHERE {_KEY} AND due_at IS NOT NULL),
    (SELECT min(arrives_at) FROM node_move WHERE {_KEY}))"""
_INSERTED = ["world", "account", "region", "cluster_id", *SHAPE.columns, "due_at"]
_SAVED = ("logical_id", *_CHANGING, "due_at")
_ARRAYS = ", ".join(f"${5 + n}::{SHAPE.types.get(c, 'timestamptz')}[]" for n, c in enumerate(_SAVED))
SAVE = f"""UPDATE instance i SET {", ".join(f"{c} = u.{c}" for c in _SAVED[1:])}
    FROM unnest({_ARRAYS}) AS u({", ".join(_SAVED)})
    WHERE i.world = $1 AND i.account = $2 AND i.region = $3 AND i.cluster_id = $4 AND i.logical_id = u.logical_id
        AND i.logical_id = ANY($5)"""
OF_GROUP = f"SELECT {SHAPE.select} FROM instance WHERE {_KEY} AND group_name = $5 ORDER BY ordinal"
STANDING = f"""SELECT {", ".join(f"i.{column}" for column in SHAPE.columns)} FROM instance i JOIN instance_group g
    ON (g.world, g.account, g.region, g.cluster_id, g.name) = (i.world, i.account, i.region, i.cluster_id, i.group_name)
    WHERE i.world = $1 AND i.account = $2 AND i.region = $3 AND i.cluster_id = $4 AND i.status = $5
        AND i.terminate_at IS NULL AND ($6::text IS NULL OR i.group_name = $6) ORDER BY g.position, i.ordinal"""
GONE = f"DELETE FROM instance WHERE {_KEY} AND logical_id = ANY($5)"
STOP = f"UPDATE instance SET terminate_at = $5, due_at = $5 WHERE {_KEY} AND terminate_at IS NULL"
CANDIDATES = f"""SELECT logical_id, status, launched_at, (SELECT
        max(CASE WHEN w.funded AND w.protected_until > $6 THEN 3 WHEN w.funded THEN 2 ELSE 1 END)
        FROM placement p LEFT JOIN workload w ON (w.world, w.account, w.region, w.fleet, w.name)
            = (p.world, p.account, p.region, p.cluster_id, p.job_id)
        WHERE (p.world, p.account, p.region, p.cluster_id) = ($1, $2, $3, $4) AND p.logical_id = instance.logical_id
            AND p.ended_at IS NULL)
    FROM instance WHERE {_KEY} AND group_name = $5 AND terminate_at IS NULL"""
MEMBERS = f"""SELECT logical_id, ordinal, status, instance_type, image, patch_at IS NOT NULL, retry_at IS NOT NULL
    FROM instance WHERE {_KEY} AND group_name = $5 AND terminate_at IS NULL"""
PATCH = f"""UPDATE instance SET patch_at = $5, due_at = $5, next_image = $7, script_at = $8
    WHERE {_KEY} AND logical_id = ANY($6)"""
GIVE_UP = f"""UPDATE instance SET image = NULL, replace_at = $6, due_at = coalesce($6, due_at)
    WHERE {_KEY} AND logical_id = ANY($5)"""
OTHER_IMAGES = """SELECT u.name FROM unnest($5::text[], $6::text[]) AS u(name, image)
    WHERE EXISTS (SELECT 1 FROM instance WHERE world = $1 AND account = $2 AND region = $3 AND cluster_id = $4
        AND group_name = u.name AND terminate_at IS NULL AND status = ANY($7)
        AND instance.image IS DISTINCT FROM u.image)"""
UPDATED = """SELECT g.name, count(i.logical_id) FROM instance_group g JOIN instance i
    ON (g.world, g.account, g.region, g.cluster_id, g.name) = (i.world, i.account, i.region, i.cluster_id, i.group_name)
    WHERE g.world = $1 AND g.account = $2 AND g.region = $3 AND g.cluster_id = $4
        AND i.image = g.image AND i.status = ANY($5)
    GROUP BY g.name"""
FIND = {
    by: f"SELECT {SHAPE.select} FROM instance WHERE {_KEY} AND {by} = ANY($5)" for by in ("instance_id", "logical_id")
}
_WISHED = "(SELECT array_agg(value) FROM jsonb_array_elements_text(i.wish->'{}') AS value)"
WAKE = f"""SELECT i.account, i.region, i.cluster_id, i.logical_id FROM instance i JOIN instance_group g
    ON (g.world, g.account, g.region, g.cluster_id, g.name) = (i.world, i.account, i.region, i.cluster_id, i.group_name)
    WHERE i.world = $1 AND i.region = $2 AND i.waiting_since IS NOT NULL AND i.launch_after IS NOT NULL
        AND i.terminate_at IS NULL AND $3 = ANY(coalesce({_WISHED.format("types")}, g.instance_types))
        AND NOT coalesce({_WISHED.format("zones")}, g.zones) <@ $4::text[]
    ORDER BY i.waiting_since, i.account, i.cluster_id, g.position, i.ordinal LIMIT $5"""


def _instance(row: asyncpg.Record) -> Instance:
    values = list(row)
    values[_STATUS] = Node(values[_STATUS])
    return Instance(*values)


def _key(scope: Scope, cluster_id: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, cluster_id


async def due(tx: Tx, scope: Scope, cluster_id: str, at: WorldTime, limit: int) -> list[Instance]:
    """Up to `limit` nodes that are due by `at`, the longest due first."""
    return [_instance(row) for row in await tx.fetch(DUE, *_key(scope, cluster_id), at, limit)]


async def next_due(tx: Tx, scope: Scope, cluster_id: str) -> WorldTime | None:
    value: WorldTime | None = await tx.fetchval(NEXT_DUE, *_key(scope, cluster_id))
    return value


async def insert(
    tx: Tx, scope: Scope, cluster_id: str, new: Iterable[Instance], dues: Iterable[WorldTime | None]
) -> None:
    key = _key(scope, cluster_id)
    records = [(*key, *SHAPE.values(node), due_at) for node, due_at in zip(new, dues, strict=True)]
    await insert_rows(tx, "instance", _INSERTED, records)


async def save(
    tx: Tx, scope: Scope, cluster_id: str, changed: Sequence[Instance], dues: Sequence[WorldTime | None]
) -> None:
    if changed:
        columns = zip(*map(_read_changing, changed), strict=True)
        await tx.execute(SAVE, *_key(scope, cluster_id), *map(list, columns), list(dues))


async def remove(tx: Tx, scope: Scope, cluster_id: str, gone: Sequence[Instance]) -> None:
    if gone:
        await tx.execute(GONE, *_key(scope, cluster_id), [node.logical_id for node in gone])


async def stop_all(tx: Tx, scope: Scope, cluster_id: str, at: WorldTime) -> None:
    await tx.execute(STOP, *_key(scope, cluster_id), at)


async def stop_groups(tx: Tx, scope: Scope, cluster_id: str, at: WorldTime, names: Sequence[str]) -> None:
    await tx.execute(f"{STOP} AND group_name = ANY($6)", *_key(scope, cluster_id), at, list(names))


async def stop_nodes(tx: Tx, scope: Scope, cluster_id: str, at: WorldTime, logical_ids: Sequence[str]) -> None:
    await tx.execute(f"{STOP} AND logical_id = ANY($6)", *_key(scope, cluster_id), at, list(logical_ids))


async def members(tx: Tx, scope: Scope, cluster_id: str, group: str) -> list[Member]:
    """The group's nodes that are not told to stop, as far as a software update asks."""
    rows = await tx.fetch(MEMBERS, *_key(scope, cluster_id), group)
    return [Member(name, ordinal, Node(status), *facts) for name, ordinal, status, *facts in rows]


async def patch(tx: Tx, scope: Scope, cluster_id: str, at: WorldTime, group: Group, logical_ids: Sequence[str]) -> None:
    """The named nodes of the group begin to be updated to its image at `at`."""
    script_at = at if group.has_script else None
    await tx.execute(PATCH, *_key(scope, cluster_id), at, list(logical_ids), group.image, script_at)


async def give_up(
    tx: Tx, scope: Scope, cluster_id: str, at: WorldTime, logical_ids: Sequence[str], *, replace: bool
) -> None:
    """Nobody knows what the named nodes run; with `replace` other instances take their places from `at` on."""
    await tx.execute(GIVE_UP, *_key(scope, cluster_id), list(logical_ids), at if replace else None)


async def updated(tx: Tx, scope: Scope, cluster_id: str) -> dict[str, int]:
    """How many nodes run the image that their group wants, by group."""
    rows = await tx.fetch(UPDATED, *_key(scope, cluster_id), [Node.RUNNING, Node.ILL, Node.REBOOTING, Node.EXAMINED])
    return dict(map(tuple, rows))


async def on_other_images(tx: Tx, scope: Scope, cluster_id: str, images: Mapping[str, str]) -> set[str]:
    """Those of the groups with a node that a software update to this image would change."""
    rows = await tx.fetch(
        OTHER_IMAGES,
        *_key(scope, cluster_id),
        list(images),
        list(images.values()),
        [Node.RUNNING, Node.UNPATCHED],
    )
    return {row[0] for row in rows}


async def reserved(tx: Tx, scope: Scope, cluster_id: str, reservations: Sequence[str]) -> list[tuple[str, str]]:
    """(group, logical id) of the nodes that hold machines of these reserved capacities and are not told to stop."""
    rows = await tx.fetch(
        f"""SELECT group_name, logical_id FROM instance WHERE {_KEY} AND reservation = ANY($5) AND zone IS NOT NULL
        AND terminate_at IS NULL ORDER BY logical_id""",
        *_key(scope, cluster_id),
        list(reservations),
    )
    return [tuple(row) for row in rows]


async def candidates(tx: Tx, scope: Scope, cluster_id: str, group: str, at: WorldTime) -> list[Candidate]:
    """The group's nodes that are not told to stop, as far as the choice of victims at that instant asks."""
    rows = await tx.fetch(CANDIDATES, *_key(scope, cluster_id), group, to_millis(at))
    return [Candidate(name, Node(status), launched, Work(work or 0)) for name, status, launched, work in rows]


async def find(tx: Tx, scope: Scope, cluster_id: str, *, by: str, values: Sequence[str]) -> list[Instance]:
    """Nodes by `instance_id` or by `logical_id`."""
    return [_instance(row) for row in await tx.fetch(FIND[by], *_key(scope, cluster_id), list(values))]


async def of_group(tx: Tx, scope: Scope, cluster_id: str, group: str) -> list[Instance]:
    """The group's nodes by ordinal."""
    return [_instance(row) for row in await tx.fetch(OF_GROUP, *_key(scope, cluster_id), group)]


async def standing(tx: Tx, scope: Scope, cluster_id: str, status: Node, group: str | None = None) -> list[Instance]:
    """The nodes that stand so, of one group or of all, by the groups' order and their ordinals."""
    return [_instance(row) for row in await tx.fetch(STANDING, *_key(scope, cluster_id), status, group)]


async def groups_under_examination(tx: Tx, scope: Scope, cluster_id: str) -> set[str]:
    """The groups of which a node's deep health check on demand is under way or about to begin."""
    rows = await tx.fetch(
        f"SELECT DISTINCT group_name FROM instance WHERE {_KEY} AND (status = $5 OR examine_at IS NOT NULL)",
        *_key(scope, cluster_id),
        Node.EXAMINED,
    )
    return {row[0] for row in rows}


async def running_by_type(tx: Tx, scope: Scope, cluster_id: str) -> dict[tuple[str, str], int]:
    """Running nodes by (group, instance type)."""
    rows = await tx.fetch(
        f"""SELECT group_name, instance_type, count(*) FROM instance WHERE {_KEY} AND status = $5
        GROUP BY group_name, instance_type""",
        *_key(scope, cluster_id),
        Node.RUNNING,
    )
    return {(group, instance_type): count for group, instance_type, count in rows}


async def oldest_waiting(
    tx: Tx, world: str, region: str, instance_type: str, full_zones: Sequence[str], limit: int
) -> Mapping[tuple[str, str, str], list[str]]:
    """The logical ids that have waited the longest for a machine of the type, by (account, region, cluster id); not
    those that only full zones could take."""
    found: dict[tuple[str, str, str], list[str]] = {}
    rows = await tx.fetch(WAKE, world, region, instance_type, list(full_zones), limit)
    for account, home, cluster_id, logical_id in rows:
        found.setdefault((account, home, cluster_id), []).append(logical_id)
    return found


async def wake(tx: Tx, scope: Scope, cluster_id: str, at: WorldTime, logical_ids: Sequence[str]) -> None:
    """The named nodes may try to launch at `at`, or as soon as they wait if that is later."""
    await tx.execute(
        f"""UPDATE instance SET launch_after = greatest(since, $5), due_at = least(due_at, greatest(since, $5))
        WHERE {_KEY} AND logical_id = ANY($6) AND waiting_since IS NOT NULL AND terminate_at IS NULL""",
        *_key(scope, cluster_id),
        at,
        list(logical_ids),
    )
