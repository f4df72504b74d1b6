"""`kill -9` of reconcilers while jobs come to a cluster whose nodes break, reboot, are updated and go."""

import random
import threading
import time

from botocore.exceptions import ClientError
from google.api_core import exceptions

from app.settings import Settings
from tests.balance import balance
from tests.fleets import VERBS, do
from tests.kit import Running, TestWorld
from tests.workers.forked import Forked

KILLS = 25
CLIENTS = 2


class Load(threading.Thread):
    """A client that does whatever there is to do; refusals are part of it."""

    def __init__(self, world: TestWorld, seed: int) -> None:
        super().__init__(daemon=True)
        self.world, self.draw, self.over = world, random.Random(seed), threading.Event()
        self.failure: Exception | None = None
        self.done = 0

    def run(self) -> None:
        while self.failure is None and not self.over.wait(self.draw.random() * 0.1):
            try:
                do(self.world, self.draw.choice(VERBS), self.draw.random())
                self.done += 1
            except (exceptions.BadRequest, IndexError):
                continue
            except ClientError as refused:
                if refused.response["ResponseMetadata"]["HTTPStatusCode"] >= 500:
                    self.failure = refused
            except Exception as error:
                self.failure = error


def test_twenty_five_kills_while_nodes_and_jobs_come_and_go(settings: Settings, remote: Running) -> None:
    """VX-24, RL-1: no GPU is held twice, nor by anyone who is not there; each stay lies in its bill; nothing fails."""
    world = remote.world(frozen=False, rate=60.0)
    do(world, "create", 4)
    assert world.vertex, "Google's packages take a while to load"
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
    finally:
        for load in loads:
            load.over.set()
            load.join(30)
        for one in reconcilers:
            one.stop()
        world.control("POST", "clock", json={"frozen": True})
    assert [load.failure for load in loads if load.failure] == []
    world.advance(0)
    balance(world)
    world.control("DELETE", "faults")
    world.advance(hours=2)
    balance(world)
    assert sum(load.done for load in loads) > 20
    assert world.control("GET", "status")["failing"] == []
    waiting = {one["reason"] for one in world.control("GET", "queue")["queue"]}
    assert waiting <= {"gpus-in-use", "behind-others", "fleet-too-small"}, "nobody waits for nothing"
