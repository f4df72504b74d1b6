"""`kill -9` of schedulers while budgets take GPUs from one another."""

import random

from app.settings import Settings
from tests.fleets import PARENT, do, gpus, submit
from tests.kit import Running, TestWorld
from tests.schedule_balance import schedule_balance
from tests.workers.storm import Load, kill_workers

KILLS = 50
BUDGETS = ("vision", "speech", "agents")
SCHEDULERS = ("scheduler", "reconciler", "scheduler")


class Client:
    """Submits gangs to budgets, with minimum runtimes far below what they run, and takes some back."""

    def __init__(self, world: TestWorld, seed: int) -> None:
        self.world, self.draw, self.done = world, random.Random(seed), 0

    def act(self) -> None:
        draw = self.draw
        if self.done % 5 == 4:
            jobs = self.world.vertex.list_custom_jobs(parent=PARENT).custom_jobs
            self.world.vertex.cancel_custom_job(name=draw.choice(jobs).name)
        else:
            labels = {"budget": draw.choice(BUDGETS)} | ({"min-runtime": "30s"} if draw.random() < 0.8 else {})
            size, run = draw.choice((1, 4, 8)), str(draw.choice((60, 600, 6000)))
            others = [gpus(draw.randint(1, 3), size, RUN_SECONDS=run)] * draw.randint(0, 1)
            submit(self.world, gpus(1, size, RUN_SECONDS=run), *others, **labels)
        self.done += 1


def test_fifty_kills_in_a_storm_of_preemptions(settings: Settings, remote: Running) -> None:
    """FS-15, RL-1, RL-2: nothing is lost or done twice, no gang is torn, no protection broken; then all goes on."""
    world = remote.world(frozen=False, rate=300.0)
    do(world, "create", 4)
    for name in BUDGETS:
        world.control("POST", "budgets", json={"name": name, "weight": 1})
    assert world.vertex, "Google's packages take a while to load"
    world.advance(minutes=30)
    clients = [Client(world, seed) for seed in range(3)]
    kill_workers(world, settings, [Load(one.act, one.draw) for one in clients], KILLS, SCHEDULERS)
    assert world.control("GET", "status")["failing"] == []
    world.advance(0)
    schedule_balance(world)
    world.advance(hours=2)
    checked = schedule_balance(world)
    print(f"{sum(one.done for one in clients)} deeds; checked {dict(checked)}")
    assert checked["evictions"] > 0
    assert world.control("GET", "status")["failing"] == []
