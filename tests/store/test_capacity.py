"""Pools of machines and the wakes of those who wait (CT-4)."""

import asyncio

import asyncpg
import pytest

from app.core.capacity import Stock, Want
from app.core.node import Node
from app.core.scope import Scope
from app.store import capacity
from app.store.capacity import Change
from app.store.db import Database, Tx
from tests.core.builders import CPU, GPU, REGION, T0, ZONE, at, pool
from tests.store.rows import add_cluster, add_nodes, nodes

B = "us-west-2b"


async def provide(tx: Tx, scope: Scope, total: int | None, zone: str = "") -> None:
    await capacity.set_total(tx, scope.world, Change(T0, REGION, zone, GPU, total))


WANT = Want("n", (GPU,), (ZONE,))


async def moved(tx: Tx, scope: Scope, back: int, taken: int) -> Stock:
    """The stock after so many returns, at 8 s, and so many grants."""
    stock = Stock(await capacity.lock_pools(tx, scope.world, REGION, [GPU]), [GPU])
    for _ in range(back):
        stock.give_back(GPU, ZONE, at(8))
    for _ in range(taken):
        stock.take(WANT)
    return stock


async def test_a_new_pool_counts_who_is_there_already(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        held = nodes(3, status=Node.RUNNING)
        await add_nodes(tx, scope, *held)
        await provide(tx, scope, 2)
        await provide(tx, scope, 9, ZONE)
        await provide(tx, scope, 9, B)
        found = await capacity.lock_pools(tx, scope.world, REGION, [GPU, CPU])
        assert found == [pool(2, used=3, freed_at=T0), pool(9, ZONE, used=3, freed_at=T0), pool(9, B, freed_at=T0)]
        await provide(tx, scope, None)
        assert [one.zone for one in await capacity.pools(tx, scope.world)] == [ZONE, B]


async def test_counts_are_added(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        await provide(tx, scope, 9)
        for back, taken in ((0, 5), (2, 0)):
            await capacity.count(tx, scope.world, REGION, await moved(tx, scope, back, taken))
        (one,) = await capacity.lock_pools(tx, scope.world, REGION, [GPU])
        assert one == pool(9, used=3, freed_at=at(8)), "and when one last came free is kept"


async def test_more_cannot_come_back_than_was_taken(database: Database, scope: Scope) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        async with database.transaction() as tx:
            await provide(tx, scope, 9)
            await capacity.count(tx, scope.world, REGION, await moved(tx, scope, 1, 0))


async def test_pools_are_granted_from_by_one_at_a_time(database: Database, scope: Scope) -> None:
    """RL-1: read under a lock, so that no machine is granted twice."""
    async with database.transaction() as tx:
        await provide(tx, scope, 3)

    async def take(tx: Tx) -> bool:
        (one,) = await capacity.lock_pools(tx, scope.world, REGION, [GPU])
        if one.free:
            stock = Stock([one], [GPU])
            stock.take(WANT)
            await capacity.count(tx, scope.world, REGION, stock)
        return bool(one.free)

    assert sorted(await asyncio.gather(*(database.run(take) for _ in range(10)))) == [False] * 7 + [True] * 3


FREE = {
    "nothing limits": ({}, (None, [])),
    "the region": ({"": 4}, (4, [])),
    "zones": ({ZONE: 4, B: 0}, (4, [B])),
    "the region over its zones": ({"": 3, ZONE: 0, B: 2}, (3, [ZONE])),
}


@pytest.mark.parametrize("name", FREE)
async def test_how_many_are_free(name: str, database: Database, scope: Scope) -> None:
    pools, expected = FREE[name]
    async with database.transaction() as tx:
        for zone, total in pools.items():
            await provide(tx, scope, total, zone)
        assert await capacity.free_machines(tx, scope.world, REGION, GPU) == expected


async def test_changes_are_taken_when_they_are_due(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        for second, total in ((5, 1), (3, 2), (9, None), (3, 7)):
            await capacity.schedule(tx, scope.world, Change(at(second), REGION, "", GPU, total))
        assert [(one.at, one.total) for one in await capacity.take_due_changes(tx, scope.world, at(5))] == [
            (at(3), 7),
            (at(5), 1),
        ]
        assert [one.at for one in await capacity.scheduled(tx, scope.world)] == [at(9)]


async def test_a_wake_is_spent_once(database: Database, scope: Scope) -> None:
    """A second cause keeps the earlier moment, and outlives the spending of the first."""
    async with database.transaction() as tx:
        await capacity.leave_wake(tx, scope.world, REGION, {GPU: at(5)})
        await capacity.leave_wake(tx, scope.world, REGION, {GPU: at(7), CPU: at(7)})
        (wake,) = await capacity.due_wakes(tx, scope.world, at(6))
        assert wake == (REGION, GPU, at(5), 2)
        await capacity.leave_wake(tx, scope.world, REGION, {GPU: at(6)})
        await capacity.spend_wake(tx, scope.world, wake)
        (again,) = await capacity.due_wakes(tx, scope.world, at(6))
        await capacity.spend_wake(tx, scope.world, again)
        assert [one[:3] for one in await capacity.due_wakes(tx, scope.world, at(7))] == [(REGION, CPU, at(7))]


async def test_quotas(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        await capacity.set_quota(tx, scope, "a", 5)
        await capacity.set_quota(tx, scope, "a", 6)
        await capacity.set_quota(tx, scope, "b", 1)
        await capacity.set_quota(tx, scope, "b", None)
        assert await capacity.quotas(tx, scope) == {"a": 6}
        assert await capacity.quotas(tx, Scope(scope.world, "444455556666", REGION)) == {}
