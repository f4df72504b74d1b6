"""Seeded scripts of all that a client can do: the same bytes twice, and everything adds up on the way (RL-10)."""

import random
from collections.abc import Iterator

import pytest

from app.settings import Settings
from tests.balance import balance, quiet
from tests.deeds import EVERYTHING, G5, Deeds
from tests.kit import Running, TestWorld
from tests.plans import P5
from tests.workers.processes import processes

SCRIPTS = 16
STEPS = (1, 5, 17, 60, 600, 3600, 6 * 3600)


@pytest.fixture(scope="module")
def one_reconciler(dsn: str) -> Iterator[None]:
    with processes(Settings(database_url=dsn), "reconciler"):
        yield


def go(world: TestWorld, seconds: int, cut: random.Random | None) -> None:
    parts = [seconds] if cut is None else [part := cut.randrange(seconds + 1), seconds - part]
    for part in parts:
        world.advance(part)


def told(service: Running, seed: int, cut: random.Random | None) -> bytes:
    """The world after the script of this seed; with `cut`, every way is gone in two steps."""
    world = service.world(seed=seed)
    script, deeds = random.Random(seed), Deeds(world, seed)
    deeds.begin()
    go(world, 60, cut)
    for _ in range(script.randint(8, 20)):
        deeds.do(script.choice(EVERYTHING))
        go(world, script.choice(STEPS), cut)
    if cut is None:
        balance(world)
    world.control("DELETE", "faults")
    for machine in (P5, G5):
        world.capacity(machine, None)
    go(world, 12 * 3600, cut)
    exported = world.export()
    if cut is None:
        balance(world)
        quiet(world)
    assert world.control("GET", "status")["failing"] == []
    world.close()
    service.worlds.remove(world)
    return exported


@pytest.mark.parametrize("quarter", range(4))
def test_whatever_is_done_it_is_done_again(service: Running, one_reconciler: None, quarter: int) -> None:
    """RL-10, RL-1, CT-1: equal export, cut into other steps too, with a reconciler beside; counts, machines, plans,
    operations and bills add up."""
    for seed in range(quarter, SCRIPTS, 4):
        assert told(service, seed, None) == told(service, seed, random.Random(seed)), f"seed {seed}"
