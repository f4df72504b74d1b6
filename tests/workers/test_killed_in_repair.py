"""`kill -9` of reconcilers while nodes break, are mended, patched and moved, and sit on training plans."""

from functools import partial

from app.settings import Settings
from tests.balance import balance, quiet
from tests.deeds import G5, VERBS, Deeds
from tests.kit import Running
from tests.plans import P5
from tests.workers.storm import Load, kill_workers

KILLS = 25
CLIENTS = 2


def busy(deeds: Deeds) -> None:
    """Whatever there is to do."""
    deeds.do(deeds.draw.choice(VERBS))


def test_twenty_five_kills_while_everything_happens(settings: Settings, remote: Running) -> None:
    """RL-1: bills are the integral of what the events tell; counts, pools and plans add up; operations end."""
    world = remote.world(frozen=False, rate=60.0)
    Deeds(world, 1).begin()
    clients = [Deeds(world, seed) for seed in range(CLIENTS)]
    loads = [Load(partial(busy, one), one.draw) for one in clients]
    kill_workers(world, settings, loads, KILLS)
    world.advance(0)
    balance(world)
    world.control("DELETE", "faults")
    for machine in (P5, G5):
        world.capacity(machine, None)
    world.advance(hours=2)
    checked = balance(world)
    quiet(world)
    print(checked, sum(sum(one.done.values()) for one in clients))
    assert world.control("GET", "status")["failing"] == []
    assert checked["intervals"] > 20
