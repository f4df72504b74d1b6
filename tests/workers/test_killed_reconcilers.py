"""`kill -9` of reconcilers under load: nothing is lost, doubled, granted twice or charged twice."""

import random
import threading
import time
from typing import Any

from botocore.exceptions import ClientError

from app.settings import Settings
from tests.kit import Running, TestWorld, eks, group
from tests.workers.audit import audit
from tests.workers.forked import Forked

P5, G5 = "ml.p5.48xlarge", "ml.g5.xlarge"
TOTALS = {P5: 12, G5: 9}
KILLS = 25
CLUSTERS = 4


class Load(threading.Thread):
    """A client that never stops changing its mind. Refusals are part of it; failures are not."""

    def __init__(self, world: TestWorld, seed: int) -> None:
        super().__init__(daemon=True)
        self.world, self.draw = world, random.Random(seed)
        self.client = world.client()
        self.over = threading.Event()
        self.failures: list[Exception] = []
        self.done = 0

    def run(self) -> None:
        while not self.over.is_set():
            try:
                self.step(f"demo-{self.draw.randrange(CLUSTERS)}")
                self.done += 1
            except ClientError as refusal:
                if refusal.response["ResponseMetadata"]["HTTPStatusCode"] >= 500:
                    self.failures.append(refusal)
            except Exception as error:
                self.failures.append(error)

    def step(self, name: str) -> None:
        match self.draw.randrange(4):
            case 0 | 1:
                wanted = [gpus(self.draw.randrange(7)), small(self.draw.randrange(5))]
                self.client.update_cluster(ClusterName=name, InstanceGroups=wanted)
            case 2:
                more = [{"InstanceGroupName": "gpus", "IncrementTargetCountBy": self.draw.randint(1, 3)}]
                self.client.batch_add_cluster_nodes(ClusterName=name, NodesToAdd=more)
            case 3:
                nodes = self.client.list_cluster_nodes(ClusterName=name)["ClusterNodeSummaries"]
                if nodes:
                    ids = [node["InstanceId"] for node in self.draw.sample(nodes, min(2, len(nodes)))]
                    self.client.batch_delete_cluster_nodes(ClusterName=name, NodeIds=ids)
        self.over.wait(self.draw.random() * 0.03)


def gpus(count: int) -> dict[str, Any]:
    return group("gpus", count, InstanceType=P5)


def small(count: int) -> dict[str, Any]:
    return group("small", count, InstanceType=G5)


def test_twenty_five_kills_under_load(settings: Settings, remote: Running) -> None:
    """RL-1: two reconcilers and an API under load; twenty-five kills at seeded moments; then everything adds up."""
    world = remote.world(frozen=False, rate=120.0)
    for machine, total in TOTALS.items():
        world.capacity(machine, total)
    world.fault("script-failed", probability=0.1)
    world.fault("launch-transient", probability=0.1)
    for number in range(CLUSTERS):
        world.sagemaker.create_cluster(**eks(gpus(3), small(2), name=f"demo-{number}"))
    draw = random.Random(1)
    load = Load(world, 2)
    reconcilers = [Forked("reconciler", settings) for _ in range(2)]
    try:
        load.start()
        for kill in range(KILLS):
            time.sleep(0.05 + draw.random() * 0.3)
            reconcilers[kill % 2].kill()
            reconcilers[kill % 2].start()
        time.sleep(0.5)
        load.over.set()
        load.join(30)
    finally:
        load.over.set()
        for one in reconcilers:
            one.stop()
    assert load.failures == []
    assert load.done > KILLS
    settle(world)
    checked = audit(world, TOTALS)
    print(f"{load.done} requests; checked {checked}")
    assert checked["intervals"] > 50
    assert checked["grants"] > 100


def settle(world: TestWorld) -> None:
    """Stop the clock where it is, and let what is under way come to its end."""
    world.control("POST", "clock", json={"frozen": True})
    for name in range(CLUSTERS):
        world.sagemaker.update_cluster(ClusterName=f"demo-{name}", InstanceGroups=[gpus(2), small(1)])
    world.control("DELETE", "faults")
    world.advance(minutes=30)
    for name in range(CLUSTERS):
        for each in world.describe(f"demo-{name}")["InstanceGroups"]:
            assert each["CurrentCount"] == each["TargetCount"]
    assert world.control("GET", "status")["failing"] == []
