"""What the outside is told, in one order that no reader can fall through (HP-28, CT-8)."""

import asyncio

from app.core.cluster_events import Event
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import copies, events, outbox
from app.store.db import Database, Tx
from app.store.outbox import BEFORE_ALL, Entry, Told, Wanted
from tests.core.builders import at
from tests.store.conftest import make_world
from tests.store.rows import CLUSTER_ID, add_cluster

LAST = (2**62, 2**62)


def told(count: int, first: int = 1, when: WorldTime | None = None) -> list[Event]:
    return [Event("terminating", when or at(n), "workers", f"i-{n}", f"n-{n}") for n in range(first, first + count)]


async def read(tx: Tx, scope: Scope, after: outbox.Place = BEFORE_ALL, limit: int = 1000, **wanted: str) -> list[Told]:
    return await outbox.page(tx, scope.world, Wanted(**wanted), after=after, until=LAST, limit=limit)


async def count(tx: Tx, scope: Scope) -> int:
    number: int = await tx.fetchval("SELECT count(*) FROM outbox WHERE world = $1", scope.world)
    return number


async def test_messages_and_events_are_in_their_clusters_order(database: Database, scope: Scope) -> None:
    """CT-8: in order per cluster, whatever their times say."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await events.append(tx, scope, CLUSTER_ID, told(3, when=at(9)), 0, 100)
        await outbox.announce(tx, scope, CLUSTER_ID, at(5), [("A", {"n": 1}), ("B", {})])
        await events.append(tx, scope, CLUSTER_ID, told(2, 4, when=at(4)), 3, 100)
        await outbox.arrange(tx, scope.world)
        found = await read(tx, scope)
    assert [(one.event.instance_id if one.event else one.detail_type) for one in found[1:]] == [
        "i-1", "i-2", "i-3", "A", "B", "i-4", "i-5"
    ]  # fmt: skip
    assert [one.place for one in found] == sorted(one.place for one in found)


async def test_any_place_can_be_gone_on_from(database: Database, scope: Scope) -> None:
    """CT-8: resumable by id, also amid the events of one transaction."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await events.append(tx, scope, CLUSTER_ID, told(20), 0, 100)
        await outbox.announce(tx, scope, CLUSTER_ID, at(30), [("A", {})])
        await outbox.arrange(tx, scope.world)
        whole = await read(tx, scope)
        assert len(whole) == 22
        for size in (1, 3, 21):
            parts: list[Told] = []
            while page := await read(tx, scope, parts[-1].place if parts else BEFORE_ALL, size):
                parts += page
            assert parts == whole
        assert await outbox.newest(tx, scope.world, Wanted(), 5) == whole[-5:]


async def test_who_commits_later_is_not_passed_over(database: Database, scope: Scope) -> None:
    """CT-8: a transaction that began first and commits last gets its position last."""
    others = Scope(scope.world, "444455556666", scope.region)
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await add_cluster(tx, others)
        await outbox.arrange(tx, scope.world)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        async with database.transaction() as tx:
            await outbox.announce(tx, scope, CLUSTER_ID, at(1), [("slow", {})])
            begun.set()
            await go_on.wait()

    task = asyncio.create_task(slow())
    await begun.wait()
    async with database.transaction() as tx:
        await outbox.announce(tx, others, CLUSTER_ID, at(2), [("quick", {})])
    async with database.transaction() as tx:
        await outbox.arrange(tx, scope.world)
        seen = await read(tx, scope)
    go_on.set()
    await task
    async with database.transaction() as tx:
        assert scope.world in await outbox.unarranged(tx)
        await outbox.arrange(tx, scope.world)
        later = await read(tx, scope, seen[-1].place)
    assert [one.detail_type for one in (seen[-1], *later)] == ["quick", "slow"]


async def test_two_who_arrange_at_once_give_each_position_once(database: Database, scope: Scope) -> None:
    """CT-8: one order, whoever makes it."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
    for n in range(20):
        async with database.transaction() as tx:
            await outbox.announce(tx, scope, CLUSTER_ID, at(n), [("A", {"n": n})] * 3)
        await asyncio.gather(*(database.run(outbox.arrange, scope.world) for _ in range(4)))
    async with database.transaction() as tx:
        found = await read(tx, scope)
        positions = [one.place[0] for one in found]
        assert positions == list(range(positions[0], positions[0] + 61))
        assert await outbox.head(tx, scope.world) == positions[-1]
    assert [one.detail.get("n") for one in found[1:]] == [n for n in range(20) for _ in range(3)]


async def test_old_rows_are_dropped(database: Database, scope: Scope) -> None:
    """CT-8: bounded; HP-6: what is told of events that are not kept any more is nothing."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        seq = 0
        for n in range(12):
            seq = await events.append(tx, scope, CLUSTER_ID, told(4, seq + 1), seq, 10)
            await outbox.put(tx, scope, CLUSTER_ID, [Entry(at(n), "A", {"n": n})], 10)
        assert await count(tx, scope) == 10
        await outbox.arrange(tx, scope.world)
        found = await read(tx, scope)
    assert [one.event.instance_id for one in found if one.event] == [f"i-{n}" for n in range(39, 49)]
    assert [one.detail["n"] for one in found if not one.event] == [7, 8, 9, 10, 11]


async def test_filters(database: Database, scope: Scope) -> None:
    """CT-8: by detail type and by cluster, by name, id or ARN."""
    async with database.transaction() as tx:
        one = await add_cluster(tx, scope, name="left")
        await add_cluster(tx, scope, "b" * 12, name="right")
        await outbox.announce(tx, scope, CLUSTER_ID, at(1), [("A", {})])
        await outbox.announce(tx, scope, "b" * 12, at(1), [("A", {})])
        await outbox.arrange(tx, scope.world)
        for named in ("left", CLUSTER_ID, one.arn):
            assert {found.cluster for found in await read(tx, scope, cluster=named)} == {"left"}
        assert len(await read(tx, scope, detail_type="A")) == 2
        assert await read(tx, scope, cluster="arn:aws:sagemaker:us-east-1:111122223333:cluster/x") == []


async def test_a_copy_goes_on_behind_its_source(database: Database, scope: Scope) -> None:
    """CT-0: a fork's readers find the history at its places, and its news behind it."""
    twin = Scope(await make_world(database), scope.account, scope.region)
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        before = await outbox.arrange(tx, scope.world)
        await copies.copy_rows(tx, scope.world, twin.world)
        assert await outbox.head(tx, twin.world) == before
        assert await read(tx, twin) == await read(tx, scope)
        await outbox.announce(tx, twin, CLUSTER_ID, at(1), [("A", {})])
        assert await outbox.arrange(tx, twin.world) > before
        assert [one.detail_type for one in await read(tx, twin, (before, 0))] == ["A"]
        assert await outbox.arrange(tx, "nowhere") == 0
