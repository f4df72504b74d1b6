"""A hundred and four seeded scripts of requests and clock moves (RL-10).

Sixteen of all deeds (test_random_deeds.py) and eighty of jobs (test_random_jobs.py) make them two hundred.
"""

import random
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import Running, TestWorld, eks, group, slurm, workers

SCRIPTS = 104
STEPS = (1, 5, 60, 600)
LONG = (86_400, 30 * 86_400, 10 * 365 * 86_400)
RATES = (0.1, 1.0, 60.0, 10_000.0)
P5 = "ml.p5.48xlarge"
Move = Callable[[TestWorld], Any]


def moves(seed: int) -> list[tuple[str, Any]]:
    """What a script does, as data, so that it can be done twice."""
    draw = random.Random(seed)
    script: list[tuple[str, Any]] = [("create", draw.random() < 0.5), ("advance", draw.choice(STEPS))]
    for _ in range(draw.randint(2, 5)):
        match draw.randrange(8):
            case 0 | 1:
                script.append(("scale", (draw.randrange(6), draw.randrange(3))))
            case 2:
                script.append(("capacity", draw.randrange(5)))
            case 3:
                effects = ("launch-transient", "script-failed", "launch-unhealthy", "boot-slow")
                script.append(("fault", (draw.choice(effects), draw.random(), draw.randint(1, 4))))
            case 4:
                script.append(("add", draw.randint(1, 3)))
            case 5:
                script.append(("rate", draw.choice(RATES)))
            case 6:
                script.append(("delete", draw.random()))
            case 7:
                script.append(("price", draw.randrange(10**8)))
        script.append(("advance", draw.choice(STEPS)))
    return [*script, ("calm", None), ("advance", 3 * 3600), ("advance", draw.choice(LONG))]


def play(world: TestWorld, script: list[tuple[str, Any]], cut: random.Random | None) -> None:
    """Do it; with `cut`, every way is gone in two or three uneven steps."""
    for verb, what in script:
        try:
            if verb == "advance":
                go(world, what, cut)
            else:
                do(world, verb, what)
        except ClientError as refused:
            assert refused.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def go(world: TestWorld, seconds: int, cut: random.Random | None) -> None:
    before = world.now()
    parts = [seconds] if cut is None else [part := cut.randrange(seconds + 1), seconds - part]
    for part in parts:
        done = world.advance(part)  # asserts that it is settled
        assert before <= done["before"] <= done["after"]
    gone = datetime.fromisoformat(world.now()) - datetime.fromisoformat(before)
    assert gone.total_seconds() == seconds


def do(world: TestWorld, verb: str, what: Any) -> None:
    sagemaker = world.sagemaker
    match verb:
        case "create":
            request = slurm(workers(3, "a", MinInstanceCount=1)) if what else eks(group("a", 3, InstanceType=P5))
            sagemaker.create_cluster(**request)
        case "scale":
            count, minimum = what
            sagemaker.update_cluster(
                ClusterName="demo",
                InstanceGroups=[group("a", count, InstanceType=P5, MinInstanceCount=min(count, minimum))],
            )
        case "capacity":
            world.capacity(P5, what)
        case "fault":
            effect, probability, times = what
            world.fault(effect, probability=round(probability, 3), times=times)
        case "add":
            items = [{"InstanceGroupName": "a", "IncrementTargetCountBy": what}]
            sagemaker.batch_add_cluster_nodes(ClusterName="demo", NodesToAdd=items, ClientToken=f"t-{what}")
        case "rate":
            world.control("POST", "clock", json={"rate": what})
        case "delete":
            nodes = world.nodes(IncludeNodeLogicalIds=True)
            if nodes:
                chosen = nodes[int(what * len(nodes))]["NodeLogicalId"]
                sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeLogicalIds=[chosen])
        case "price":
            world.control("POST", "prices", json={"instance_type": P5, "micro_usd_per_hour": what})
        case "calm":
            world.control("DELETE", "faults")
            world.capacity(P5, None)


def told(service: Running, seed: int, cut: random.Random | None) -> bytes:
    world = service.world(seed=seed)
    play(world, moves(seed), cut)
    exported = world.export()
    world.close()
    service.worlds.remove(world)
    return exported


@pytest.mark.parametrize("tenth", range(10))
def test_same_script_same_bytes(service: Running, tenth: int) -> None:
    """RL-10, CT-1: same seed and script, equal export, cut into other steps too; every advance settles; time never
    goes backward."""
    for seed in range(tenth, SCRIPTS, 10):
        assert told(service, seed, None) == told(service, seed, random.Random(seed)), f"seed {seed}"


def test_the_same_way_twice(service: Running) -> None:
    """RL-10: not only cut, but simply again."""
    for seed in range(0, SCRIPTS, 40):
        assert told(service, seed, None) == told(service, seed, None), f"seed {seed}"


def test_a_running_clock_never_goes_backward(world: TestWorld) -> None:
    """RL-10, CT-1: through resume, rates, freeze and advance."""
    seen = [world.now()]
    for rate in (0.1, 1.0, 100.0, 10_000.0, 1.0, 0.1):
        world.control("POST", "clock", json={"frozen": False, "rate": rate})
        seen += [world.now(), world.now()]
        world.control("POST", "clock/advance", json={"by": 60})
        seen.append(world.now())
        world.control("POST", "clock", json={"frozen": True})
        seen += [world.now(), world.now()]
        assert seen[-1] == seen[-2]
    assert seen == sorted(seen)
