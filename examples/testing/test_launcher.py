"""The launcher against a world of its own: hours of training, a lost machine, a shortage."""

from typing import Any

import pytest
from launcher import Training, launch, outcome

TRAINING = Training("train", "gcr.io/research/train:1", replicas=2, env=(("WINDTUNNEL_RUN_SECONDS", "7200"),))
"""The variable tells the simulated program how long it runs."""


def test_a_training_succeeds(vertex: Any, world: Any) -> None:
    job = launch(vertex, TRAINING)
    assert world.advance_until(lambda: outcome(job), limit="3h") == "succeeded"


def test_a_lost_machine_costs_time_and_not_the_job(vertex: Any, world: Any) -> None:
    with world.fault("vm-maintenance", job="train", replica="workerpool1-0", seconds=3600, times=1) as fault:
        job = launch(vertex, TRAINING)
        assert world.advance_until(lambda: outcome(job), limit="6h") == "succeeded"
        assert fault.hits == 1


def test_a_program_that_fails_is_told(vertex: Any, world: Any) -> None:
    world.fault("worker-exit", job="train", code="3", seconds=60)
    job = launch(vertex, TRAINING)
    told = world.advance_until(lambda: outcome(job), limit="3h")
    assert "exited with a non-zero status of 3" in told


@pytest.mark.parametrize(("machines", "succeeds"), [(2, True), (1, False)])
def test_a_shortage_ends_the_job_when_it_lasts(vertex: Any, world: Any, machines: int, succeeds: bool) -> None:
    world.capacity("a3-highgpu-8g", machines)
    job = launch(vertex, TRAINING)
    told = world.advance_until(lambda: outcome(job), limit="6h")
    assert told == "succeeded" if succeeds else "Resources are insufficient" in told
