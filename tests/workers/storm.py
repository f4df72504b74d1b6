"""Clients that do things to a running world while its workers are killed, again and again."""

import random
import threading
import time
from collections.abc import Callable, Sequence

from app.settings import Settings
from tests.kit import TestWorld
from tests.workers.forked import Forked

KINDS = ("reconciler", "scheduler", "reconciler", "scheduler")
"""Who works, and who is killed one after the other."""
DEEDS, PATIENCE = 40, 60.0
"""At least so many deeds are done in a storm, within so many seconds."""


class Load(threading.Thread):
    """A client that does one deed after another, with pauses of up to `longest` wall seconds, until it is over."""

    def __init__(self, deed: Callable[[], object], draw: random.Random, longest: float = 0.05) -> None:
        super().__init__(daemon=True)
        self._deed, self._draw, self._longest = deed, draw, longest
        self.over = threading.Event()
        self.done = 0
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self.over.wait(self._draw.random() * self._longest):
                self._deed()
                self.done += 1
        except Exception as error:
            self.failure = error


def kill_workers(
    world: TestWorld, settings: Settings, loads: Sequence[Load], kills: int, kinds: Sequence[str] = KINDS
) -> None:
    """Kill one worker after the other while the loads run, until they have done some deeds, however slow the machine.

    Then all is ended and the world is frozen.

    No client has seen anything but answers and refusals.
    """
    draw = random.Random(1)
    workers = [Forked(kind, settings) for kind in kinds]
    try:
        for load in loads:
            load.start()
        for kill in range(kills):
            time.sleep(0.05 + draw.random() * 0.3)
            workers[kill % len(workers)].kill()
            workers[kill % len(workers)].start()
        deadline = time.monotonic() + PATIENCE
        while sum(load.done for load in loads) < DEEDS and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
    finally:
        for load in loads:
            load.over.set()
        for load in loads:
            load.join(30)
        for one in workers:
            one.stop()
        world.control("POST", "clock", json={"frozen": True})
    failures = [repr(load.failure) for load in loads if load.failure]
    assert not failures, failures
