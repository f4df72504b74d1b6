"""Worlds in the real database: each test has its own, and it is gone afterwards."""

import itertools
from collections.abc import AsyncIterator

import pytest

from app.core.scope import Scope
from app.store import worlds
from app.store.db import Database, Tx
from tests.core.builders import ACCOUNT, REGION, SEED, T0

_numbers = itertools.count(1)


async def make_world(database: Database, **facts: object) -> str:
    """A frozen world at the beginning of the tests' time."""
    async with database.transaction() as tx:
        return await make_world_in(tx, **facts)


async def make_world_in(tx: Tx, **facts: object) -> str:
    """The same, as part of a transaction."""
    name = f"s-{next(_numbers)}"
    defaults = {"seed": SEED, "profile": "fast", "start": T0, "rate": 1.0, "frozen": True}
    assert await worlds.insert_world(tx, name, **(defaults | facts))  # type: ignore[arg-type]
    return name


@pytest.fixture
async def scope(database: Database) -> AsyncIterator[Scope]:
    """The tests' account in a world of its own."""
    name = await make_world(database)
    yield Scope(name, ACCOUNT, REGION)
    async with database.transaction() as tx:
        await worlds.remove(tx, name)
