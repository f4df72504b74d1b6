"""Clients of jobs, of clusters' jobs and of studies at once, while four workers move a world that runs."""

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial

import asyncpg

from app.settings import Settings
from tests.fleets import do
from tests.job_balance import job_balance
from tests.job_deeds import H100, VERBS, JobDeeds
from tests.jobs import LOCATION
from tests.kit import Running
from tests.workers.forked import Forked
from tests.workers.storm import Load
from tests.workers.test_killed_fleets import Client as FleetClient

SECONDS = 10.0


class Client(threading.Thread):
    """One that does the same thing with other words until its time is over, or it sees what no client should."""

    def __init__(self, deed: Callable[[], None], until: float) -> None:
        super().__init__(daemon=True)
        self.deed, self.until = deed, until
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while time.monotonic() < self.until:
                self.deed()
        except Exception as error:
            self.failure = error


def some_deed(client: JobDeeds) -> None:
    client.do(client.draw.choice(VERBS))


def deadlocks(settings: Settings) -> int:
    """How many circles of waiting Postgres has broken in our database."""

    async def ask() -> int:
        connection = await asyncpg.connect(settings.database_url)
        try:
            found: int = await connection.fetchval(
                "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
            )
            return found
        finally:
            await connection.close()

    return asyncio.run(ask())


def test_jobs_of_all_kinds_at_once(settings: Settings, remote: Running) -> None:
    """RL-5: nobody waits for another in a circle, no pass fails, and when all is over nobody waits for nothing."""
    world = remote.world(frozen=False, rate=60.0)
    do(world, "create", 4)
    assert world.vertex
    before = deadlocks(settings)
    until = time.monotonic() + SECONDS
    deeds = [JobDeeds(world, seed) for seed in range(4)]
    clients = [Client(partial(some_deed, one), until) for one in deeds]
    owners = [FleetClient(world, seed) for seed in range(2)]
    loads = [Load(one.act, one.draw, 0.1) for one in owners]
    workers = [Forked(kind, settings) for kind in ("reconciler", "reconciler", "scheduler", "scheduler")]
    try:
        for thread in (*clients, *loads):
            thread.start()
        for client in clients:
            client.join()
    finally:
        for load in loads:
            load.over.set()
            load.join(30)
        for one in workers:
            one.stop()
        world.control("POST", "clock", json={"frozen": True})
    failures = [*(one.failure for one in clients), *(one.failure for one in loads)]
    assert [failure for failure in failures if failure] == []
    assert world.control("GET", "status")["failing"] == []
    world.advance(0)
    deeds[0].calm()
    world.capacity(H100, None, region=LOCATION)
    deeds[0].quota()
    world.advance(hours=24 * 10)
    checked = job_balance(world)
    print(f"{sum(one.done for one in deeds)} deeds, {sum(one.done for one in owners)} on the cluster; {checked}")
    assert deadlocks(settings) == before
    waiting = {one["reason"] for one in world.control("GET", "queue")["queue"]}
    assert waiting <= {"no-free-gpus", "fragmented", "fleet-too-small", "no-node", "quota-too-small"}, (
        "nobody waits for nothing"
    )
