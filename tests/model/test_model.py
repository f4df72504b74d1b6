"""Walks over the API against a small model of what a user may rely on (RL-12); MODEL_STEPS and MODEL_SEED set others."""

import os

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.kit import Running
from tests.model.machine import Walk

STEPS = int(os.environ.get("MODEL_STEPS", "500"))
LENGTH = 50
SEED = os.environ.get("MODEL_SEED")


def test_no_divergence(service: Running) -> None:
    """RL-12: so many steps, the same ones in every run unless a seed is given."""
    Walk.service, Walk.steps = service, 0
    machine = Walk if SEED is None else seed(int(SEED))(Walk)
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=max(1, STEPS // LENGTH),
            stateful_step_count=LENGTH,
            deadline=None,
            derandomize=SEED is None,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )
    print(f"{Walk.steps} requests")
