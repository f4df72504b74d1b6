"""Custom jobs through their use cases."""

from collections.abc import AsyncIterator

import pytest

from app.store import worlds
from app.store.db import Database
from tests.jobs import Driver, pool, spec
from tests.store.conftest import make_world


@pytest.fixture
async def driver(database: Database) -> AsyncIterator[Driver]:
    name = await make_world(database)
    yield Driver(database, name)
    async with database.transaction() as tx:
        await worlds.remove(tx, name)


async def test_the_plain_way(driver: Driver) -> None:
    """VX-1, VX-2, VX-8: PENDING at once, RUNNING when all workers are up, SUCCEEDED when the primary is done."""
    job_id = await driver.create(spec(pool(), pool(3)))
    assert await driver.state(job_id) == "PENDING"
    await driver.advance(5)
    assert await driver.state(job_id) == "RUNNING"
    await driver.advance(60)
    told = await driver.view(job_id)
    assert told.state == "JOB_STATE_SUCCEEDED"
    assert told.error is None and told.started_at and told.ended_at
