"""Seeded scripts of all that can be done to jobs (RL-10): eighty, or as many as JOB_SCRIPTS says."""

import os
import random

import pytest

from tests.job_balance import job_balance
from tests.job_deeds import VERBS, JobDeeds
from tests.kit import Running, TestWorld

SCRIPTS = int(os.environ.get("JOB_SCRIPTS", "80"))
STEPS = (1, 3, 17, 60, 600)
PROFILES = ("fast", "instant", "realistic")


def go(world: TestWorld, seconds: int, cut: random.Random | None) -> None:
    parts = [seconds] if cut is None else [part := cut.randrange(seconds + 1), seconds - part]
    for part in parts:
        world.advance(part)


def told(service: Running, seed: int, cut: random.Random | None) -> bytes:
    """The world after the script of this seed; with `cut`, every way is gone in two steps."""
    world = service.world(seed=seed, profile=PROFILES[seed % 3])
    script, deeds = random.Random(seed), JobDeeds(world, seed)
    for verb in ("create", "create"):
        deeds.do(verb)
    for _ in range(script.randint(4, 12)):
        deeds.do(script.choice(VERBS))
        if script.random() < 0.7:
            go(world, script.choice(STEPS), cut)
    if cut is None:
        job_balance(world)
    deeds.calm()
    go(world, 10 * 86_400, cut)
    exported = world.export()
    if cut is None:
        job_balance(world)
    assert world.control("GET", "status")["failing"] == []
    world.close()
    service.worlds.remove(world)
    return exported


@pytest.mark.parametrize("tenth", range(10))
def test_same_script_same_bytes(service: Running, tenth: int) -> None:
    """RL-10, CT-1, VX-23: equal export, cut into other steps too; machines, quotas, bills and logs add up."""
    for seed in range(tenth, SCRIPTS, 10):
        assert told(service, seed, None) == told(service, seed, random.Random(seed)), f"seed {seed}"
