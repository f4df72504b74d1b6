"""Who holds which node's GPUs on a cluster, and who held them: placements, opened and closed by what happens."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import insert_rows

_KEY = "world = $1 AND account = $2 AND region = $3 AND cluster_id = $4"
_NODE = "(i.world, i.account, i.region, i.cluster_id)"
_CLUSTER = ("world", "account", "region", "cluster_id")
_PLACE = ("project", "location", "job_id", "replica", "number", "logical_id", "billing", "gpus", "job_name", "budget")
# Nodes that take jobs: none of those that run the cluster itself, none of a restricted group, none that is to go. One
# to which something is about to happen is not ready.
NODES = f"""SELECT i.logical_id, i.instance_type, i.billings, i.status = 'Running'
        AND i.reboot_at IS NULL AND i.replace_at IS NULL AND i.patch_at IS NULL AND i.examine_at IS NULL,
        coalesce(i.zone, '')
    FROM instance i JOIN instance_group g
    ON (g.world, g.account, g.region, g.cluster_id, g.name) = (i.world, i.account, i.region, i.cluster_id, i.group_name)
    WHERE {_NODE} = ($1, $2, $3, $4) AND i.terminate_at IS NULL AND g.delete_requested_at IS NULL
        AND coalesce(g.node_type, 'Compute') = 'Compute' AND NOT coalesce((g.spec->>'restricted')::boolean, false)
    ORDER BY g.position, i.ordinal"""
# Whoever writes a row leaves another version of it, so what was read of these rows still is while this is the same.
VERSION = """SELECT coalesce(bit_xor(hashtextextended(concat_ws(' ', part, place, version), 0)), 0) FROM (
    SELECT 'i' AS part, i.ctid AS place, i.xmin::text AS version FROM instance i
    WHERE (i.world, i.account, i.region, i.cluster_id) = ($1, $2, $3, $4)
    UNION ALL SELECT 'g', g.ctid, g.xmin::text FROM instance_group g
    WHERE (g.world, g.account, g.region, g.cluster_id) = ($1, $2, $3, $4)) AS n"""
HELD = f"SELECT logical_id, sum(gpus) FROM placement WHERE {_KEY} AND ended_at IS NULL GROUP BY logical_id"
CLOSE = f"UPDATE placement SET ended_at = greatest(started_at, $5) WHERE {_KEY} AND ended_at IS NULL"
OF_OWNERS = """SELECT o.project, o.location, o.job_id, p.replica, max(p.number),
        max(p.logical_id) FILTER (WHERE p.ended_at IS NULL)
    FROM unnest($5::text[], $6::text[], $7::text[]) AS o (project, location, job_id) CROSS JOIN LATERAL (
        SELECT replica, number, logical_id, ended_at FROM placement
        WHERE (world, account, region, cluster_id) = ($1, $2, $3, $4)
            AND (project, location, job_id) = (o.project, o.location, o.job_id)) AS p GROUP BY 1, 2, 3, 4"""
USES = """SELECT p.account, p.region, p.cluster_id, p.logical_id, p.billing, p.project, p.location, p.job_id,
        p.job_name, p.budget, p.gpus, p.started_at, p.ended_at
    FROM placement p WHERE p.world = $1 AND p.gpus > 0
        AND ($2::timestamptz IS NULL OR p.ended_at IS NULL OR p.ended_at > $2) AND p.started_at < $3
    ORDER BY p.started_at, p.project, p.location, p.job_id, p.replica, p.number"""


class Place(NamedTuple):
    """A replica of a job on a node: `number` counts the replica's, `billing` is the node's billed interval's."""

    project: str
    location: str
    job_id: str
    replica: str
    number: int
    logical_id: str
    billing: int
    gpus: int
    job_name: str
    budget: str | None


class NodeRow(NamedTuple):
    """A node that takes jobs, with the number of its billed interval and how many of its GPUs are held."""

    logical_id: str
    instance_type: str
    billing: int
    ready: bool
    taken: int
    zone: str = ""


