"""Worlds and their clocks. A clock is `base`, plus the wall time since `base_wall` times `rate` unless frozen."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

from app import clock
from app.core.times import WorldTime, floor_ms
from app.core.world import World
from app.store import copies
from app.store.db import Tx

_LEASED = "coalesce(lease_until_wall > clock_timestamp(), false)"
# No process is trusted to have lived longer than this after its last sign of life.
GAP_SECONDS = 2
_PULSE = f"(SELECT seen_wall + interval '{GAP_SECONDS} seconds' FROM pulse)"
_SINCE = "greatest(base_wall, lease_until_wall)"
# While somebody advances the world, its clock stands where the advance has got to; if he dies, it goes on from there
# when his lease ends. It stands still, too, when no process has lived for a while (CT-1).
NOW = f"""CASE WHEN frozen OR {_LEASED} THEN base ELSE least(
    base + greatest(least(clock_timestamp(), {_PULSE}) - {_SINCE}, interval '0') * rate,
    '{clock.LATEST:%Y-%m-%d}Z') END"""
_LAG = "coalesce((SELECT l.seconds FROM read_lag l WHERE l.world = world.name), 0) AS read_lag"
NAMES = ("name", "seed", "profile", "started_at", "rate", "frozen", "leased", "lease_epoch", "now", "read_lag")
COLUMNS = f"name, seed, profile, started_at, rate, frozen, {_LEASED} AS leased, lease_epoch, {NOW} AS now, {_LAG}"

READ = f"SELECT {COLUMNS} FROM world WHERE name = $1"
SHARE = f"""SELECT {COLUMNS}, set_config('statement_timeout', '30s', true) FROM world WHERE name = $1 FOR SHARE"""
"""A pass may move a thousand nodes: it has longer than a request, whoever makes it."""
KEEP = f"{READ} FOR KEY SHARE"
# The clock is read once the row is ours: those who held it have moved the world meanwhile.
_HELD = "WITH held AS MATERIALIZED (SELECT name FROM world WHERE name = $1 FOR UPDATE)"
_IS_HELD = "name = (SELECT name FROM held)"
LOCK = f"{_HELD} SELECT {COLUMNS} FROM world WHERE {_IS_HELD} FOR UPDATE"
LIST = f"SELECT {COLUMNS} FROM world ORDER BY name"


def _first_due(table: str) -> str:
    """When the world's first is due that does not back off: in the order of the index, however many are not due."""
    return f"""(SELECT due_at FROM {table} WHERE world = running.name AND due_at IS NOT NULL
        AND (not_before_wall IS NULL OR not_before_wall <= clock_timestamp()) ORDER BY due_at LIMIT 1)"""


_OF_FLEET = "(k.kind = 'fleet' AND k.subject <> '')"
# Worlds whose clock has reached something: only these are worth a claim. Each clock is read once; a wall clock inside
# the conditions would keep them from their indexes.
BUSY = f"""WITH running AS MATERIALIZED (SELECT name, {NOW} AS now FROM world WHERE NOT frozen AND NOT {_LEASED})
    SELECT name FROM running WHERE
    {_first_due("cluster")} <= running.now OR {_first_due("custom_job")} <= running.now
    OR {_first_due("tuning_job")} <= running.now
    OR EXISTS (SELECT 1 FROM wake k WHERE k.world = running.name AND k.at <= running.now AND NOT {_OF_FLEET}
        AND (k.not_before_wall IS NULL OR k.not_before_wall <= clock_timestamp()))
    OR EXISTS (SELECT 1 FROM capacity_wake k WHERE k.world = running.name AND k.at <= running.now)
    OR EXISTS (SELECT 1 FROM capacity_change k WHERE k.world = running.name AND k.at <= running.now)
    ORDER BY name"""
# Those in which a fleet is due: the scheduler's.
BUSY_FLEETS = f"""WITH running AS MATERIALIZED (SELECT name, {NOW} AS now FROM world WHERE NOT frozen AND NOT {_LEASED})
    SELECT name FROM running WHERE
    EXISTS (SELECT 1 FROM fleet f WHERE f.world = running.name AND f.due_at <= running.now
        AND (f.not_before_wall IS NULL OR f.not_before_wall <= clock_timestamp()))
    OR EXISTS (SELECT 1 FROM wake k WHERE k.world = running.name AND k.at <= running.now AND {_OF_FLEET})
    ORDER BY name"""
