"""What the scheduler keeps of a fleet: hosts, capacity, the ledger, its decisions, and when it is due (FS-14)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.core.scheduling.usage import Segment
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import insert_rows

FLEET_KEY = ("world", "account", "region", "fleet")
_KEY = "world = $1 AND account = $2 AND region = $3 AND fleet = $4"
_COUNTERS = ("workloads", "segments", "decisions", "hosts", "capacities")
_WAKES = """wake k WHERE k.world = f.world AND k.account = f.account AND k.region = f.region AND k.kind = 'fleet'
    AND k.subject = f.fleet"""
_AWAKE = "(f.not_before_wall IS NULL OR f.not_before_wall <= clock_timestamp())"
LOCK = f"""SELECT {", ".join(_COUNTERS)}, state, policy, due_at, version_wall, leader_wall, epoch_wall
    FROM fleet WHERE {_KEY} FOR UPDATE"""
READ = LOCK.removesuffix(" FOR UPDATE")
# Led by another scheduler that lives: it is left to that one. What the cluster has still to do for an earlier instant
# goes first, unless it fails.
FIRST = f"""SELECT f.account, f.region, f.fleet, w.at FROM fleet f CROSS JOIN LATERAL (
        SELECT least(f.due_at, (SELECT min(k.at) FROM {_WAKES})) AS at) w
    WHERE f.world = $1 AND f.fleet <> '' AND w.at <= $2 AND {_AWAKE}
        AND ($3::text IS NULL OR f.leader_wall IS NULL OR f.leader_wall = $3
            OR f.leader_until_wall < clock_timestamp())
        AND NOT EXISTS (SELECT 1 FROM cluster c WHERE c.world = f.world AND c.account = f.account
            AND c.region = f.region AND c.cluster_id = f.fleet AND c.due_at < w.at AND c.failures = 0)
    ORDER BY w.at, f.account, f.region, f.fleet LIMIT 1"""
WAKES = "SELECT at, xmin::text::bigint FROM wake WHERE world = $1 AND account = $2 AND region = $3 AND kind = 'fleet'"

POOLS = """SELECT f.fleet,
        coalesce(sum(w.gpus * w.replicas * CASE w.status WHEN 'held' THEN 1 ELSE -1 END), 0)::bigint
    FROM fleet f LEFT JOIN workload w ON w.world = f.world AND w.account = f.account AND w.region = f.region
        AND w.fleet = f.fleet AND w.ended_at IS NULL AND w.status IN ('held', 'leaving')
    WHERE f.world = $1 AND f.account = $2 AND f.region = $3 AND f.fleet LIKE 'pool:%'
    GROUP BY f.fleet ORDER BY f.fleet"""


class Due(NamedTuple):
    """A fleet that a pass is due for, since `at`."""

    scope: Scope
    fleet: str
    at: WorldTime


@dataclass(slots=True)
class FleetRow:
    """The fleet's own row, locked until the transaction ends."""

    workloads: int
    segments: int
    decisions: int
    hosts: int
    capacities: int
    state: Mapping[str, Any]
    policy: Mapping[str, Any]
    due_at: WorldTime | None
    version: str | None
    leader: str | None
    epoch: int


@dataclass(slots=True)
class HostRow:
    """A node as the scheduler knows it; `marked_at` since when it is marked for maintenance, `repair` what follows."""

    host: str
    number: int
    gpus: int
    model: str
    zone: str
    state: str
    marked_at: int | None = None
    reason: str | None = None
    repair: str | None = None
    left_for: str | None = None
    """Why its node has left Running; the next pass takes note of that, and has it no more."""


_HOST = tuple(HostRow.__slots__)


