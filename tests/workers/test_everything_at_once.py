"""Eight clients that do all there is to a world that runs, while two reconcilers move it: nothing fails."""

import os
import threading
import time
from collections import Counter

from app.settings import Settings
from tests.deeds import EVERYTHING, Deeds
from tests.kit import Running, TestWorld
from tests.workers.forked import Forked

CLIENTS = 8
SECONDS = float(os.environ.get("EVERYTHING_SECONDS", "12"))


class Client(threading.Thread):
    """One that ends at the first thing that no client should see."""

    def __init__(self, world: TestWorld, seed: int, until: float) -> None:
        super().__init__(daemon=True)
        self.deeds, self.until = Deeds(world, seed), until
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while time.monotonic() < self.until:
                self.deeds.do(self.deeds.draw.choice(EVERYTHING))
        except Exception as error:
            self.failure = error


def test_everything_at_once(settings: Settings, remote: Running) -> None:
    """RL-5: no 5xx, no deadlock that a client sees, no cluster that fails, whoever does what at the same time."""
    world = remote.world(frozen=False, rate=60.0)
    Deeds(world, 1).begin()
    reconcilers = [Forked("reconciler", settings) for _ in range(2)]
    clients = [Client(world, seed, time.monotonic() + SECONDS) for seed in range(CLIENTS)]
    failing = []
    try:
        for client in clients:
            client.start()
        while any(client.is_alive() for client in clients):
            failing += world.control("GET", "status")["failing"]
            time.sleep(0.2)
    finally:
        for one in reconcilers:
            one.stop()
        world.control("POST", "clock", json={"frozen": True})
    assert [client.failure for client in clients if client.failure] == []
    assert failing == []
    tried = sum((Counter(client.deeds.tried) for client in clients), Counter())
    done = sum((Counter(client.deeds.done) for client in clients), Counter())
    print({verb: f"{done[verb]} of {tried[verb]}" for verb in EVERYTHING})
    world.control("DELETE", "faults")
    world.advance(hours=2)
    assert world.control("GET", "status")["failing"] == []
