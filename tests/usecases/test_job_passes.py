"""Passes over jobs: one that is wrong stops no other, and requests that come at once are served one by one."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from app.store import worlds
from app.store.db import Database
from app.usecases import quotas
from app.usecases.admission import admit
from tests.jobs import Driver, Jobs, gpus, pool, spec
from tests.kit import Running
from tests.store.conftest import make_world

METRIC = "aiplatform.googleapis.com/custom_model_training_nvidia_h100_gpus"


@pytest.fixture
async def driver(database: Database) -> AsyncIterator[Driver]:
    name = await make_world(database)
    yield Driver(database, name)
    async with database.transaction() as tx:
        await worlds.remove(tx, name)


def test_a_job_that_cannot_be_handled_stops_no_other(service: Running) -> None:
    """One whose labels nobody can read, forged in an export: the others of its batch run, and it is named."""
    world = service.world()
    jobs = Jobs(world)
    names = [jobs.create(name=f"job-{number}") for number in range(3)]
    content = json.loads(world.export())
    forged = content["tables"]["custom_job"][1]
    forged["labels"] = {"windtunnel-run-time": "soon"}
    twin = f"{world.name}-forged"
    made = world.http.post(
        f"{world.base}/_windtunnel/worlds/import",
        params={"name": twin},
        content=json.dumps(content),
        headers={"content-type": "application/json"},
    )
    assert made.status_code == 201, made.text
    answer = world.http.post(f"{world.base}/w/{twin}/_windtunnel/clock/advance", json={"by": 3600}).json()
    assert answer["settled"] is False
    assert "windtunnel status" in answer["reason"]
    [failing] = world.control("GET", "status")["failing"]
    assert (failing["world"], failing["name"]) == (twin, forged["display_name"])
    assert "windtunnel-run-time" in failing["error"]
    there = f"{world.base}/w/{twin}/_windtunnel/jobs"
    attempts = [world.http.get(f"{there}/{name.rpartition('/')[2]}").json()["attempt"] for name in names]
    assert sorted(attempts) == [0, 1, 1], "the others have begun, as far as the clock went"
    world.http.delete(f"{world.base}/_windtunnel/worlds/{twin}")


async def test_many_at_once_get_no_more_than_the_quota(driver: Driver) -> None:
    """VX-1: sixteen requests at the same time, of which four fit; each has a number of its own."""
    await driver.db.run(quotas.set_quota, driver.scope, METRIC, 32)
    made = await asyncio.gather(*(driver.create(spec(gpus(RUN_SECONDS="100"))) for _ in range(16)))
    assert len(set(made)) == 16
    states = [await driver.state(one) for one in made]
    assert (states.count("PENDING"), states.count("QUEUED")) == (4, 12)
    jobs = [await driver.job(one) for one in made]
    assert sorted(one.number for one in jobs) == list(range(1, 17))
    assert max(one.number for one in jobs if one.admitted_at) == 4, "in the order in which they came"
    await driver.advance(3600)
    assert {await driver.state(one) for one in made} == {"SUCCEEDED"}


async def test_asking_again_changes_nothing(driver: Driver) -> None:
    """Who is admitted is admitted once, however often the fleet is looked at."""
    await driver.db.run(quotas.set_quota, driver.scope, METRIC, 8)
    first = await driver.create(spec(gpus()))
    second = await driver.create(spec(gpus()))
    async with driver.db.transaction() as tx:
        world = await worlds.read(tx, driver.scope.world)
        assert world is not None
        assert await admit(tx, world, driver.scope, "") == 0
    assert [await driver.state(one) for one in (first, second)] == ["PENDING", "QUEUED"]


async def test_cancel_and_delete_at_once(driver: Driver) -> None:
    """Whatever comes first, the job is cancelled, and deleted only afterwards."""
    job = await driver.create(spec(pool(RUN_SECONDS="1000")))
    await driver.advance(10)
    await asyncio.gather(*(driver.cancel(job) for _ in range(5)))
    await driver.advance(60)
    assert await driver.state(job) == "CANCELLED"
