"""Seeded scripts of jobs on clusters whose nodes come and go (VX-24, RL-10)."""

import random
from typing import Any

import pytest
from botocore.exceptions import ClientError
from google.api_core import exceptions

from tests.balance import balance
from tests.fleets import PARENT, VERBS, do
from tests.kit import Running, TestWorld

SCRIPTS = 9
STEPS = (0, 1, 7, 60, 600)


def script(seed: int) -> list[tuple[str, Any]]:
    """What is done, as data, so that it can be done twice."""
    draw = random.Random(seed)
    moves: list[tuple[str, Any]] = [("create", draw.randint(1, 4)), ("advance", draw.choice(STEPS))]
    for _ in range(draw.randint(8, 16)):
        verb = draw.choice(VERBS)
        moves.append((verb, draw.random()))
        moves.append(("advance", draw.choice(STEPS)))
    if draw.random() < 0.3:
        moves.append(("delete", None))
    return [*moves, ("advance", 3600)]


def play(world: TestWorld, seed: int, cut: random.Random | None) -> None:
    for verb, what in script(seed):
        try:
            if verb != "advance":
                do(world, verb, what)
                continue
        except (ClientError, exceptions.BadRequest, IndexError):
            continue
        parts = [what] if cut is None else [part := cut.randrange(what + 1), what - part]
        for part in parts:
            world.advance(part)
        if cut is None:
            balance(world)


def _quiet(world: TestWorld, seed: int) -> None:
    """Who has not ended waits, and says why; if all have ended, nobody holds anything."""
    waiting = {one["job"]: one["reason"] for one in world.control("GET", "queue")["queue"]}
    going = {job.name for job in world.vertex.list_custom_jobs(parent=PARENT).custom_jobs if not job.end_time}
    assert going == set(waiting), (seed, waiting)
    if not going:
        assert not any(fleet["taken"] for fleet in world.control("GET", "fleets")["fleets"]), seed


@pytest.mark.parametrize("third", range(3))
def test_same_script_same_bytes_and_nothing_is_held_twice(service: Running, third: int) -> None:
    """VX-24, RL-10: whatever befalls nodes and jobs; in other steps too. In the end nobody holds anything."""
    for seed in range(third, SCRIPTS, 3):
        told = []
        for cut in (None, random.Random(seed)):
            world = service.world(seed=seed)
            play(world, seed, cut)
            told.append(world.export())
            if cut is None:
                _quiet(world, seed)
            world.close()
            service.worlds.remove(world)
        assert told[0] == told[1], f"seed {seed}"