def _key(scope: Scope, fleet: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, fleet


async def first_due(tx: Tx, world: str, now: WorldTime, leader: str | None) -> Due | None:
    """The fleet that has been due the longest, of those that do not back off and that no other scheduler leads."""
    row = await tx.fetchrow(FIRST, world, now, leader)
    return None if row is None else Due(Scope(world, row[0], row[1]), row[2], row[3])


async def lock(tx: Tx, scope: Scope, fleet: str) -> FleetRow:
    """The fleet is ours until the transaction ends; it need not have been there."""
    row = await tx.fetchrow(LOCK, *_key(scope, fleet))
    if row is None:
        await tx.execute(
            """INSERT INTO fleet (world, account, region, fleet, jobs) VALUES ($1, $2, $3, $4, 0)
            ON CONFLICT (world, account, region, fleet) DO NOTHING""",
            *_key(scope, fleet),
        )
        row = await tx.fetchrow(LOCK, *_key(scope, fleet))
        assert row is not None
    return FleetRow(*row)


async def read(tx: Tx, scope: Scope, fleet: str) -> FleetRow | None:
    row = await tx.fetchrow(READ, *_key(scope, fleet))
    return FleetRow(*row) if row else None


async def number_workload(tx: Tx, scope: Scope, fleet: str) -> int:
    """The number of the fleet's next workload; the fleet stays locked until the transaction ends."""
    number: int = await tx.fetchval(
        """INSERT INTO fleet (world, account, region, fleet, jobs, workloads) VALUES ($1, $2, $3, $4, 0, 1)
        ON CONFLICT (world, account, region, fleet) DO UPDATE SET workloads = fleet.workloads + 1
        RETURNING workloads""",
        *_key(scope, fleet),
    )
    return number


async def managed_pools(tx: Tx, scope: Scope) -> dict[str, int]:
    """The managed pools of a project and region, and how many GPUs of each are held for gangs that wait for others to
    leave, beyond those that these others still have."""
    rows = await tx.fetch(POOLS, scope.world, scope.account, scope.region)
    return {fleet: max(0, held) for fleet, held in rows}


async def wakes(tx: Tx, scope: Scope, fleet: str, now: WorldTime) -> list[tuple[WorldTime, int]]:
    """The instants for which somebody woke it, each with the row's version."""
    rows = await tx.fetch(f"{WAKES} AND subject = $4 AND at <= $5", *_key(scope, fleet), now)
    return list(map(tuple, rows))


async def forget_wakes(tx: Tx, scope: Scope, fleet: str, seen: Sequence[tuple[WorldTime, int]]) -> None:
    """They are done, but for those that were left once more since they were read."""
    if seen:
        await tx.execute(
            """DELETE FROM wake WHERE world = $1 AND account = $2 AND region = $3 AND kind = 'fleet' AND subject = $4
            AND (at, xmin::text::bigint) IN (SELECT * FROM unnest($5::timestamptz[], $6::bigint[]))""",
            *_key(scope, fleet),
            [at for at, _ in seen],
            [version for _, version in seen],
        )


async def save(
    tx: Tx,
    scope: Scope,
    fleet: str,
    row: FleetRow,
    leader: str | None,
    lease_seconds: float,
) -> None:
    """What the pass leaves; a former failure is over. A `leader` keeps the lease, and takes a new epoch if it had
    none."""
    await tx.execute(
        f"""UPDATE fleet SET segments = $5, decisions = $6, hosts = $7, capacities = $8, state = $9, due_at = $10,
        version_wall = $11, failures = 0, error = NULL, not_before_wall = NULL,
        epoch_wall = epoch_wall + CASE WHEN $12::text IS NULL OR leader_wall = $12 THEN 0 ELSE 1 END,
        leader_wall = coalesce($12, leader_wall), leader_until_wall = CASE WHEN $12::text IS NULL
            THEN leader_until_wall ELSE clock_timestamp() + make_interval(secs => $13) END
        WHERE {_KEY}""",
        *_key(scope, fleet),
        row.segments,
        row.decisions,
        row.hosts,
        row.capacities,
        row.state,
        row.due_at,
        row.version,
        leader,
        lease_seconds,
    )


async def hurry(tx: Tx, scope: Scope, fleet: str, at: WorldTime) -> None:
    """The fleet is due by then; its row stays locked until the transaction ends."""
    await tx.execute(f"UPDATE fleet SET due_at = least(due_at, $5) WHERE {_KEY}", *_key(scope, fleet), at)


async def postpone(tx: Tx, scope: Scope, fleet: str, error: str) -> None:
    """It could not be done: leave it alone for 50 ms of wall time, twice as long each time up to a minute."""
    await tx.execute(
        f"""UPDATE fleet SET failures = failures + 1, error = $5, version_wall = NULL,
        not_before_wall = clock_timestamp()
            + make_interval(secs => least(60, 0.05 * 2 ^ least(failures, 20) * (0.5 + random() / 2))) WHERE {_KEY}""",
        *_key(scope, fleet),
        error,
    )


async def hosts(tx: Tx, scope: Scope, fleet: str) -> list[HostRow]:
    rows = await tx.fetch(
        f"SELECT {', '.join(_HOST)} FROM fleet_host WHERE {_KEY} ORDER BY number", *_key(scope, fleet)
    )
    return [HostRow(*row) for row in rows]


async def save_hosts(tx: Tx, scope: Scope, fleet: str, changed: Iterable[HostRow], gone: Sequence[str]) -> None:
    if gone:
        await tx.execute(f"DELETE FROM fleet_host WHERE {_KEY} AND host = ANY($5)", *_key(scope, fleet), list(gone))
    records = [(*_key(scope, fleet), *(getattr(row, name) for name in _HOST)) for row in changed]
    changing = ", ".join(f"{name} = excluded.{name}" for name in _HOST[1:])
    conflict = f"ON CONFLICT ({', '.join(FLEET_KEY)}, host) DO UPDATE SET {changing}"
    await insert_rows(tx, "fleet_host", (*FLEET_KEY, *_HOST), records, on_conflict=conflict)


async def capacity(tx: Tx, scope: Scope, fleet: str) -> list[tuple[int, int]]:
    """Every change of the fleet's C: from when on it was how many GPUs; at one instant the last one holds."""
    rows = await tx.fetch(f"SELECT at, gpus FROM fleet_capacity WHERE {_KEY} ORDER BY seq", *_key(scope, fleet))
    return list(map(tuple, rows))


async def append_capacity(tx: Tx, scope: Scope, fleet: str, first: int, changes: Iterable[tuple[int, int]]) -> None:
    records = [(*_key(scope, fleet), first + place, *change) for place, change in enumerate(changes)]
    await insert_rows(tx, "fleet_capacity", (*FLEET_KEY, "seq", "at", "gpus"), records)


async def segments(tx: Tx, scope: Scope, fleet: str, since: int) -> list[Segment]:
    """The ledger's segments that ended after `since`, in the order in which they closed."""
    rows = await tx.fetch(
        f"""SELECT leaf, workload, attempt, gpus, started, ended, funded FROM segment
        WHERE {_KEY} AND ended > $5 ORDER BY seq""",
        *_key(scope, fleet),
        since,
    )
    return [Segment(*row) for row in rows]


async def append_segments(tx: Tx, scope: Scope, fleet: str, first: int, closed: Iterable[Segment]) -> None:
    columns = (*FLEET_KEY, "seq", "leaf", "workload", "attempt", "gpus", "started", "ended", "funded")
    records = [
        (*_key(scope, fleet), first + place, s.leaf, s.workload, s.attempt, s.gpus, s.start, s.end, s.funded)
        for place, s in enumerate(closed)
    ]
    await insert_rows(tx, "segment", columns, records)


async def append_decisions(
    tx: Tx, scope: Scope, fleet: str, first: int, made: Iterable[tuple[int, str, str, str | None, Mapping[str, Any]]]
) -> None:
    """Each is when, its kind, its code, the workload that it is about, and all of it."""
    columns = (*FLEET_KEY, "seq", "at", "kind", "code", "workload", "body")
    records = [(*_key(scope, fleet), first + place, *one) for place, one in enumerate(made)]
    await insert_rows(tx, "decision", columns, records)
