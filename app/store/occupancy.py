"""Who was on which node of a cluster within a window, what protected them there, and what was reserved (FS-13).

Times of the scheduler's are milliseconds, those of placements the world's instants.
"""

from collections.abc import Sequence
from typing import NamedTuple

from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx

STAYS = """SELECT logical_id, job_id, max(job_name), max(budget), sum(gpus)::int, started_at, ended_at FROM placement
    WHERE (world, account, region, cluster_id) = ($1, $2, $3, $4) AND gpus > 0
        AND started_at < $6 AND (ended_at IS NULL OR ended_at > greatest(started_at, $5))
    GROUP BY logical_id, job_id, started_at, ended_at ORDER BY started_at, job_id, logical_id LIMIT $7"""
_FLEET = "(world, account, region, fleet) = ($1, $2, $3, $4)"
ADMITTED = f"""SELECT workload, at, (body->>'protected_until')::bigint, (body->>'funded')::boolean FROM decision
    WHERE {_FLEET} AND workload = ANY($5) AND kind = 'admit' AND at < $6 ORDER BY seq"""
EVICTED = f"""SELECT v->>0, (v->>1)::bigint FROM decision CROSS JOIN LATERAL jsonb_array_elements(body->'victims') AS v
    WHERE {_FLEET} AND kind = 'preempt' AND at BETWEEN $5 AND $6"""
RESERVING = f"""SELECT workload, at, kind, body->'hosts', (body->>'due')::bigint FROM decision
    WHERE {_FLEET} AND kind IN ('reserve', 'unreserve') AND at BETWEEN $5 AND $6 ORDER BY seq"""


class StayRow(NamedTuple):
    """A workload's stay on a node, all its replicas there together; `ended_at` None: it is there still."""

    node: str
    workload: str
    shown: str
    budget: str | None
    gpus: int
    started_at: WorldTime
    ended_at: WorldTime | None


class Admitted(NamedTuple):
    workload: str
    at: int
    protected_until: int
    funded: bool


class Reserving(NamedTuple):
    """A reservation, or the end of one: then without hosts."""

    workload: str
    at: int
    kind: str
    hosts: Sequence[str] | None
    due: int | None


def _key(scope: Scope, fleet: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, fleet


async def stays(tx: Tx, scope: Scope, cluster_id: str, since: WorldTime, until: WorldTime, limit: int) -> list[StayRow]:
    """The stays that touch [since, until), in the order in which they began."""
    return [StayRow(*row) for row in await tx.fetch(STAYS, *_key(scope, cluster_id), since, until, limit)]


async def admitted(tx: Tx, scope: Scope, fleet: str, workloads: Sequence[str], until: int) -> list[Admitted]:
    """When these workloads were bound, the oldest first."""
    return [Admitted(*row) for row in await tx.fetch(ADMITTED, *_key(scope, fleet), list(workloads), until)]


async def evicted(tx: Tx, scope: Scope, fleet: str, since: int, until: int) -> set[tuple[str, int]]:
    """Who was evicted, and when its grace was over."""
    return {(row[0], row[1]) for row in await tx.fetch(EVICTED, *_key(scope, fleet), since, until)}


async def reserving(tx: Tx, scope: Scope, fleet: str, since: int, until: int) -> list[Reserving]:
    """When hosts were reserved, and when that ended, the oldest first."""
    return [Reserving(*row) for row in await tx.fetch(RESERVING, *_key(scope, fleet), since, until)]
