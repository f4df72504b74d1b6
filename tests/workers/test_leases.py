"""Leases whose holders die, come again under the old name, or find their row gone (RL-2, RL-7)."""

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from app.settings import Settings
from tests.kit import Running, TestWorld, eks, group
from tests.workers.forked import Forked
from tests.workers.receiver import Receiver, receiving
from tests.workers.test_stopped_workers import LEASE, until

KILLS = 50
RELAY = LEASE.replace("scheduler", "relay")
LEASE_SECONDS = 0.5
SLACK_SECONDS = 1.0
"""For a machine that is busy with other tests."""


@pytest.fixture
async def database(crashes: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(crashes)
    yield connection
    await connection.close()


@pytest.fixture
async def two(settings: Settings, database: asyncpg.Connection) -> AsyncIterator[dict[int, Forked]]:
    """Two schedulers by their process ids, of which one leads and one relays."""
    assert settings.lease_seconds == LEASE_SECONDS
    started = [Forked("scheduler", settings) for _ in range(2)]
    pids = {one.pid for one in started}
    try:
        for lease in (LEASE, RELAY):
            await until(database, lease, lambda row: row["held"] and int(row["owner"].split("-")[1]) in pids, 30)
        yield {one.pid: one for one in started}
    finally:
        for one in started:
            one.stop()


async def leading(database: asyncpg.Connection, lease: str = LEASE, beyond: int = 0) -> asyncpg.Record:
    return await until(database, lease, lambda row: row["held"] and row["epoch"] > beyond, 30)


def holder(row: asyncpg.Record, schedulers: dict[int, Forked]) -> Forked:
    return schedulers[int(row["owner"].split("-")[1])]


async def test_a_row_that_vanishes_while_it_is_held(two: dict[int, Forked], database: asyncpg.Connection) -> None:
    """RL-7: of scheduler and relay: work goes on within twice the lease's time, under an epoch that nobody had."""
    for name, lease in (("scheduler", LEASE), ("relay", RELAY)):
        before = await leading(database, lease)
        for _ in range(5):
            gone_at = time.monotonic()
            await database.execute("DELETE FROM lease WHERE name = $1", name)
            after = await leading(database, lease, before["epoch"])
            assert time.monotonic() - gone_at <= 2 * LEASE_SECONDS + SLACK_SECONDS
            before = after
    row = await leading(database)
    await until(database, LEASE, lambda later: later["passes"] > row["passes"], 2 * LEASE_SECONDS + SLACK_SECONDS)


async def test_a_dead_ones_name_comes_again(
    two: dict[int, Forked], database: asyncpg.Connection, settings: Settings
) -> None:
    """RL-7: a process row and a lease that bear the name of somebody new: neither keeps it, or anybody, from work."""
    row = await leading(database)
    for one in two.values():
        one.kill()
    fresh = Forked("scheduler", settings)
    try:
        died_at = time.monotonic()
        name = "SELECT name FROM process WHERE kind = 'scheduler' AND name LIKE $1"
        while (new := await database.fetchval(name, f"scheduler-{fresh.pid}-%")) is None:
            assert time.monotonic() < died_at + 30
            await asyncio.sleep(0.01)
        await database.execute(
            "UPDATE lease SET owner = $1, epoch = $2, until_wall = clock_timestamp() + interval '0.5 s' "
            "WHERE name = 'scheduler'",
            *(new, row["epoch"]),
        )
        begun_at = time.monotonic()
        after = await leading(database, LEASE, row["epoch"])
        assert time.monotonic() - begun_at <= 2 * LEASE_SECONDS + SLACK_SECONDS
        assert after["owner"] == new
        await until(database, LEASE, lambda later: later["passes"] > after["passes"], 5)
    finally:
        fresh.stop()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


async def test_fifty_kills_of_who_leads(
    two: dict[int, Forked], remote: Running, database: asyncpg.Connection, receiver: Receiver
) -> None:
    """RL-2: `kill -9` of the leading scheduler at seeded moments, which relays webhooks: another leads within twice the
    lease's time, epochs rise by one, nothing is counted under a dead epoch, and every envelope arrives."""
    world = remote.world()
    await asyncio.to_thread(world.control, "POST", "webhooks", json={"url": receiver.url})
    draw = random.Random(2)
    row = await leading(database)
    for kill in range(KILLS):
        if kill % 10 == 0:
            await asyncio.to_thread(busy, world, kill)
        await asyncio.sleep(draw.random() * 0.3)
        row = await leading(database)
        doomed = two.pop(holder(row, two).pid)
        doomed.kill()
        died_at = time.monotonic()
        last = await database.fetchval("SELECT passes FROM lease WHERE name = 'scheduler' AND epoch = $1", row["epoch"])
        doomed.start()
        two[doomed.pid] = doomed
        after = await leading(database, LEASE, row["epoch"])
        assert time.monotonic() - died_at <= 2 * LEASE_SECONDS + SLACK_SECONDS
        assert after["epoch"] == row["epoch"] + 1
        assert str(doomed.pid) != row["owner"].split("-")[1]
        assert last is None or after["passes"] >= last
    told = await asyncio.to_thread(world.control, "GET", "events", params={"limit": 10_000})
    await asyncio.to_thread(receiver.wait, len(told["events"]), 60)
    assert os.getpid() not in two


def busy(world: TestWorld, number: int) -> None:
    world.sagemaker.create_cluster(**eks(group("all", 2), name=f"c-{number}"))
    world.advance(minutes=5)
