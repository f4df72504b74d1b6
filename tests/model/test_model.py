"""Walks over the API against a model of what a user may rely on (RL-12); MODEL_STEPS, MODEL_SEED: others."""

import os

from tests.kit import Running
from tests.model.machine import Walk
from tests.model.walking import walk

STEPS = int(os.environ.get("MODEL_STEPS", "500"))
REACHED = {
    *(f"cluster {status}" for status in ("Creating", "InService", "Updating", "RollingBack", "Failed", "Deleting")),
    *(f"group {status}" for status in ("Creating", "InService", "Updating", "Degraded", "SystemUpdating", "Deleting")),
    *("ConflictException", "ResourceInUse", "ResourceNotFound", "ValidationException"),
}
SEED = os.environ.get("MODEL_SEED") or None


def test_no_divergence(service: Running) -> None:
    """RL-12: so many steps, the same ones in every run unless a seed is given."""
    Walk.service, Walk.reconcilers, Walk.steps = service, (), 0
    Walk.saw.clear()
    walk(Walk, STEPS, None if SEED is None else int(SEED))
    print(f"{Walk.steps} requests; seen: {dict(Walk.saw)}")
    assert Walk.steps > STEPS / 5
    missed = REACHED - Walk.saw.keys()
    assert len(missed) <= 2, f"the walk has become a stroll: it has missed {missed}"
