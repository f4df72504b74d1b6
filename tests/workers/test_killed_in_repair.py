"""`kill -9` of reconcilers while nodes break, are mended, patched and moved, and sit on training plans."""

import random
import threading
import time

from app.settings import Settings
from tests.balance import balance, quiet
from tests.deeds import G5, VERBS, Deeds
from tests.kit import Running, TestWorld
from tests.plans import P5
from tests.workers.forked import Forked

KILLS = 25
CLIENTS = 2


class Load(threading.Thread):
    """A client that does whatever there is to do."""

    def __init__(self, world: TestWorld, seed: int) -> None:
        super().__init__(daemon=True)
        self.deeds, self.over = Deeds(world, seed), threading.Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self.over.wait(self.deeds.draw.random() * 0.05):
                self.deeds.do(self.deeds.draw.choice(VERBS))
        except Exception as error:
            self.failure = error


def test_twenty_five_kills_while_everything_happens(settings: Settings, remote: Running) -> None:
    """RL-1: bills are the integral of what the events tell; counts, pools and plans add up; operations end."""
    world = remote.world(frozen=False, rate=60.0)
    Deeds(world, 1).begin()
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
    world.advance(0)
    balance(world)
    world.control("DELETE", "faults")
    for machine in (P5, G5):
        world.capacity(machine, None)
    world.advance(hours=2)
    checked = balance(world)
    quiet(world)
    print(checked, sum(sum(load.deeds.done.values()) for load in loads))
    assert world.control("GET", "status")["failing"] == []
    assert checked["intervals"] > 20
