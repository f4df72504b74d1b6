"""Our own processes: leases with an epoch, in wall time."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from app.store import processes
from app.store.db import Database, Tx

_numbers = itertools.count(1)


@pytest.fixture
def lease() -> str:
    """A lease's name of its own for each test."""
    return f"fleet-{next(_numbers)}"


async def test_the_holder_renews_and_others_wait(database: Database, lease: str) -> None:
    async with database.connection() as tx:
        epoch = await taken(tx, lease, "one", 60)
        assert await processes.hold(tx, lease, "one", epoch, 60) == epoch
        assert await processes.hold(tx, lease, "two", None, 60) is None
        assert await processes.count_pass(tx, lease, epoch)


async def taken(tx: Tx, lease: str, name: str, seconds: float) -> int:
    epoch = await processes.hold(tx, lease, name, None, seconds)
    assert epoch is not None
    return epoch


async def test_the_epoch_rises_with_every_holder(database: Database, lease: str) -> None:
    """RL-6: it never repeats, and who was overtaken holds nothing."""
    async with database.connection() as tx:
        epoch = await taken(tx, lease, "one", 0)
        assert await processes.hold(tx, lease, "two", None, 60) == epoch + 1
        assert await processes.hold(tx, lease, "one", epoch, 60) is None
        assert not await processes.count_pass(tx, lease, epoch)


async def test_a_stale_holder_writes_nothing(database: Database, lease: str) -> None:
    """RL-6."""
    async with database.connection() as tx:
        epoch = await taken(tx, lease, "stopped", 0)
        assert not await processes.count_pass(tx, lease, epoch), "its time is over, although nobody has come"
        assert await processes.hold(tx, lease, "next", None, 60) == epoch + 1
        assert not await processes.count_pass(tx, lease, epoch)
        assert await processes.hold(tx, lease, "stopped", epoch, 60) is None


async def test_a_name_that_is_used_again_is_another_holder(database: Database, lease: str) -> None:
    """RL-7: a restarted process with a dead one's name does not inherit the lease, it waits for its end."""
    async with database.connection() as tx:
        await taken(tx, lease, "reconciler-1", 60)
        assert await processes.hold(tx, lease, "reconciler-1", None, 60) is None


async def test_a_row_that_vanished_is_made_anew(database: Database, lease: str) -> None:
    """RL-7: by whoever comes first; the former holder's epoch is no longer one."""
    async with database.connection() as tx:
        epoch = await taken(tx, lease, "one", 60)
        await tx.execute("DELETE FROM lease WHERE name = $1", lease)
        assert not await processes.count_pass(tx, lease, epoch)
        later = await taken(tx, lease, "two", 60)
        assert later > epoch
        assert not await processes.count_pass(tx, lease, epoch), "two would write under one epoch"
        assert await processes.hold(tx, lease, "one", epoch, 60) is None


async def test_of_many_at_once_one_gets_it(database: Database, lease: str) -> None:
    takings = [database.run(processes.hold, lease, f"p-{n}", None, 60) for n in range(5)]
    got = await asyncio.gather(*takings)
    assert sum(epoch is not None for epoch in got) == 1


async def test_who_lives(database: Database, lease: str) -> None:
    async with database.connection() as tx:
        for passes in (0, 7):
            await processes.beat(tx, lease, "reconciler", passes)
        assert [row["passes"] for row in await processes.living(tx) if row["name"] == lease] == [7]
        await tx.execute("UPDATE process SET seen_wall = seen_wall - interval '6 seconds' WHERE name = $1", lease)
        assert lease not in [row["name"] for row in await processes.living(tx)]
        await processes.leave(tx, lease)


async def test_the_pulse_tells_how_long_nobody_lived(database: Database) -> None:
    async with database.transaction() as tx:
        await processes.take_pulse(tx)
        await tx.execute("UPDATE pulse SET seen_wall = seen_wall - interval '1 hour'")
        gap = await processes.last_pulse(tx)
        assert gap is not None
        assert timedelta(hours=1) <= gap < timedelta(hours=1, minutes=1)
        await processes.take_pulse(tx)


async def test_a_session_that_stops_inside_a_statement_is_cut_off(dsn: str, database: Database) -> None:
    """RL-6: Postgres itself would wait for the rest for ever, and the locks with it."""
    stopped = await asyncpg.connect(dsn, server_settings={"application_name": "windtunnel test"})
    stuck = asyncio.Event()

    async def rows() -> AsyncIterator[bytes]:
        stuck.set()
        await asyncio.Event().wait()
        yield b""

    sending = asyncio.create_task(stopped.copy_to_table("lease", source=rows()))
    await stuck.wait()
    cut = 0
    async with asyncio.timeout(30), database.connection() as tx:
        while not cut:
            cut = await processes.cut_off_stopped(tx, 0.5)
            await asyncio.sleep(0.02)
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    assert cut == 1
    with pytest.raises(asyncpg.InterfaceError):
        await stopped.execute("SELECT 1")