PATIENT = "SET LOCAL statement_timeout = '30s'"
"""For who wants a world alone: passes over it are short, but may be many."""
SETTLING = ("governance", "cluster_extension", "node_volume")
"""What changes by itself when the clock gets there: only what lies ahead counts, and needs no work."""


def _next(column: str, table: str) -> str:
    return f"(SELECT min({column}) FROM {table} WHERE world = $1 AND {column} > (SELECT now FROM clock))"


_NEXT_OF_PLANS = """(SELECT min(at) FROM training_plan p JOIN reserved_capacity r
    ON (r.world, r.account, r.region, r.plan) = (p.world, p.account, p.region, p.name)
    CROSS JOIN LATERAL (SELECT p.settles_at UNION ALL SELECT unnest(ARRAY[r.starts_at, r.ends_at])
        WHERE p.declined_at IS NULL) AS moment (at)
    WHERE p.world = $1 AND at > (SELECT now FROM clock))"""
AGENDA = f"""WITH clock AS MATERIALIZED (SELECT {NOW} AS now FROM world WHERE name = $1)
    SELECT (SELECT min(at) FROM capacity_change WHERE world = $1),
    (SELECT min(at) FROM capacity_wake WHERE world = $1),
    (SELECT min(due_at) FROM cluster WHERE world = $1 AND due_at IS NOT NULL),
    (SELECT min(due_at) FROM custom_job WHERE world = $1 AND due_at IS NOT NULL),
    (SELECT min(due_at) FROM tuning_job WHERE world = $1 AND due_at IS NOT NULL),
    (SELECT min(at) FROM wake k WHERE world = $1 AND NOT {_OF_FLEET}),
    least((SELECT min(at) FROM wake k WHERE world = $1 AND {_OF_FLEET}),
        (SELECT min(due_at) FROM fleet WHERE world = $1 AND due_at IS NOT NULL)),
    least({", ".join(_next("settles_at", table) for table in SETTLING)}, {_next("shown_at", "custom_job")},
        {_NEXT_OF_PLANS})"""
# A wall clock that jumped, or a time without any live process, is no time of a running world.
SHIFT = "UPDATE world SET base_wall = base_wall + $1::interval WHERE NOT frozen"


class Agenda(NamedTuple):
    """The earliest due instants of scheduled capacity, of those who wait for machines, of clusters, of jobs, of
    studies, of what is to be looked at again, and of clusters' fleets; and the next one at which a status changes by
    the clock alone, as that of a compute quota, where there is nothing to do."""

    change: WorldTime | None
    machines: WorldTime | None
    cluster: WorldTime | None
    job: WorldTime | None = None
    study: WorldTime | None = None
    wake: WorldTime | None = None
    fleet: WorldTime | None = None
    shown: WorldTime | None = None

    @property
    def first(self) -> WorldTime | None:
        return min((at for at in self if at is not None), default=None)


def from_row(row: Iterable[Any]) -> World:
    """A world of the values of `COLUMNS`."""
    world = World(*row)
    return replace(world, now=floor_ms(world.now))


async def read(tx: Tx, name: str) -> World | None:
    """The world and its time, without a lock."""
    row = await tx.fetchrow(READ, name)
    return from_row(row) if row else None


async def share(tx: Tx, name: str) -> World | None:
    """The same, and nobody may advance or drop the world until this transaction ends."""
    row = await tx.fetchrow(SHARE, name)
    return from_row(tuple(row)[:-1]) if row else None


async def keep(tx: Tx, name: str) -> World | None:
    """The same, and nobody may lock, copy or drop the world until this transaction ends; its clock may be moved."""
    row = await tx.fetchrow(KEEP, name)
    return from_row(row) if row else None


async def lock(tx: Tx, name: str) -> World | None:
    """The same, and every pass over the world and every write to it waits until this transaction ends."""
    await tx.execute(PATIENT)
    row = await tx.fetchrow(LOCK, name)
    return from_row(row) if row else None


async def all_worlds(tx: Tx) -> list[World]:
    return [from_row(row) for row in await tx.fetch(LIST)]


async def busy(tx: Tx) -> list[str]:
    """The running worlds in which something is due and which nobody advances."""
    return [row[0] for row in await tx.fetch(BUSY)]


async def busy_fleets(tx: Tx) -> list[str]:
    """The running worlds in which a fleet is due and which nobody advances."""
    return [row[0] for row in await tx.fetch(BUSY_FLEETS)]


async def agenda(tx: Tx, name: str) -> Agenda:
    """What of the world is due next, kind by kind."""
    row = await tx.fetchrow(AGENDA, name)
    assert row is not None
    return Agenda(*row)


