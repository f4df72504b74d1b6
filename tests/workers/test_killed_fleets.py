"""`kill -9` of workers while jobs come to a cluster whose nodes break, reboot, are updated and go."""

import random

from botocore.exceptions import ClientError
from google.api_core import exceptions

from app.settings import Settings
from tests.balance import balance
from tests.fleets import VERBS, do
from tests.kit import Running, TestWorld
from tests.workers.storm import Load, kill_workers

KILLS = 25
CLIENTS = 2


class Client:
    """Does whatever there is to do; refusals are part of it."""

    def __init__(self, world: TestWorld, seed: int) -> None:
        self.world, self.draw, self.done = world, random.Random(seed), 0

    def act(self) -> None:
        try:
            do(self.world, self.draw.choice(VERBS), self.draw.random())
            self.done += 1
        except (exceptions.BadRequest, IndexError):
            pass
        except ClientError as refused:
            if refused.response["ResponseMetadata"]["HTTPStatusCode"] >= 500:
                raise


def test_twenty_five_kills_while_nodes_and_jobs_come_and_go(settings: Settings, remote: Running) -> None:
    """VX-24, RL-1: no GPU is held twice, nor by anyone who is not there; each stay lies in its bill; nothing fails."""
    world = remote.world(frozen=False, rate=60.0)
    do(world, "create", 4)
    assert world.vertex, "Google's packages take a while to load"
    clients = [Client(world, seed) for seed in range(CLIENTS)]
    kill_workers(world, settings, [Load(one.act, one.draw, 0.1) for one in clients], KILLS)
    world.advance(0)
    balance(world)
    world.control("DELETE", "faults")
    world.advance(hours=2)
    balance(world)
    assert sum(one.done for one in clients) > 10
    assert world.control("GET", "status")["failing"] == []
    waiting = {one["reason"] for one in world.control("GET", "queue")["queue"]}
    assert waiting <= {"no-free-gpus", "fragmented", "fleet-too-small", "no-node"}, "nobody waits for nothing"
