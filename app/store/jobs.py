"""Custom jobs: rows in and out as core values."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import asyncpg

from app.core.admission import Waiting
from app.core.job import Job
from app.core.scope import Scope
from app.core.times import WorldTime
from app.core.world import World
from app.store import worlds
from app.store.db import Tx
from app.store.rows import Shape, dollars, update_rows

JOB = Shape(Job)
KEY = ("world", "account", "region", "job_id")
_KEY = "world = $1 AND account = $2 AND region = $3 AND job_id = $4"
_FIXED = (
    *("account", "region", "job_id", "number", "display_name", "spec", "labels", "created_at", "strategy"),
    *("fleet", "fleet_account", "fleet_region", "needs", "environment", "encryption", "budget", "min_runtime"),
    *("tuning_id", "trial_id", "pipeline_id"),
)
_CHANGING = [column for column in JOB.columns if column not in _FIXED]
_read_changing = JOB.getter(_CHANGING)
_DUE = "j.due_at <= $2 AND (j.not_before_wall IS NULL OR j.not_before_wall <= clock_timestamp())"
# What a cluster has still to do for an earlier instant may take nodes from its jobs: it goes first, unless it fails.
_IN_TURN = """(j.fleet = '' OR NOT EXISTS (SELECT 1 FROM cluster c WHERE c.world = j.world
        AND c.account = j.fleet_account AND c.region = j.fleet_region AND c.cluster_id = j.fleet
        AND c.due_at < j.due_at AND c.failures = 0))"""


def _claim(first: str, others: str) -> str:
    """All that is due at one instant in one account and region is one batch, in which jobs meet the same machines."""
    return f"""WITH first AS MATERIALIZED (SELECT j.account, j.region, j.due_at FROM custom_job j
        WHERE j.world = $1 AND {_DUE} AND {_IN_TURN} ORDER BY j.due_at, j.account, j.region LIMIT 1 {first})
    SELECT {", ".join(f"j.{column}" for column in JOB.columns)}, j.due_at FROM custom_job j, first
    WHERE j.world = $1 AND j.account = first.account AND j.region = first.region AND j.due_at = first.due_at
        AND {_DUE} AND {_IN_TURN}
    ORDER BY j.number LIMIT $3 FOR UPDATE OF j {others}"""


CLAIM = _claim("", "")
CLAIM_FREE = _claim("FOR UPDATE SKIP LOCKED", "SKIP LOCKED")
"""The same of what nobody holds: a batch that another is at keeps nobody from the next."""
_LIVE = f"{_KEY} AND deleted_at IS NULL"
SEEN = f"""SELECT {", ".join(f"w.{column}" for column in worlds.NAMES)},
        {", ".join(f"j.{column}" for column in JOB.columns)}
    FROM (SELECT {worlds.COLUMNS} FROM world WHERE name = $1) w LEFT JOIN custom_job j
    ON j.world = w.name AND j.account = $2 AND j.region = $3 AND j.job_id = $4 AND j.deleted_at IS NULL"""
LOCK = f"SELECT {JOB.select}, due_at FROM custom_job WHERE {_LIVE} FOR UPDATE"
LISTED = f"""SELECT {JOB.select} FROM custom_job WHERE world = $1 AND account = $2 AND region = $3
    AND deleted_at IS NULL AND ($4::bigint IS NULL OR number < $4) ORDER BY number DESC LIMIT $5"""
_FLEET = "world = $1 AND fleet_account = $2 AND fleet_region = $3 AND fleet = $4 AND ended_at IS NULL"
WAITING = f"""SELECT account, region, job_id, needs FROM custom_job WHERE {_FLEET} AND admitted_at IS NULL
    AND cancel_at IS NULL AND queued_at <= $5 ORDER BY queued_at, created_at, account, region, number"""
_ACTIVE = "attempt_at IS NOT NULL AND ended_at IS NULL"
# They are locked in the order in which passes lock jobs; who was cancelled meanwhile wants nothing any more.
ADMIT = """WITH wanting AS MATERIALIZED (SELECT job_id FROM custom_job
        WHERE world = $1 AND account = $2 AND region = $3 AND job_id = ANY($4)
            AND admitted_at IS NULL AND cancel_at IS NULL AND ended_at IS NULL ORDER BY number FOR UPDATE)
    UPDATE custom_job j SET admitted_at = $5, updated_at = $5, due_at = $5 FROM wanting
    WHERE j.world = $1 AND j.account = $2 AND j.region = $3 AND j.job_id = wanting.job_id"""
NEXT_WAITING = f"SELECT min(queued_at) FROM custom_job WHERE {_FLEET} AND admitted_at IS NULL AND queued_at > $5"
USED = f"""SELECT need.key, sum(need.value::bigint)::bigint FROM custom_job
    CROSS JOIN LATERAL jsonb_each_text(needs) AS need
    WHERE {_FLEET.replace("= $4", "= ANY($4)")} AND admitted_at IS NOT NULL GROUP BY need.key"""
MACHINES = """SELECT DISTINCT machine FROM custom_job
    CROSS JOIN LATERAL jsonb_path_query(spec, '$.workerPoolSpecs[*].machineSpec') AS machine
    WHERE world = $1 AND fleet_account = $2 AND fleet_region = $3 AND fleet = $4"""

HURRY = f"UPDATE custom_job SET due_at = least(due_at, $5) WHERE {_KEY}"


class Claimed(NamedTuple):
    """A job, locked until the transaction ends, and the instant for which it is due."""

    job: Job
    due_at: WorldTime | None


def _claimed(row: Iterable[object]) -> Claimed:
    *facts, due_at = row
    return Claimed(Job(*facts), due_at)  # type: ignore[arg-type]


def _key(scope: Scope, job_id: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, job_id


async def insert(tx: Tx, world: str, job: Job, due_at: WorldTime | None) -> None:
    await tx.execute(
        f"""INSERT INTO custom_job (world, due_at, {JOB.select})
        VALUES ($1, $2, {dollars(3, len(JOB.columns))})""",
        world,
        due_at,
        *JOB.values(job),
    )


async def claim_due(tx: Tx, world: str, now: WorldTime, limit: int, *, wait: bool) -> list[Claimed]:
    """Jobs of one account and region that are due at one instant, and have been due the longest: those that another
    holds are passed over, or waited for."""
    rows = await tx.fetch(CLAIM if wait else CLAIM_FREE, world, now, limit)
    return [_claimed(row) for row in rows]


async def seen(tx: Tx, scope: Scope, job_id: str) -> tuple[World, Job | None] | None:
    """The world and the job, as one statement sees them; None: no such world."""
    row = await tx.fetchrow(SEEN, *_key(scope, job_id))
    if row is None:
        return None
    facts = tuple(row)
    split = len(worlds.NAMES)
    job = None if facts[split] is None else Job(*facts[split:])
    return worlds.from_row(facts[:split]), job


async def lock(tx: Tx, scope: Scope, job_id: str) -> Claimed | None:
    """The job, locked until the transaction ends."""
    row = await tx.fetchrow(LOCK, *_key(scope, job_id))
    return _claimed(row) if row else None


async def homes(tx: Tx, world: str, account: str | None, region: str | None) -> list[tuple[str, str]]:
    """The accounts and regions, or the one given, in which jobs have begun an attempt and have not ended."""
    rows = await tx.fetch(
        f"""SELECT DISTINCT account, region FROM custom_job WHERE world = $1 AND {_ACTIVE}
        AND ($2::text IS NULL OR account = $2) AND ($3::text IS NULL OR region = $3) ORDER BY account, region""",
        world,
        account,
        region,
    )
    return list(map(tuple, rows))


async def lock_active(tx: Tx, scope: Scope, named: str | None) -> list[Claimed]:
    """The jobs that have begun an attempt and have not ended, of one name or id if that is given, locked."""
    rows = await tx.fetch(
        f"""SELECT {JOB.select}, due_at FROM custom_job WHERE world = $1 AND account = $2 AND region = $3
        AND {_ACTIVE} AND ($4::text IS NULL OR display_name = $4 OR job_id = $4) ORDER BY number FOR UPDATE""",
        scope.world,
        scope.account,
        scope.region,
        named,
    )
    return [_claimed(row) for row in rows]


async def listed(tx: Tx, scope: Scope, before: int | None, limit: int) -> list[Job]:
    """The newest jobs first, of those with numbers below `before` if that is given."""
    rows = await tx.fetch(LISTED, scope.world, scope.account, scope.region, before, limit)
    return [Job(*row) for row in rows]


async def waiting(tx: Tx, fleet_scope: Scope, fleet: str, now: WorldTime) -> list[Waiting]:
    """The jobs that queue for the fleet, the first to be served first."""
    return [Waiting(*row) for row in await tx.fetch(WAITING, *_key(fleet_scope, fleet), now)]


async def admit(tx: Tx, scope: Scope, job_ids: Sequence[str], at: WorldTime) -> None:
    """The jobs of one account and region, those that queue still, have what they queued for, and are due."""
    await tx.execute(ADMIT, scope.world, scope.account, scope.region, list(job_ids), at)


async def next_waiting(tx: Tx, fleet_scope: Scope, fleet: str, now: WorldTime) -> WorldTime | None:
    """When the next job that queues for the fleet may be served at the earliest, of those that may not yet."""
    value: WorldTime | None = await tx.fetchval(NEXT_WAITING, *_key(fleet_scope, fleet), now)
    return value


async def used(tx: Tx, fleet_scope: Scope, fleets: Sequence[str]) -> dict[str, int]:
    """How much of each quota metric the admitted jobs of these fleets take."""
    found = await tx.fetch(USED, fleet_scope.world, fleet_scope.account, fleet_scope.region, list(fleets))
    return dict(map(tuple, found))


async def machine_specs(tx: Tx, fleet_scope: Scope, fleet: str) -> list[Mapping[str, Any]]:
    """The machines that the fleet's jobs have asked for, also those that have ended, as their specs have them."""
    return [row[0] for row in await tx.fetch(MACHINES, *_key(fleet_scope, fleet))]