class UseRow(NamedTuple):
    """A replica's stay on a node, as far as a bill asks."""

    account: str
    region: str
    cluster_id: str
    logical_id: str
    billing: int
    project: str
    location: str
    job_id: str
    job_name: str
    budget: str | None
    gpus: int
    started_at: WorldTime
    ended_at: WorldTime | None


def _key(scope: Scope, cluster_id: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, cluster_id


async def nodes(tx: Tx, scope: Scope, cluster_id: str) -> list[NodeRow]:
    """The cluster's nodes that take jobs, by their groups' order and their ordinals."""
    held = {row[0]: row[1] for row in await tx.fetch(HELD, *_key(scope, cluster_id))}
    rows = await tx.fetch(NODES, *_key(scope, cluster_id))
    return [NodeRow(name, kind, bill, ready, held.get(name, 0), zone) for name, kind, bill, ready, zone in rows]


async def nodes_version(tx: Tx, scope: Scope, cluster_id: str) -> int:
    """Another number once anything of the cluster's nodes or groups has been written since."""
    version: int = await tx.fetchval(VERSION, *_key(scope, cluster_id))
    return version


async def open_at(tx: Tx, scope: Scope, cluster_id: str, places: Iterable[Place], at: WorldTime) -> None:
    """The replicas are on their nodes from `at` on."""
    columns = (*_CLUSTER, *_PLACE, "started_at")
    await insert_rows(tx, "placement", columns, [(*_key(scope, cluster_id), *place, at) for place in places])


async def leave_nodes(tx: Tx, scope: Scope, cluster_id: str, logical_ids: Sequence[str], at: WorldTime) -> None:
    """Whoever was on these nodes is not any more."""
    await tx.execute(f"{CLOSE} AND logical_id = ANY($6)", *_key(scope, cluster_id), at, list(logical_ids))


async def leave(
    tx: Tx, scope: Scope, cluster_id: str, job: tuple[str, str, str], replicas: Sequence[str], at: WorldTime
) -> None:
    """These replicas of the job, by project, location and id, are on no node any more."""
    await tx.execute(
        f"{CLOSE} AND (project, location, job_id) = ($6, $7, $8) AND replica = ANY($9)",
        *_key(scope, cluster_id),
        at,
        *job,
        list(replicas),
    )


async def leave_all(
    tx: Tx, scope: Scope, cluster_id: str, owners: Sequence[tuple[str, str, str]], at: WorldTime
) -> None:
    """None of these jobs or workloads, by project, location and id, is on any node any more."""
    if owners:
        await tx.execute(
            f"""{CLOSE} AND (project, location, job_id) IN
            (SELECT * FROM unnest($6::text[], $7::text[], $8::text[]))""",
            *_key(scope, cluster_id),
            at,
            *(list(column) for column in zip(*owners, strict=True)),
        )


async def of_owners(
    tx: Tx, scope: Scope, cluster_id: str, owners: Sequence[tuple[str, str, str]]
) -> dict[tuple[str, str, str], tuple[dict[str, str], dict[str, int]]]:
    """Of each owner the node of each replica that is on one, and how many each replica has had."""
    found: dict[tuple[str, str, str], tuple[dict[str, str], dict[str, int]]] = {owner: ({}, {}) for owner in owners}
    if owners:
        rows = await tx.fetch(
            OF_OWNERS, *_key(scope, cluster_id), *(list(column) for column in zip(*owners, strict=True))
        )
        for *owner, replica, number, node in rows:
            held, numbers = found[owner[0], owner[1], owner[2]]
            numbers[replica] = number
            if node is not None:
                held[replica] = node
    return found


async def uses(tx: Tx, world: str, since: WorldTime | None, until: WorldTime) -> list[UseRow]:
    """The stays with GPUs that touch [since, until)."""
    return [UseRow(*row) for row in await tx.fetch(USES, world, since, until)]
