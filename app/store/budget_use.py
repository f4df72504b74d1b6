"""What budgets were charged: the ledger's segments, what holds GPUs now, and what a fleet's nodes are (FS-3, FS-14)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from app.core.budget_limits import Holding, Span
from app.core.scheduling.workload import Status
from app.core.scope import Scope
from app.store.db import Tx

FleetKey = tuple[str, str, str]
"""A fleet's account, its region and its name."""
_COUNTED = "unnest($2::text[], $3::bigint[], $4::bigint[]) AS c (leaf, since, until)"
MANY = """SELECT c.number, s.account, s.region, s.fleet,
        sum(s.gpus * (least(s.ended, c.until) - greatest(s.started, c.since)))::bigint
    FROM segment s JOIN unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[]) AS c (number, leaf, since, until)
        ON s.leaf = c.leaf
    WHERE s.world = $1 AND s.funded AND s.ended > $6 AND s.ended > c.since AND s.started < c.until
    GROUP BY 1, 2, 3, 4"""
CLOSED = f"""SELECT s.account, s.region, s.fleet,
        sum(s.gpus * (least(s.ended, c.until) - greatest(s.started, c.since, $5::bigint)))::bigint
    FROM segment s JOIN {_COUNTED} ON s.leaf = c.leaf
    WHERE s.world = $1 AND s.funded AND s.ended > greatest(c.since, $5) AND s.started < c.until GROUP BY 1, 2, 3"""
HELD = f"""SELECT account, region, fleet, leaf, gpus, replicas, status, state FROM workload
    WHERE world = $1 AND ended_at IS NULL AND funded AND leaf IS NOT NULL
        AND status IN ('{Status.RUNNING}', '{Status.HELD}', '{Status.LEAVING}')"""
# A day's share of each segment: one row for a fleet and a day in which something was charged.
BY_DAY = f"""SELECT s.account, s.region, s.fleet, d.start,
        sum(s.gpus * (least(s.ended, c.until, d.start + $6) - greatest(s.started, c.since, d.start)))::bigint
    FROM segment s JOIN {_COUNTED} ON s.leaf = c.leaf
    CROSS JOIN LATERAL generate_series(greatest(s.started, c.since, $5::bigint) / $6::bigint * $6,
        least(s.ended, c.until) - 1, $6) AS d (start)
    WHERE s.world = $1 AND s.funded AND s.ended > greatest(c.since, $5) AND s.started < c.until
    GROUP BY 1, 2, 3, 4 ORDER BY 4"""
TYPES = """SELECT DISTINCT t.name FROM instance_group g CROSS JOIN LATERAL unnest(g.instance_types) AS t (name)
    WHERE g.world = $1 AND g.account = $2 AND g.region = $3 AND g.cluster_id = $4"""
BILLED = """SELECT DISTINCT instance_type FROM ledger
    WHERE world = $1 AND account = $2 AND region = $3 AND cluster_id = $4"""


class Held(NamedTuple):
    """A workload that holds GPUs of the fleet."""

    fleet: FleetKey
    holding: Holding


def _columns(spans: Sequence[Span]) -> list[list[Any]]:
    return [[one.leaf for one in spans], [one.since for one in spans], [one.until for one in spans]]


async def lock_limits(tx: Tx, world: str) -> None:
    """Until this transaction ends nobody else works out what the world's limits leave: passes over two fleets that
    share one are made one after the other."""
    await tx.execute(
        "SELECT 1 FROM budget_change WHERE world = $1 AND kind = 'limit' ORDER BY number LIMIT 1 FOR UPDATE", world
    )


async def closed(tx: Tx, world: str, spans: Sequence[Span], since: int) -> dict[FleetKey, int]:
    """GPU-milliseconds of the closed segments that count, from `since` on, by fleet."""
    rows = await tx.fetch(CLOSED, world, *_columns(spans), since)
    return {(account, region, fleet): charged for account, region, fleet, charged in rows}


async def closed_of_all(tx: Tx, world: str, asked: Sequence[tuple[Sequence[Span], int]]) -> list[dict[FleetKey, int]]:
    """The same for each of several questions: the segments are read once."""
    rows = [
        (number, one.leaf, max(one.since, since), one.until)
        for number, (spans, since) in enumerate(asked)
        for one in spans
        if one.until > since
    ]
    found: list[dict[FleetKey, int]] = [{} for _ in asked]
    if rows:
        first = min(row[2] for row in rows)
        for number, account, region, fleet, charged in await tx.fetch(
            MANY, world, *map(list, zip(*rows, strict=True)), first
        ):
            found[number][account, region, fleet] = charged
    return found


async def held(tx: Tx, world: str) -> list[Held]:
    """Funded workloads that hold GPUs, or are to get some that are held for them, as their fleets' passes left them."""
    return [Held((row[0], row[1], row[2]), _holding(*list(row)[3:])) for row in await tx.fetch(HELD, world)]


def _holding(leaf: str, gpus: int, replicas: int, status: str, state: dict[str, Any]) -> Holding:
    held = gpus * sum(state["places"].values())
    reserved = gpus * replicas if status == Status.HELD else held
    return Holding(leaf, held, state["segment_at"], reserved, state["protected_until"])


async def by_day(tx: Tx, world: str, spans: Sequence[Span], since: int, day: int) -> dict[FleetKey, dict[int, int]]:
    """GPU-milliseconds of the closed segments by fleet and the instant at which a day begins, from the day of `since`
    on."""
    found: dict[FleetKey, dict[int, int]] = {}
    for account, region, fleet, start, charged in await tx.fetch(BY_DAY, world, *_columns(spans), since, day):
        found.setdefault((account, region, fleet), {})[start] = charged
    return found


async def fleets(tx: Tx, world: str) -> list[tuple[Scope, str]]:
    """Those with workloads that have not ended."""
    rows = await tx.fetch(
        """SELECT DISTINCT account, region, fleet FROM workload WHERE world = $1 AND ended_at IS NULL
        ORDER BY account, region, fleet""",
        world,
    )
    return [(Scope(world, account, region), fleet) for account, region, fleet in rows]


async def node_types(tx: Tx, scope: Scope, fleet: str) -> list[str]:
    """The instance types of the cluster's nodes; of one that is gone those that were billed."""
    key = (scope.world, scope.account, scope.region, fleet)
    rows = await tx.fetch(TYPES, *key) or await tx.fetch(BILLED, *key)
    return sorted(row[0] for row in rows)
