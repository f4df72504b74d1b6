"""`kill -9` of reconcilers while jobs come, run, fail, are preempted and go."""

import random
import threading
import time

from app.settings import Settings
from tests.job_balance import job_balance
from tests.job_deeds import H100, VERBS, JobDeeds
from tests.jobs import LOCATION
from tests.kit import Running, TestWorld
from tests.workers.forked import Forked

KILLS = 25
CLIENTS = 2


class Load(threading.Thread):
    """A client that does whatever there is to do with jobs."""

    def __init__(self, world: TestWorld, seed: int) -> None:
        super().__init__(daemon=True)
        self.deeds, self.over = JobDeeds(world, seed), threading.Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self.over.wait(self.deeds.draw.random() * 0.05):
                self.deeds.do(self.deeds.draw.choice(VERBS))
        except Exception as error:
            self.failure = error


def test_twenty_five_kills_while_jobs_run(settings: Settings, remote: Running) -> None:
    """RL-1, RL-5: two reconcilers and two clients; machines, quotas, bills and logs add up, and every job ends."""
    world = remote.world(frozen=False, rate=60.0)
    world.capacity(H100, 6, region=LOCATION)
    draw = random.Random(1)
    loads = [Load(world, seed) for seed in range(CLIENTS)]
    reconcilers = [Forked("reconciler", settings) for _ in range(2)]
    try:
        for load in loads:
            load.start()
        for kill in range(KILLS):
            time.sleep(0.05 + draw.random() * 0.3)
            reconcilers[kill % 2].kill()
            reconcilers[kill % 2].start()
        time.sleep(0.5)
        for load in loads:
            load.over.set()
            load.join(30)
    finally:
        for load in loads:
            load.over.set()
        for one in reconcilers:
            one.stop()
        world.control("POST", "clock", json={"frozen": True})
    assert [load.failure for load in loads if load.failure] == []
    assert world.control("GET", "status")["failing"] == []
    world.advance(0)
    job_balance(world)
    loads[0].deeds.calm()
    loads[0].deeds.lift_quotas()
    world.capacity(H100, None, region=LOCATION)
    world.advance(hours=24 * 10)
    checked = job_balance(world)
    print(f"{sum(load.deeds.done for load in loads)} deeds; checked {checked}")
    assert checked["jobs"] > 20
    assert checked["intervals"] > 50
    assert {one["ended_at"] is None for one in _jobs(world)} == {False}


def _jobs(world: TestWorld) -> list[dict[str, object]]:
    found: list[dict[str, object]] = world.http.get(f"{world.base}/_windtunnel/worlds/{world.name}/export").json()[
        "tables"
    ]["custom_job"]
    return found
