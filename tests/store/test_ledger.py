"""The schema makes a double charge impossible: Postgres itself refuses each way to one (RL design rule 5)."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import asyncpg
import pytest

from app.core.metering import overlap_ms
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import ledger
from app.store.db import Database, Tx
from tests.core.builders import T0, at
from tests.store.rows import CLUSTER_ID, add_cluster, close_one, open_one

Deed = Callable[[Tx, Scope], Awaitable[object]]


def opening(number: int, start: WorldTime, previous: WorldTime | None = None) -> Deed:
    return lambda tx, scope: open_one(tx, scope, number, start, previous)


def closing(number: int, end: WorldTime) -> Deed:
    return lambda tx, scope: close_one(tx, scope, number, end)


def rewriting(assignment: str) -> Deed:
    return lambda tx, scope: tx.execute(f"UPDATE ledger SET {assignment} WHERE world = $1", scope.world)


ONE = [opening(1, at(10)), closing(1, at(20))]
REFUSED: dict[str, tuple[list[Deed], Deed, type[Exception], str]] = {
    "two open intervals": (
        [opening(1, at(10))],
        opening(2, at(20), at(15)),
        asyncpg.UniqueViolationError,
        "uq_ledger_open",
    ),
    "the same number twice": (ONE, opening(1, at(30)), asyncpg.UniqueViolationError, "pk_ledger"),
    "a chain with a hole": (ONE, opening(3, at(30), at(20)), asyncpg.ForeignKeyViolationError, "fk_ledger_chain"),
    "a second without a first": ([], opening(2, at(30), at(20)), asyncpg.ForeignKeyViolationError, "fk_ledger_chain"),
    "a second that does not say where the first ended": (
        ONE,
        opening(2, at(30)),
        asyncpg.CheckViolationError,
        "ck_ledger_chain",
    ),
    "a second that lies about where the first ended": (
        ONE,
        opening(2, at(15), at(12)),
        asyncpg.ForeignKeyViolationError,
        "fk_ledger_chain",
    ),
    "a start before the previous end": (
        ONE,
        opening(2, at(19), at(20)),
        asyncpg.CheckViolationError,
        "ck_ledger_no_overlap",
    ),
    "a start before the previous end by a microsecond": (
        ONE,
        opening(2, WorldTime(at(20) - timedelta(microseconds=1)), at(20)),
        asyncpg.CheckViolationError,
        "ck_ledger_no_overlap",
    ),
    "an end before the start": (
        [opening(1, at(10))],
        closing(1, at(9)),
        asyncpg.CheckViolationError,
        "ck_ledger_forward",
    ),
    "closing what is closed": (ONE, closing(1, at(25)), AssertionError, "1 intervals should have been open"),
    "closing what never was": ([], closing(1, at(25)), AssertionError, "1 intervals should have been open"),
    "moving an end under a chain": (
        [*ONE, opening(2, at(20), at(20))],
        rewriting("ended_at = ended_at + interval '1 hour'"),
        asyncpg.ForeignKeyViolationError,
        "fk_ledger_chain",
    ),
    "reopening under a chain": (
        [*ONE, opening(2, at(20), at(20)), closing(2, at(30))],
        rewriting("ended_at = CASE number WHEN 2 THEN ended_at END"),
        asyncpg.ForeignKeyViolationError,
        "fk_ledger_chain",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_refused(name: str, database: Database, scope: Scope) -> None:
    """RL-1: nothing is left of the attempt."""
    before, deed, error, constraint = REFUSED[name]
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        for step in before:
            await step(tx, scope)
    async with database.connection() as connection:
        kept = await ledger.entries(connection, scope.world)
    with pytest.raises(error, match=constraint):
        async with database.transaction() as tx:
            await deed(tx, scope)
    async with database.connection() as connection:
        assert await ledger.entries(connection, scope.world) == kept


async def test_a_chain_of_cycles(database: Database, scope: Scope) -> None:
    """HP-22, HP-23: an end may be the next start, and an interval may be empty."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        for number, (start, end) in enumerate([(at(10), at(20)), (at(20), at(20)), (at(25), at(40))], 1):
            await open_one(tx, scope, number, start, {1: None, 2: at(20), 3: at(20)}[number])
            await close_one(tx, scope, number, end)
        entries = await ledger.entries(tx, scope.world)
    assert [(one.number, one.started_at, one.ended_at) for one in entries] == [
        (1, at(10), at(20)),
        (2, at(20), at(20)),
        (3, at(25), at(40)),
    ]
    assert sum(overlap_ms(one.started_at, one.ended_at, None, at(60)) for one in entries) == 25_000
    assert {one.micro_usd_per_hour for one in entries} == {98_320_000}, "the price is written on the interval"


WINDOWS = {
    "all": ((None, None), [1, 2]),
    "behind the first": ((at(20), None), [2]),
    "before the second": ((None, at(30)), [1]),
    "between": ((at(20), at(30)), []),
    "an open one lasts": ((at(hours=9), None), [2]),
}


@pytest.mark.parametrize("name", WINDOWS)
async def test_what_touches_a_window(name: str, database: Database, scope: Scope) -> None:
    (since, until), expected = WINDOWS[name]
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await open_one(tx, scope, 1, at(10))
        await close_one(tx, scope, 1, at(20))
        await open_one(tx, scope, 2, at(30), at(20))
        entries = await ledger.entries(tx, scope.world, since=since, until=until)
    assert [one.number for one in entries] == expected


async def test_bills_name_the_cluster_and_no_other(database: Database, scope: Scope) -> None:
    """HP-25, RL-22: by name or id; another account, region or world sees nothing."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope, name="demo")
        await open_one(tx, scope, 1, T0)
        for cluster in ("demo", CLUSTER_ID):
            assert len(await ledger.entries(tx, scope.world, account=scope.account, cluster=cluster)) == 1
        assert await ledger.entries(tx, scope.world, cluster="other") == []
        assert await ledger.entries(tx, scope.world, account="444455556666") == []
        assert await ledger.entries(tx, scope.world, region="eu-west-1") == []
        assert await ledger.entries(tx, "another") == []
