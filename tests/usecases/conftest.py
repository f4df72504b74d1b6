"""A project in a world of its own, whose clock is frozen."""

from collections.abc import AsyncIterator

import pytest

from app.store import worlds
from app.store.db import Database
from tests.jobs import Driver
from tests.store.conftest import make_world


@pytest.fixture
async def driver(database: Database) -> AsyncIterator[Driver]:
    name = await make_world(database)
    yield Driver(database, name)
    async with database.transaction() as tx:
        await worlds.remove(tx, name)
