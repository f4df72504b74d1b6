"""What a process remembers of worlds, and when it looks again."""

import asyncio

import pytest

from app.core.releases import Release
from app.core.scope import Scope
from app.store import lag, software
from app.store.db import Database, Tx
from app.usecases.peculiarities import REMEMBERED_SECONDS, Peculiarities, Remembered
from tests.store.conftest import scope as scope

NEWER = Release("9.0.0")
BEFORE, AFTER = (False, False), (True, True)


class Watch:
    """A clock of the wall that stands until it is set."""

    at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def watch() -> Watch:
    return Watch()


async def change(tx: Tx, world: str) -> None:
    """As another process would."""
    await lag.set_seconds(tx, world, 60)
    await software.publish(tx, world, NEWER)


def told(found: Peculiarities) -> tuple[bool, bool]:
    return found.late, NEWER in found.releases


async def test_what_another_process_changes_is_noticed_in_a_moment(
    database: Database, scope: Scope, watch: Watch
) -> None:
    remembered = Remembered(watch)
    assert told(await remembered.of(database, scope.world)) == BEFORE
    await database.run(change, scope.world)
    watch.at += REMEMBERED_SECONDS / 2
    assert told(await remembered.of(database, scope.world)) == BEFORE
    watch.at += REMEMBERED_SECONDS / 2
    assert told(await remembered.of(database, scope.world)) == AFTER


async def test_what_this_process_changes_is_noticed_at_once(database: Database, scope: Scope, watch: Watch) -> None:
    remembered = Remembered(watch)
    assert told(await remembered.of(database, scope.world)) == BEFORE
    await database.run(change, scope.world)
    remembered.forget()
    assert told(await remembered.of(database, scope.world)) == AFTER


async def test_who_looked_while_it_changed_leaves_nothing_behind(
    database: Database, scope: Scope, watch: Watch
) -> None:
    """The look waits at the lag; what it has read of releases by then is old, and is not remembered."""
    remembered = Remembered(watch)
    async with database.transaction() as tx:
        await tx.execute("LOCK TABLE read_lag IN ACCESS EXCLUSIVE MODE")
        looking = asyncio.create_task(remembered.of(database, scope.world))
        while not await tx.fetchval("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)"):
            pass
        await change(tx, scope.world)
    remembered.forget()
    assert told(await looking) == (True, False)
    assert told(await remembered.of(database, scope.world)) == AFTER


async def test_who_comes_while_another_looks_does_not_wait(database: Database, scope: Scope, watch: Watch) -> None:
    remembered = Remembered(watch)
    await remembered.of(database, scope.world)
    watch.at += REMEMBERED_SECONDS
    async with database.transaction() as tx:
        await tx.execute("LOCK TABLE read_lag IN ACCESS EXCLUSIVE MODE")
        looking = asyncio.create_task(remembered.of(database, scope.world))
        await asyncio.wait([looking], timeout=0)
        assert told(await remembered.of(database, scope.world)) == BEFORE
        assert not looking.done()
    assert told(await looking) == BEFORE
