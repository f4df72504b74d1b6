"""Pools of machines, their scheduled changes, the wakes of those who wait, and account quotas."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.core.capacity import WHOLE_REGION, Pool, Stock
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import insert_rows

_HELD = """(SELECT region, instance_type, zone FROM instance WHERE world = $1 AND zone IS NOT NULL
    UNION ALL SELECT region, machine_type, zone FROM job_replica WHERE world = $1 AND zone IS NOT NULL)"""
HELD = f"SELECT count(*) FROM {_HELD} AS held WHERE region = $2 AND instance_type = $3"


class Change(NamedTuple):
    """From `at` on the pool has `total` machines; None makes the type unlimited again."""

    at: WorldTime
    region: str
    zone: str
    instance_type: str
    total: int | None


class Wake(NamedTuple):
    """Machines of a type came free at `at`; `times` counts how often that was noted."""

    region: str
    instance_type: str
    at: WorldTime
    times: int


class Room(NamedTuple):
    """What is left of a type: `free` in the region, or in the zones that have pools (who waits, waits for those), or
    None without any pool; `full` zones have none."""

    free: int | None
    full: list[str]


async def lock_pools(tx: Tx, world: str, region: str, instance_types: Sequence[str]) -> list[Pool]:
    """The pools of these types, locked in one fixed order until the transaction ends."""
    rows = await tx.fetch(
        """SELECT region, zone, instance_type, total, used, freed_at FROM capacity_pool
        WHERE world = $1 AND region = $2 AND instance_type = ANY($3) ORDER BY instance_type, zone FOR UPDATE""",
        world,
        region,
        list(instance_types),
    )
    return [Pool(*row) for row in rows]


async def count(tx: Tx, world: str, region: str, stock: Stock) -> None:
    """Write down what the stock has given and taken back, by pool."""
    changed = sorted(stock.deltas.items())
    if changed:
        await tx.execute(
            """UPDATE capacity_pool SET used = used + delta, freed_at = u.freed_at
            FROM unnest($3::text[], $4::text[], $5::int[], $6::timestamptz[]) AS u(type, place, delta, freed_at)
            WHERE world = $1 AND region = $2 AND instance_type = type AND zone = place""",
            world,
            region,
            [instance_type for (instance_type, _), _ in changed],
            [zone for (_, zone), _ in changed],
            [delta for _, delta in changed],
            [stock.freed_at(key) for key, _ in changed],
        )


async def set_total(tx: Tx, world: str, change: Change) -> None:
    """The pool has this many machines from now on. The world must be locked, so that nothing is granted meanwhile."""
    key = (world, change.region, change.zone, change.instance_type)
    if change.total is None:
        await tx.execute(
            "DELETE FROM capacity_pool WHERE world = $1 AND region = $2 AND zone = $3 AND instance_type = $4", *key
        )
        return
    zone = "" if change.zone == WHOLE_REGION else " AND zone = $4"
    arguments = [world, change.region, change.instance_type, *([change.zone] if zone else [])]
    used = await tx.fetchval(HELD + zone, *arguments)
    await tx.execute(
        """INSERT INTO capacity_pool AS p (world, region, zone, instance_type, total, used, freed_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (world, region, zone, instance_type) DO UPDATE
        SET total = $5, freed_at = CASE WHEN $5 > p.total THEN greatest(p.freed_at, $7) ELSE p.freed_at END""",
        *key,
        change.total,
        used,
        change.at,
    )


async def pools(tx: Tx, world: str) -> list[Pool]:
    """Every pool that limits something."""
    rows = await tx.fetch(
        """SELECT region, zone, instance_type, total, used FROM capacity_pool WHERE world = $1
        ORDER BY region, instance_type, zone""",
        world,
    )
    return [Pool(*row) for row in rows]


async def unlimited_use(tx: Tx, world: str) -> list[tuple[str, str, int]]:
    """(region, instance type, machines in use) of types that no pool of the whole region limits."""
    rows = await tx.fetch(
        f"""SELECT region, instance_type, count(*) FROM {_HELD} AS held
        WHERE NOT EXISTS (SELECT 1 FROM capacity_pool p WHERE p.world = $1 AND p.region = held.region
            AND p.instance_type = held.instance_type AND p.zone = '')
        GROUP BY region, instance_type ORDER BY region, instance_type""",
        world,
    )
    return [tuple(row) for row in rows]


async def schedule(tx: Tx, world: str, change: Change) -> None:
    await tx.execute(
        """INSERT INTO capacity_change (world, at, region, zone, instance_type, total)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (world, at, region, zone, instance_type) DO UPDATE SET total = $6""",
        world,
        *change,
    )


async def scheduled(tx: Tx, world: str) -> list[Change]:
    rows = await tx.fetch(
        """SELECT at, region, zone, instance_type, total FROM capacity_change WHERE world = $1
        ORDER BY at, region, instance_type, zone""",
        world,
    )
    return [Change(*row) for row in rows]


async def take_due_changes(tx: Tx, world: str, now: WorldTime) -> list[Change]:
    """The changes that are due by `now`, in order; they are spent."""
    rows = await tx.fetch(
        "DELETE FROM capacity_change WHERE world = $1 AND at <= $2 RETURNING at, region, zone, instance_type, total",
        world,
        now,
    )
    return sorted(Change(*row) for row in rows)


async def leave_wake(tx: Tx, world: str, region: str, freed: Mapping[str, WorldTime]) -> None:
    """Note when machines of these types came free; whoever waits for them is woken by the next pass."""
    await insert_rows(
        tx,
        "capacity_wake",
        ("world", "region", "instance_type", "at"),
        [(world, region, instance_type, at) for instance_type, at in sorted(freed.items())],
        on_conflict="""ON CONFLICT (world, region, instance_type)
            DO UPDATE SET at = least(capacity_wake.at, excluded.at), times = capacity_wake.times + 1""",
    )


async def due_wakes(tx: Tx, world: str, now: WorldTime) -> list[Wake]:
    """The wakes that are due by `now`, without a lock: a pass holds its cluster when it leaves one."""
    rows = await tx.fetch(
        """SELECT region, instance_type, at, times FROM capacity_wake WHERE world = $1 AND at <= $2
        ORDER BY region, instance_type""",
        world,
        now,
    )
    return [Wake(*row) for row in rows]


async def spend_wake(tx: Tx, world: str, wake: Wake) -> None:
    """The wake is done, unless it was left once more since it was read."""
    await tx.execute(
        "DELETE FROM capacity_wake WHERE world = $1 AND region = $2 AND instance_type = $3 AND times = $4 AND at = $5",
        world,
        wake.region,
        wake.instance_type,
        wake.times,
        wake.at,
    )


async def free_machines(tx: Tx, world: str, region: str, instance_type: str) -> Room:
    """How many machines of the type could be granted at most, and where."""
    rows = await tx.fetch(
        "SELECT zone, total - used FROM capacity_pool WHERE world = $1 AND region = $2 AND instance_type = $3",
        world,
        region,
        instance_type,
    )
    free = {zone: max(0, left) for zone, left in rows}
    whole = free.pop(WHOLE_REGION, None)
    full = sorted(zone for zone, left in free.items() if left == 0)
    return Room(sum(free.values()) if whole is None and free else whole, full)


async def set_quota(tx: Tx, scope: Scope, name: str, value: int | None) -> None:
    key = (scope.world, scope.account, scope.region, name)
    if value is None:
        await tx.execute("DELETE FROM quota WHERE world = $1 AND account = $2 AND region = $3 AND name = $4", *key)
        return
    await tx.execute(
        """INSERT INTO quota (world, account, region, name, value) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (world, account, region, name) DO UPDATE SET value = $5""",
        *key,
        value,
    )


async def quotas(tx: Tx, scope: Scope, *, lock: bool = False) -> dict[str, int]:
    """The quotas that the user has set, by their AWS names; locked, so that who checks them checks alone."""
    rows = await tx.fetch(
        "SELECT name, value FROM quota WHERE world = $1 AND account = $2 AND region = $3 ORDER BY name"
        + (" FOR UPDATE" if lock else ""),
        scope.world,
        scope.account,
        scope.region,
    )
    return {row["name"]: row["value"] for row in rows}


class Demand(NamedTuple):
    """What an instance group wants, as quotas see it; `request` is what was asked of it."""

    cluster_id: str
    group: str
    instance_type: str
    target: int
    request: Mapping[str, Any]


async def demands(tx: Tx, scope: Scope) -> list[Demand]:
    """What every group of the account's clusters in the region wants, by its first instance type."""
    rows = await tx.fetch(
        """SELECT cluster_id, name, instance_types[1], target, spec->'request' FROM instance_group
        WHERE world = $1 AND account = $2 AND region = $3 AND delete_requested_at IS NULL""",
        scope.world,
        scope.account,
        scope.region,
    )
    return [Demand(*row) for row in rows]