async def save(tx: Tx, world: str, changed: Sequence[tuple[Job, WorldTime | None]]) -> None:
    """Save jobs, each with the instant at which it next needs looking at; a former failure of a pass is over."""
    await update_rows(
        tx,
        "custom_job",
        KEY,
        (*_CHANGING, "due_at", "failures", "error", "not_before_wall"),
        [
            (world, job.account, job.region, job.job_id, *_read_changing(job), due_at, 0, None, None)
            for job, due_at in changed
        ],
    )


async def forget(tx: Tx, scope: Scope, job_ids: Sequence[str]) -> None:
    """What is left of these jobs is a name and an id for the bill."""
    for table in ("job_replica", "log_line", "execution"):
        await tx.execute(
            f"DELETE FROM {table} WHERE world = $1 AND account = $2 AND region = $3 AND job_id = ANY($4)",
            scope.world,
            scope.account,
            scope.region,
            list(job_ids),
        )


async def postpone(tx: Tx, scope: Scope, job_id: str, error: str) -> None:
    """A pass over the job failed: leave it alone for 50 ms of wall time, twice as long each time up to a minute."""
    await tx.execute(
        f"""UPDATE custom_job SET failures = failures + 1, error = $5, not_before_wall = clock_timestamp()
            + make_interval(secs => least(60, 0.05 * 2 ^ least(failures, 20) * (0.5 + random() / 2)))
        WHERE {_KEY}""",
        *_key(scope, job_id),
        error,
    )


