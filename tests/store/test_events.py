"""Events in order, up to a limit."""

import pytest

from app.core.cluster_events import Event
from app.core.scope import Scope
from app.store import events
from app.store.db import Database, Tx
from tests.core.builders import at
from tests.store.rows import CLUSTER_ID, add_cluster


def told(first: int, count: int) -> list[Event]:
    return [Event("terminating", at(n), "workers", f"i-{n}", f"n-{n}", {"n": n}) for n in range(first, first + count)]


async def kept(tx: Tx, scope: Scope) -> list[int]:
    query = "SELECT seq FROM cluster_event WHERE world = $1 AND cluster_id = $2 ORDER BY seq"
    return [row["seq"] for row in await tx.fetch(query, scope.world, CLUSTER_ID)]


TRIMMED = {
    "below the limit": ([3, 4], 10, 7, [1, 2, 3, 4, 5, 6, 7]),
    "at the limit": ([5, 5], 10, 10, list(range(1, 11))),
    "past it by one": ([5, 6], 10, 11, list(range(2, 12))),
    "more at once than are kept": ([4, 30], 10, 34, list(range(25, 35))),
    "few after many": ([50, 2], 10, 52, list(range(43, 53))),
    "nothing new": ([5, 0], 3, 5, [3, 4, 5]),
}


@pytest.mark.parametrize("name", TRIMMED)
async def test_the_newest_are_kept(name: str, database: Database, scope: Scope) -> None:
    """HP-6."""
    batches, keep, last, expected = TRIMMED[name]
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        seq = 0
        for count in batches:
            seq = await events.append(tx, scope, CLUSTER_ID, told(seq + 1, count), seq, keep)
        assert seq == last
        assert await kept(tx, scope) == expected


@pytest.mark.parametrize("count", [1, 40])
async def test_an_event_comes_back_as_it_went_in(count: int, database: Database, scope: Scope) -> None:
    """By either way of writing: a few by INSERT, many by COPY."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await events.append(tx, scope, CLUSTER_ID, told(1, count), 0, 100)
        assert [await events.get(tx, scope, CLUSTER_ID, seq) for seq in (1, count)] == [
            told(1, 1)[0],
            told(count, 1)[0],
        ]
        assert await events.get(tx, scope, CLUSTER_ID, count + 1) is None
