"""The walk of tests/model in worlds that run, while their reconcilers are killed (RL-12, RL-1)."""

import os

from app.settings import Settings
from tests.kit import Running
from tests.model.machine import Walk
from tests.model.walking import walk
from tests.workers.forked import Forked

STEPS = int(os.environ.get("MODEL_STEPS", "500")) // 5
SEED = os.environ.get("MODEL_SEED") or None


def test_no_divergence_over_kills(settings: Settings, remote: Running) -> None:
    """RL-12: `kill -9` of reconcilers is a step like others; what is believed holds all the same."""
    reconcilers = [Forked("reconciler", settings) for _ in range(2)]
    Walk.service, Walk.reconcilers, Walk.kills = remote, reconcilers, 0
    try:
        walk(Walk, STEPS, None if SEED is None else int(SEED))
    finally:
        Walk.reconcilers = ()
        for one in reconcilers:
            one.stop()
    print(f"{Walk.kills} kills")
    assert Walk.kills > 0