async def failing(tx: Tx, world: str) -> list[asyncpg.Record]:
    """The jobs whose last pass failed, with the reason."""
    return await tx.fetch(
        """SELECT account, region, job_id, display_name AS name, failures, error, not_before_wall FROM custom_job
        WHERE world = $1 AND failures > 0 ORDER BY account, region, number""",
        world,
    )


async def hurry(tx: Tx, scope: Scope, job_id: str, at: WorldTime) -> None:
    """The job needs looking at by `at`, or earlier if it was due earlier."""
    await tx.execute(HURRY, *_key(scope, job_id), at)


async def named(tx: Tx, world: str, name: str) -> Job | None:
    """The job of that id in any account and region, or the newest of that display name."""
    row = await tx.fetchrow(
        f"""SELECT {JOB.select} FROM custom_job WHERE world = $1 AND (job_id = $2 OR display_name = $2)
        AND deleted_at IS NULL ORDER BY job_id = $2 DESC, created_at DESC, number DESC LIMIT 1""",
        world,
        name,
    )
    return Job(*row) if row else None


async def in_world(tx: Tx, world: str, text: str, ended: bool | None, limit: int) -> list[Job]:
    """The newest jobs of all projects and regions first: those whose display name, or id, contains the text; those
    that have ended, or have not, None: either."""
    rows = await tx.fetch(
        f"""SELECT {JOB.select} FROM custom_job WHERE world = $1 AND deleted_at IS NULL
        AND (position(lower($2) IN lower(display_name)) > 0 OR job_id = $2)
        AND ($3::boolean IS NULL OR (ended_at IS NOT NULL) = $3)
        ORDER BY created_at DESC, account, region, number DESC LIMIT $4""",
        world,
        text,
        ended,
        limit,
    )
    return [Job(*row) for row in rows]


async def display_names(tx: Tx, world: str, ids: Sequence[str]) -> dict[str, str]:
    """The display names of the jobs with these ids, also of such as were deleted."""
    rows = await tx.fetch(
        "SELECT job_id, display_name FROM custom_job WHERE world = $1 AND job_id = ANY($2)", world, list(ids)
    )
    return dict(map(tuple, rows))
