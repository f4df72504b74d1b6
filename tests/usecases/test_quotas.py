"""VX-1: quotas of Vertex AI at work: who is refused, who queues, and who goes on when a quota is raised."""

from collections.abc import AsyncIterator

import pytest

from app.core.errors import LimitExceeded
from app.core.machines import METRIC
from app.store import worlds
from app.store.db import Database
from app.usecases import quotas
from tests.jobs import Driver, pool, spec
from tests.store.conftest import make_world

LONG = {"RUN_SECONDS": "3600"}


@pytest.fixture
async def driver(database: Database) -> AsyncIterator[Driver]:
    name = await make_world(database)
    yield Driver(database, name)
    async with database.transaction() as tx:
        await worlds.remove(tx, name)


async def limit(driver: Driver, kind: str, value: int | None) -> None:
    await driver.db.run(quotas.set_quota, driver.scope, METRIC + kind, value)


@pytest.mark.parametrize("raised", [8, None])
async def test_a_quota_that_is_raised_lets_a_queued_job_go_on(driver: Driver, raised: int | None) -> None:
    """VX-1, VX-22: first come, first served under `cpus`, at the instant at which there is room."""
    await limit(driver, "cpus", 4)
    first, second = [await driver.create(spec(pool(**LONG))) for _ in range(2)]
    assert (await driver.state(first), await driver.state(second)) == ("PENDING", "QUEUED")
    await driver.advance(60)
    assert (await driver.state(first), await driver.state(second)) == ("RUNNING", "QUEUED")
    await limit(driver, "cpus", raised)
    await driver.advance(60)
    assert await driver.state(second) == "RUNNING"


async def test_a_request_above_the_quota_is_refused(driver: Driver) -> None:
    """VX-1, VX-22: the metric is named; SPOT goes by the preemptible one."""
    await limit(driver, "cpus", 3)
    with pytest.raises(LimitExceeded, match="custom_model_training_cpus"):
        await driver.create(spec(pool()))
    await driver.create(spec(pool(), strategy="SPOT"))
    await limit(driver, "preemptible_cpus", 3)
    with pytest.raises(LimitExceeded, match="custom_model_training_preemptible_cpus"):
        await driver.create(spec(pool(), strategy="SPOT"))
