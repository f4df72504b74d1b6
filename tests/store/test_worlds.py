"""A world's clock, its lease and what is due in it."""

import asyncio
import contextlib
from datetime import timedelta

from app.core.scope import Scope
from app.core.times import WorldTime, after
from app.store import capacity, governance, processes, tables, worlds
from app.store.capacity import Change
from app.store.db import Database, Tx
from app.usecases import liveness
from tests.core.builders import GPU, REGION, T0, at, compute_quota
from tests.store.conftest import make_world, make_world_in
from tests.store.rows import add_cluster, add_job, add_tuning


async def test_a_frozen_clock_stands(database: Database, scope: Scope) -> None:
    """CT-1."""
    async with database.transaction() as tx:
        world = await worlds.read(tx, scope.world)
        assert world is not None
        assert (world.now, world.frozen, world.leased) == (T0, True, False)
        await worlds.set_clock(tx, scope.world, at(90), rate=2.0, frozen=True)
        world = await worlds.read(tx, scope.world)
    assert world is not None
    assert (world.now, world.rate) == (at(90), 2.0)


async def test_a_running_clock_runs_at_its_rate(database: Database) -> None:
    """CT-1: a world's time is whole milliseconds."""
    name = await make_world(database, frozen=False, rate=1e3)
    async with database.connection() as connection:
        first, second = [await worlds.read(connection, name) for _ in range(2)]
        assert first is not None
        assert second is not None
        assert T0 < first.now < second.now
        assert second.now.microsecond % 1000 == 0
        await worlds.remove(connection, name)


async def test_who_waits_for_a_world_gets_its_time_as_it_is_then(database: Database) -> None:
    """CT-1: a pass that holds the world meanwhile is in the past of who waits for it, and so is one that moves it."""
    name = await make_world(database, frozen=False, rate=1e6)

    async def lock(*, lease: bool) -> WorldTime:
        async with database.transaction() as tx:
            epoch = await worlds.take_lease(tx, name, "me", 10) if lease else None
            world = await worlds.lock(tx, name)
            assert world is not None
            if epoch is not None:
                await worlds.release(tx, name, epoch)
            return world.now

    async def waited(tx: Tx, *, lease: bool) -> asyncio.Task[WorldTime]:
        waiting = asyncio.create_task(lock(lease=lease))
        while not await tx.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
            pass
        return waiting

    for lease in (False, True):
        async with database.transaction() as tx:
            assert await worlds.share(tx, name) is not None
            waiting = await waited(tx, lease=lease)
            held = await worlds.read(tx, name)
        assert held is not None and await waiting >= held.now
    late = after(held.now, timedelta(days=3650))
    async with database.transaction() as tx:
        await worlds.set_clock(tx, name, late, rate=1.0, frozen=True)
        waiting = await waited(tx, lease=True)
    assert await waiting == late
    async with database.transaction() as tx:
        await worlds.remove(tx, name)


class _Undone(Exception):
    """Ends a transaction that must not stay."""


async def test_a_gap_without_any_process_is_no_time_of_a_running_world(database: Database) -> None:
    """CT-1: the clock stands soon after the last sign of life, and the next one lets it go on from there."""
    with contextlib.suppress(_Undone):
        async with database.transaction() as tx:
            name = await make_world_in(tx, frozen=False, rate=60.0)
            await tx.execute("UPDATE world SET base_wall = clock_timestamp() - interval '1 hour' WHERE name = $1", name)
            await processes.take_pulse(tx)
            await tx.execute("UPDATE pulse SET seen_wall = clock_timestamp() - interval '40 minutes'")
            dead, later = [await worlds.read(tx, name) for _ in range(2)]
            gap = await liveness.beat(tx, "first", "api", 0)
            alive = await worlds.read(tx, name)
            raise _Undone
    assert dead is not None
    assert later is not None
    assert alive is not None
    assert dead.now == later.now, "nothing passes without a process"
    lived = timedelta(minutes=20) + liveness.GAP
    assert timedelta(0) <= dead.now - T0 - lived * 60 < timedelta(minutes=1)
    assert gap is not None
    assert timedelta(0) <= timedelta(minutes=40) - liveness.GAP - gap + timedelta(seconds=1)
    assert timedelta(0) <= alive.now - dead.now < timedelta(minutes=1), "no time is lost, none is given"


async def test_time_never_goes_back_when_a_lease_lapses(database: Database) -> None:
    """CT-1, RL-6: a holder that overslept moves and releases nothing, and the clock goes on from where he got to."""
    with contextlib.suppress(_Undone):
        async with database.transaction() as tx:
            name = await make_world_in(tx, frozen=False, rate=60.0)
            await processes.take_pulse(tx)
            epoch = await worlds.take_lease(tx, name, "sleeper", 60)
            assert epoch is not None
            assert await worlds.move(tx, name, epoch, at(600), 60)
            await tx.execute(
                "UPDATE world SET lease_until_wall = clock_timestamp() - interval '1 second' WHERE name = $1", name
            )
            lapsed = await worlds.read(tx, name)
            moved = await worlds.move(tx, name, epoch, at(5000), 60)
            await worlds.release(tx, name, epoch)
            after = await worlds.read(tx, name)
            raise _Undone
    assert not moved
    assert lapsed is not None
    assert after is not None
    assert at(600) <= lapsed.now <= after.now < at(900)


