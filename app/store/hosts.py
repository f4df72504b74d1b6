"""What is marked on a fleet's hosts, and what stands and runs on them (FS-11).

The cluster's lock goes before every write here, so a pass over the fleet or the cluster reads them unchanged.
"""

from collections.abc import Sequence
from typing import NamedTuple

from app.core.node import Node
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx

_KEY = "world = $1 AND account = $2 AND region = $3 AND fleet = $4"
HOSTS = """SELECT i.logical_id, i.instance_id, i.group_name, i.instance_type, i.status, i.launched_at, h.gpus, h.model,
        h.state, h.marked_at, h.reason, h.repair, h.left_for
    FROM instance i LEFT JOIN fleet_host h ON (h.world, h.account, h.region, h.fleet, h.host)
        = (i.world, i.account, i.region, i.cluster_id, i.logical_id)
    JOIN instance_group g ON (g.world, g.account, g.region, g.cluster_id, g.name)
        = (i.world, i.account, i.region, i.cluster_id, i.group_name)
    WHERE (i.world, i.account, i.region, i.cluster_id) = ($1, $2, $3, $4)
    ORDER BY g.position, i.ordinal"""
RESIDENTS = """SELECT p.logical_id, w.name, coalesce(j.display_name, w.name), sum(p.gpus), w.funded, w.protected_until
    FROM placement p JOIN workload w ON (w.world, w.account, w.region, w.fleet, w.name)
        = (p.world, p.account, p.region, p.cluster_id, p.job_id)
    LEFT JOIN custom_job j ON (j.world, j.account, j.region, j.job_id) = (w.world, w.project, w.location, w.job_id)
    WHERE (p.world, p.account, p.region, p.cluster_id) = ($1, $2, $3, $4) AND p.ended_at IS NULL AND p.gpus > 0
    GROUP BY p.logical_id, w.name, j.display_name, w.funded, w.protected_until ORDER BY p.logical_id, w.name"""
FIND = """SELECT account, region, cluster_id, logical_id FROM instance
    WHERE world = $1 AND (logical_id = $2 OR instance_id = $2) ORDER BY account, region, cluster_id LIMIT 1"""


class Mark(NamedTuple):
    """Since when a host is marked, in milliseconds, why, and what follows once it is empty; and why its node has left
    Running, if it has since the fleet's last pass."""

    marked_at: int | None = None
    reason: str | None = None
    repair: str | None = None
    left_for: str | None = None


class Resident(NamedTuple):
    """A workload on a host, the name that its job shows, how many GPUs it has there, and until when it is protected."""

    workload: str
    shown: str
    gpus: int
    funded: bool
    protected_until: int | None


class HostOf(NamedTuple):
    """A node of a cluster; `gpus` and what follows is None while the scheduler does not have it."""

    node: str
    instance_id: str | None
    group: str
    instance_type: str
    status: Node
    launched_at: WorldTime | None
    gpus: int | None
    model: str | None
    state: str | None
    marked_at: int | None
    reason: str | None
    repair: str | None
    left_for: str | None
    residents: Sequence[Resident] = ()


def _key(scope: Scope, fleet: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, fleet


async def find(tx: Tx, world: str, node: str) -> tuple[Scope, str, str] | None:
    """The cluster of the node with this logical or instance id, and its logical id."""
    row = await tx.fetchrow(FIND, world, node)
    return None if row is None else (Scope(world, row[0], row[1]), row[2], row[3])


async def shown(tx: Tx, scope: Scope, cluster_id: str) -> list[HostOf]:
    """The cluster's nodes by their groups' order and their ordinals, with what runs on them."""
    residents: dict[str, list[Resident]] = {}
    for row in await tx.fetch(RESIDENTS, *_key(scope, cluster_id)):
        residents.setdefault(row[0], []).append(Resident(*tuple(row)[1:]))
    rows = await tx.fetch(HOSTS, *_key(scope, cluster_id))
    return [HostOf._make((*row[:4], Node(row[4]), *row[5:], residents.get(row[0], ()))) for row in map(tuple, rows)]


async def marks(tx: Tx, scope: Scope, fleet: str) -> dict[str, Mark]:
    """The hosts that are marked, or have left Running since the fleet's last pass."""
    rows = await tx.fetch(
        f"""SELECT host, marked_at, reason, repair, left_for FROM fleet_host
        WHERE {_KEY} AND (marked_at IS NOT NULL OR left_for IS NOT NULL)""",
        *_key(scope, fleet),
    )
    return {row[0]: Mark(*tuple(row)[1:]) for row in rows}


async def mark(tx: Tx, scope: Scope, fleet: str, host: str, at: int, reason: str | None, repair: str | None) -> bool:
    """The host is to be emptied, since `at` unless it was marked before. False: the scheduler does not have it."""
    done = await tx.execute(
        f"""UPDATE fleet_host SET marked_at = coalesce(marked_at, $6), reason = $7, repair = $8
        WHERE {_KEY} AND host = $5 AND left_for IS NULL""",
        *_key(scope, fleet),
        host,
        at,
        reason,
        repair,
    )
    return bool(done != "UPDATE 0")


async def unmark(tx: Tx, scope: Scope, fleet: str, host: str) -> bool:
    """The host takes work again. False: it was not marked."""
    done = await tx.execute(
        f"""UPDATE fleet_host SET marked_at = NULL, reason = NULL, repair = NULL
        WHERE {_KEY} AND host = $5 AND marked_at IS NOT NULL AND left_for IS NULL""",
        *_key(scope, fleet),
        host,
    )
    return bool(done != "UPDATE 0")


async def leave(tx: Tx, scope: Scope, fleet: str, left: Sequence[tuple[str, str]]) -> None:
    """These nodes have left Running, each for a reason."""
    await tx.execute(
        f"""UPDATE fleet_host h SET left_for = l.reason
        FROM unnest($5::text[], $6::text[]) AS l(host, reason) WHERE {_KEY} AND h.host = l.host""",
        *_key(scope, fleet),
        [host for host, _ in left],
        [reason for _, reason in left],
    )
