"""`kill -9` of the API after its commit and before its answer: the client asks again and has one effect."""

import asyncio
import time
from collections.abc import AsyncIterator

import asyncpg
import httpx
import orjson
import pytest

from app.settings import Settings
from tests.kit import Running, TestWorld, eks, group
from tests.workers.forked import Forked

KILLS = 50
# A commit that takes a while inside Postgres: long enough to be seen, and to outlive who asked for it.
SLOW_COMMIT = """
CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.15); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON idempotency DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION dawdle();
"""
# A heartbeat commits, too, but it does not dawdle.
COMMITTING = "SELECT count(*) FROM pg_stat_activity WHERE query ILIKE 'commit%' AND wait_event = 'PgSleep'"


@pytest.fixture
async def slow_commits(crashes: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(crashes)
    await connection.execute(SLOW_COMMIT)
    yield connection
    await connection.execute("DROP TRIGGER dawdle ON idempotency; DROP FUNCTION dawdle()")
    await connection.close()


def request(world: TestWorld, base: str, token: str) -> httpx.Request:
    body = {
        "ClusterName": "demo",
        "ClientToken": token,
        "NodesToAdd": [{"InstanceGroupName": "a", "IncrementTargetCountBy": 2}],
    }
    headers = {"x-amz-target": "SageMaker.BatchAddClusterNodes", "content-type": "application/x-amz-json-1.1"}
    return httpx.Request("POST", f"{base}/w/{world.name}/", headers=headers, content=orjson.dumps(body))


async def committed_unanswered(
    connection: asyncpg.Connection, client: httpx.AsyncClient, asked: httpx.Request, api: Forked
) -> None:
    """Send the request, and kill the API while Postgres commits it."""
    before = await connection.fetchval("SELECT count(*) FROM idempotency")
    sent = asyncio.create_task(client.send(asked))
    while not await connection.fetchval(COMMITTING):
        assert not sent.done(), sent.result().text
        await asyncio.sleep(0.002)
    api.kill()
    with pytest.raises(httpx.HTTPError):
        await sent
    deadline = time.monotonic() + 5
    while await connection.fetchval("SELECT count(*) FROM idempotency") == before:
        assert time.monotonic() < deadline, "the commit was lost"
        await asyncio.sleep(0.01)


async def test_fifty_answers_that_never_came(
    settings: Settings, remote: Running, slow_commits: asyncpg.Connection
) -> None:
    """RL-3: each commit outlives the API; the same token then gives the same nodes, and exactly one effect."""
    world = remote.world()
    world.sagemaker.create_cluster(**eks(group("a", 1)))
    world.advance(60)
    api = Forked("api", settings)
    try:
        api.wait_alive()
        for kill in range(1, KILLS + 1):
            async with httpx.AsyncClient(timeout=30) as client:
                asked = request(world, api.base, f"token-{kill}")
                await committed_unanswered(slow_commits, client, asked, api)
                api.start()
                first = await client.send(request(world, api.base, f"token-{kill}"))
                again = await client.send(request(world, api.base, f"token-{kill}"))
            assert first.status_code == 200, first.text
            assert first.json() == again.json()
            assert len(first.json()["Successful"]) == 2
            group_now = await slow_commits.fetchrow(
                "SELECT target, slots, rows FROM instance_group WHERE world = $1", world.name
            )
            assert tuple(group_now) == (1 + 2 * kill,) * 3
    finally:
        api.stop()
    await asyncio.to_thread(world.advance, 60)
    group_then = await asyncio.to_thread(world.group, "a")
    assert group_then["CurrentCount"] == group_then["TargetCount"] == 1 + 2 * KILLS
