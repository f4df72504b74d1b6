"""Clients that do things to a running world while its reconcilers are killed, again and again."""

import random
import threading
import time
from collections.abc import Callable, Sequence

from app.settings import Settings
from tests.kit import TestWorld
from tests.workers.forked import Forked

RECONCILERS = 2


class Load(threading.Thread):
    """A client that does one deed after another, with pauses of up to `longest` wall seconds, until it is over."""

    def __init__(self, deed: Callable[[], object], draw: random.Random, longest: float = 0.05) -> None:
        super().__init__(daemon=True)
        self._deed, self._draw, self._longest = deed, draw, longest
        self.over = threading.Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self.over.wait(self._draw.random() * self._longest):
                self._deed()
        except Exception as error:
            self.failure = error


def kill_reconcilers(world: TestWorld, settings: Settings, loads: Sequence[Load], kills: int) -> None:
    """Kill one of two reconcilers after the other while the loads run; then all is ended and the world is frozen.

    No client has seen anything but answers and refusals.
    """
    draw = random.Random(1)
    reconcilers = [Forked("reconciler", settings) for _ in range(RECONCILERS)]
    try:
        for load in loads:
            load.start()
        for kill in range(kills):
            time.sleep(0.05 + draw.random() * 0.3)
            reconcilers[kill % RECONCILERS].kill()
            reconcilers[kill % RECONCILERS].start()
        time.sleep(0.5)
    finally:
        for load in loads:
            load.over.set()
        for load in loads:
            load.join(30)
        for one in reconcilers:
            one.stop()
        world.control("POST", "clock", json={"frozen": True})
    assert [load.failure for load in loads if load.failure] == []
