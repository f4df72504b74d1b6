"""Processes that are stopped and go on later: whoever lost its lease or its transaction writes nothing (RL-6)."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from app.settings import Settings
from tests.kit import Running, TestWorld, eks, group
from tests.workers.audit import audit
from tests.workers.forked import Forked

ROUNDS = 10
SEEN = "SELECT seen_wall > clock_timestamp() - interval '1 second' FROM process WHERE name = '{}'"
LEASE = "SELECT owner, epoch, passes, until_wall > clock_timestamp() AS held FROM lease WHERE name = 'scheduler'"


@pytest.fixture
async def database(crashes: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(crashes)
    yield connection
    await connection.close()


async def until(connection: asyncpg.Connection, query: str, wanted: Any, seconds: float) -> asyncpg.Record:
    deadline = time.monotonic() + seconds
    while True:
        row = await connection.fetchrow(query)
        if row is not None and wanted(row):
            return row
        assert time.monotonic() < deadline, f"{row} after {seconds} s"
        await asyncio.sleep(0.02)


async def test_a_stopped_scheduler(settings: Settings, database: asyncpg.Connection) -> None:
    """RL-6: ten times over the lease: another takes it within twice its time; the old epoch never writes again."""
    schedulers = {one.pid: one for one in (Forked("scheduler", settings) for _ in range(2))}
    try:
        pids = ", ".join(f"'{pid}'" for pid in schedulers)
        both = f"SELECT count(*) FROM process WHERE kind = 'scheduler' AND split_part(name, '-', 2) IN ({pids})"
        await until(database, both, lambda row: row[0] == 2, 30)
        row = await until(
            database, LEASE, lambda row: row["held"] and row["passes"] > 0 and row["owner"].split("-")[1] in pids, 30
        )
        for _ in range(ROUNDS):
            stale_owner, stale_epoch = row["owner"], row["epoch"]
            holder = schedulers[int(stale_owner.split("-")[1])]
            holder.pause()
            row = await until(database, LEASE, lambda row, old=stale_epoch: row["epoch"] > old and row["held"], 3)
            assert row["epoch"] == stale_epoch + 1
            assert row["owner"] != stale_owner
            holder.go_on()
            later = await until(database, LEASE, lambda row, was=row["passes"]: row["passes"] >= was + 5, 3)
            assert (later["owner"], later["epoch"]) == (row["owner"], row["epoch"])
            alive = (
                f"SELECT seen_wall > clock_timestamp() - interval '1 second' FROM process WHERE name = '{stale_owner}'"
            )
            await until(database, alive, lambda row: row[0], 3)
    finally:
        for one in schedulers.values():
            one.stop()


SLOW_PASSES = """
CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.05); RETURN NULL; END $$;
CREATE TRIGGER linger AFTER UPDATE ON cluster FOR EACH STATEMENT EXECUTE FUNCTION linger();
"""
OPEN = """SELECT count(*) FROM pg_stat_activity WHERE application_name = 'windtunnel reconciler'
    AND state = 'idle in transaction' AND backend_xid IS NOT NULL"""
AT_WORK = """SELECT count(*) FROM process
    WHERE kind = 'reconciler' AND passes > 0 AND seen_wall > clock_timestamp() - interval '1 second'"""
WORLDS = 10


async def test_reconcilers_stopped_inside_their_transactions(
    settings: Settings, remote: Running, database: asyncpg.Connection
) -> None:
    """RL-6: their transactions are cut off by the server within ten seconds, others do the work, and what the stopped
    ones then try writes nothing."""
    worlds = await asyncio.to_thread(begin, remote)
    await database.execute(SLOW_PASSES)
    stopped = [Forked("reconciler", settings) for _ in range(5)]
    other: Forked | None = None
    try:
        await until(database, AT_WORK, lambda row: row[0] >= len(stopped), 30)
        for world in worlds:
            await asyncio.to_thread(world.control, "POST", "clock", json={"frozen": False})
        caught = await pause_in_transactions(database, stopped)
        assert caught >= 2
        other = Forked("reconciler", settings)
        await database.execute("DROP TRIGGER linger ON cluster")
        idle = "SELECT count(*) FROM instance WHERE status <> 'Running' AND world LIKE 't-%' AND world = ANY($1)"
        deadline = time.monotonic() + 30
        names = [world.name for world in worlds]
        while await database.fetchval(idle, names) or await database.fetchval(
            "SELECT count(*) FROM instance_group WHERE current <> target AND world = ANY($1)", names
        ):
            assert time.monotonic() < deadline, "nobody took over"
            await asyncio.sleep(0.1)
        before = [await asyncio.to_thread(audited, world) for world in worlds]
        for one in stopped:
            one.go_on()
        await asyncio.sleep(1)
        assert [await asyncio.to_thread(audited, world) for world in worlds] == before
    finally:
        await database.execute("DROP TRIGGER IF EXISTS linger ON cluster; DROP FUNCTION linger()")
        for one in [*stopped, *([other] if other else [])]:
            one.stop()


def begin(remote: Running) -> list[TestWorld]:
    worlds = []
    for _ in range(WORLDS):
        world = remote.world(rate=20.0)
        world.sagemaker.create_cluster(**eks(group("a", 20), group("b", 20)))
        worlds.append(world)
    return worlds


def audited(world: TestWorld) -> dict[str, int]:
    world.control("POST", "clock", json={"frozen": True})
    world.advance(0)
    return audit(world, {})


async def pause_in_transactions(database: asyncpg.Connection, reconcilers: list[Forked]) -> int:
    """Stop them while Postgres works for them; how many transactions are left open by that."""
    deadline = time.monotonic() + 30
    working = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    while await database.fetchval(working) < 2:
        assert time.monotonic() < deadline, "the reconcilers do nothing"
        await asyncio.sleep(0.005)
    for one in reconcilers:
        one.pause()
    await asyncio.sleep(0.5)
    caught: int = await database.fetchval(OPEN)
    return caught