async def insert_world(
    tx: Tx, name: str, *, seed: int, profile: str, start: WorldTime, rate: float, frozen: bool
) -> bool:
    """True when the world was made, False when its name was taken. Its epochs begin behind those of any former world
    of the name, so that a stale holder of a lease stays stale."""
    made = await tx.fetchval(
        """INSERT INTO world (name, seed, profile, started_at, base, base_wall, rate, frozen, lease_epoch)
        VALUES ($1, $2, $3, $4, $4, clock_timestamp(), $5, $6, extract(epoch FROM clock_timestamp()) * 1000)
        ON CONFLICT DO NOTHING RETURNING true""",
        name,
        seed,
        profile,
        start,
        rate,
        frozen,
    )
    return bool(made)


async def set_clock(tx: Tx, name: str, now: WorldTime, *, rate: float, frozen: bool) -> None:
    """From now on the clock runs (or stands) from `now`."""
    await tx.execute(
        """UPDATE world SET base = $2, base_wall = clock_timestamp(), rate = $3, frozen = $4, lease_until_wall = NULL
        WHERE name = $1""",
        name,
        now,
        rate,
        frozen,
    )


async def begin_again(
    tx: Tx, name: str, now: WorldTime, *, seed: int, profile: str, start: WorldTime, rate: float, frozen: bool
) -> None:
    """From now on the locked world has these facts and the time `now`, be it earlier; all former leases are stale."""
    await tx.execute(
        """UPDATE world SET base = $2, base_wall = clock_timestamp(), seed = $3, profile = $4, started_at = $5,
        rate = $6, frozen = $7, lease_owner = NULL, lease_until_wall = NULL, lease_epoch = lease_epoch + 1
        WHERE name = $1""",
        name,
        now,
        seed,
        profile,
        start,
        rate,
        frozen,
    )


async def set_profile(tx: Tx, name: str, profile: str) -> None:
    """From now on the world's stages take as long as `profile` says."""
    await tx.execute("UPDATE world SET profile = $2 WHERE name = $1", name, profile)


async def has_clusters(tx: Tx, name: str) -> bool:
    """True when the world has, or has had, any cluster."""
    found: bool = await tx.fetchval("SELECT EXISTS (SELECT 1 FROM cluster WHERE world = $1)", name)
    return found


async def take_lease(tx: Tx, name: str, owner: str, seconds: float) -> int | None:
    """The new epoch, or None while another holds the lease. Waits for the passes that are under way."""
    await tx.execute(PATIENT)
    epoch: int | None = await tx.fetchval(
        f"""{_HELD} UPDATE world SET lease_owner = $2, lease_epoch = lease_epoch + 1, base = {NOW},
        base_wall = clock_timestamp(), lease_until_wall = clock_timestamp() + make_interval(secs => $3)
        WHERE {_IS_HELD} AND NOT {_LEASED} RETURNING lease_epoch""",
        name,
        owner,
        seconds,
    )
    return epoch


async def move(tx: Tx, name: str, epoch: int, now: WorldTime, seconds: float) -> bool:
    """Set the leased world's clock to `now` and renew the lease; False when the lease was lost.

    In a frozen world one that ran out in a long pass is still its holder's, until somebody else takes it: nothing has
    moved since.
    """
    moved = await tx.fetchval(
        f"""UPDATE world SET base = greatest(base, $3), base_wall = clock_timestamp(),
        lease_until_wall = clock_timestamp() + make_interval(secs => $4)
        WHERE name = $1 AND lease_epoch = $2 AND lease_until_wall IS NOT NULL AND (frozen OR {_LEASED})
        RETURNING true""",
        name,
        epoch,
        now,
        seconds,
    )
    return bool(moved)


async def release(tx: Tx, name: str, epoch: int) -> None:
    """Give the lease back; the clock goes on from where the advance has got to."""
    await tx.execute(
        f"""UPDATE world SET lease_owner = NULL, lease_until_wall = NULL, base_wall = clock_timestamp()
        WHERE name = $1 AND lease_epoch = $2 AND {_LEASED}""",
        name,
        epoch,
    )


async def shift(tx: Tx, gap: timedelta) -> None:
    """Leave a gap of wall time out of every running clock."""
    await tx.execute(SHIFT, gap)


async def remove(tx: Tx, name: str) -> None:
    """Delete all that the world owns, and the world."""
    await copies.remove_rows(tx, name)
    await tx.execute("DELETE FROM world WHERE name = $1", name)