async def test_a_pass_may_outlast_the_lease_of_a_frozen_world(database: Database, scope: Scope) -> None:
    """CT-1, RL-6: nobody else moves anything there; its holder goes on, until another takes it or it is released."""
    async with database.connection() as connection:
        slow = await worlds.take_lease(connection, scope.world, "slow", 0)
        assert slow is not None
        assert await worlds.move(connection, scope.world, slow, at(10), 0)
        fresh = await worlds.take_lease(connection, scope.world, "next", 60)
        assert fresh is not None
        assert not await worlds.move(connection, scope.world, slow, at(20), 60)
        await worlds.release(connection, scope.world, fresh)
        assert not await worlds.move(connection, scope.world, fresh, at(30), 60)


async def test_only_one_holds_the_lease_and_each_has_a_higher_epoch(database: Database, scope: Scope) -> None:
    """RL-6: the epoch rises at every taking and never falls."""
    async with database.connection() as connection:
        epochs = []
        for owner in ("one", "two", "three"):
            epoch = await worlds.take_lease(connection, scope.world, owner, 60)
            assert epoch is not None
            epochs.append(epoch)
            assert await worlds.take_lease(connection, scope.world, "rival", 60) is None
            world = await worlds.read(connection, scope.world)
            assert world is not None
            assert (world.leased, world.epoch) == (True, epoch)
            await worlds.release(connection, scope.world, epoch)
    assert epochs == [epochs[0], epochs[0] + 1, epochs[0] + 2]


async def test_of_many_at_once_one_gets_the_lease(database: Database, scope: Scope) -> None:
    takings = [database.run(worlds.take_lease, scope.world, f"p-{n}", 60) for n in range(5)]
    taken = await asyncio.gather(*takings)
    assert [epoch is not None for epoch in taken].count(True) == 1


async def test_a_stale_holder_moves_nothing(database: Database, scope: Scope) -> None:
    """RL-6: zero writes of a stale epoch are accepted."""
    async with database.connection() as connection:
        stale = await worlds.take_lease(connection, scope.world, "stopped", 0)
        fresh = await worlds.take_lease(connection, scope.world, "next", 60)
        assert stale is not None
        assert fresh is not None
        assert await worlds.move(connection, scope.world, fresh, at(10), 60)
        assert not await worlds.move(connection, scope.world, stale, at(99), 60)
        await worlds.release(connection, scope.world, stale)
        world = await worlds.read(connection, scope.world)
        assert world is not None
        assert (world.now, world.leased, world.epoch) == (at(10), True, fresh)


async def test_time_never_goes_backward(database: Database, scope: Scope) -> None:
    """RL-10."""
    async with database.connection() as connection:
        epoch = await worlds.take_lease(connection, scope.world, "one", 60)
        assert epoch is not None
        for moment in (at(10), at(5)):
            assert await worlds.move(connection, scope.world, epoch, moment, 60)
        world = await worlds.read(connection, scope.world)
    assert world is not None
    assert world.now == at(10)


async def test_the_agenda_names_what_is_due_kind_by_kind(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        assert await worlds.agenda(tx, scope.world) == (None,) * 8
        await add_cluster(tx, scope, due=at(9))
        await add_cluster(tx, scope, "b" * 12, due=at(7))
        await capacity.schedule(tx, scope.world, Change(at(8), REGION, "", GPU, 5))
        await capacity.leave_wake(tx, scope.world, REGION, {GPU: at(6)})
        await add_job(tx, scope, due=at(4))
        await add_tuning(tx, scope, due=at(10))
        agenda = await worlds.agenda(tx, scope.world)
    assert agenda == (at(8), at(6), at(7), at(4), at(10), at(5), None, None)
    assert agenda.first == at(4)


async def test_what_has_settled_is_on_no_agenda(database: Database, scope: Scope) -> None:
    """CT-1: a config or quota needs no work: only the moments ahead of the clock count."""
    async with database.transaction() as tx:
        for number, moment in enumerate((at(0), at(5), at(3))):
            await governance.insert(tx, scope, compute_quota(f"q{number}", settles_at=moment))
        assert (await worlds.agenda(tx, scope.world)).first == at(3)
        await worlds.set_clock(tx, scope.world, at(3), rate=1, frozen=True)
        assert await worlds.agenda(tx, scope.world) == (*(None,) * 7, at(5))
        await worlds.set_clock(tx, scope.world, at(5), rate=1, frozen=True)
        assert (await worlds.agenda(tx, scope.world)).first is None


async def test_busy_are_the_running_worlds_with_something_due(database: Database) -> None:
    names = {
        "busy": await make_world(database, frozen=False),
        "idle": await make_world(database, frozen=False),
        "frozen": await make_world(database),
        "leased": await make_world(database, frozen=False),
        "later": await make_world(database, frozen=False, start=after(T0, timedelta(days=-1))),
    }
    async with database.transaction() as tx:
        for kind, name in names.items():
            if kind != "idle":
                await add_cluster(tx, Scope(name, "111122223333", REGION))
        await worlds.take_lease(tx, names["leased"], "somebody", 60)
        assert set(await worlds.busy(tx)) & set(names.values()) == {names["busy"]}
        for name in names.values():
            await worlds.remove(tx, name)


async def test_a_removed_world_leaves_no_row(database: Database) -> None:
    """CT-0, CT-2."""
    name = await make_world(database)
    async with database.transaction() as tx:
        await add_cluster(tx, Scope(name, "111122223333", REGION))
        await worlds.remove(tx, name)
        for table in tables.WORLD_TABLES:
            assert await tx.fetchval(f"SELECT count(*) FROM {table.name} WHERE world = $1", name) == 0
        assert await worlds.read(tx, name) is None
