"""The live scheduler and the simulator decide alike, since both call the one policy (FS-16)."""

import json
import random
from dataclasses import asdict
from datetime import datetime
from typing import Any

import pytest

from app.core.scheduling import decisions as d
from app.core.scheduling.state import State
from app.simulate.engine import run
from app.simulate.policies.budget import BudgetScheduler
from app.simulate.settings import Settings
from app.simulate.workloads import Job, Node, Share, Trace
from tests.fleets import gpu_group
from tests.kit import TestWorld, eks

HOUR = 3_600_000
LEAVES = {"vision": 2, "speech": 1, "agents": 1}


def script(seed: int) -> list[Job]:
    """Gangs of all sizes, funded and not, that come within four hours; times count from the first."""
    draw = random.Random(seed)
    jobs = []
    at = 0
    for number in range(40):
        checkpoint = draw.choice((None, 600_000))
        jobs.append(
            Job(
                f"w{number}",
                submit=at,
                runtime=draw.choice((120, 1_800, 7_200)) * 1000,
                gpus=draw.choice((1, 2, 8)),
                replicas=draw.randint(1, 3),
                leaf=draw.choice((*LEAVES, None)),
                priority=draw.randint(0, 2),
                resumable=draw.random() < 0.9,
                checkpoint=checkpoint,
            )
        )
        if jobs[-1].leaf is not None and draw.random() < 0.7:
            jobs[-1] = Job(**{**asdict(jobs[-1]), "min_runtime": draw.choice((60, 900, 3_600)) * 1000})
        at += draw.choice((0, 1, 77, 600)) * 1000
    return jobs


def live(world: TestWorld, jobs: list[Job]) -> tuple[list[Any], list[Node]]:
    """What the service decides, in milliseconds since the first submission; and the hosts in their order."""
    world.sagemaker.create_cluster(**eks(gpu_group(3)))
    world.advance(minutes=10)
    for name, weight in LEAVES.items():
        world.control("POST", "budgets", json={"name": name, "weight": weight})
    begun = round(datetime.fromisoformat(world.now()).timestamp() * 1000)
    passed = 0
    for job in jobs:
        if job.submit > passed:  # what comes at one instant is one pass
            world.advance(seconds=(job.submit - passed) / 1000)
            passed = job.submit
        body = {
            "name": job.id,
            "gpus": job.gpus,
            "replicas": job.replicas,
            "budget": job.leaf,
            "min_runtime_seconds": job.min_runtime // 1000,
            "runtime_seconds": job.runtime // 1000,
            "priority": job.priority,
            "resumable": job.resumable,
            "checkpoint_seconds": None if job.checkpoint is None else job.checkpoint // 1000,
        }
        world.control("POST", "workloads", json=body)
    world.advance(hours=24)
    tables = json.loads(world.export())["tables"]
    hosts = sorted(tables["fleet_host"], key=lambda row: row["number"])
    made = sorted(tables["decision"], key=lambda row: row["seq"])
    nodes = [Node(row["host"], row["gpus"], row["model"]) for row in hosts]
    return [since(begun, row["body"]) for row in made], nodes


def since(begun: int, value: Any) -> Any:
    """The value with its instants counted from `begun`."""
    if isinstance(value, dict):
        return {key: part if key == "standing" else since(begun, part) for key, part in value.items()}
    if isinstance(value, list):
        return [since(begun, part) for part in value]
    return value - begun if isinstance(value, int) and value >= begun else value


def simulated(jobs: list[Job], nodes: list[Node]) -> list[Any]:
    """What the simulator decides of the same script."""
    made: list[d.Decision] = []

    def watch(_: State, decisions: list[d.Decision]) -> None:
        made.extend(decisions)

    shares = [Share(name, "", weight) for name, weight in LEAVES.items()]
    trace = Trace("script", jobs, nodes, shares, 0, jobs[-1].submit + 24 * HOUR)
    run(trace, BudgetScheduler(trace, Settings(), watch))
    found: list[Any] = json.loads(json.dumps([asdict(one) for one in made]))
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_the_worker_and_the_simulator_decide_alike(world: TestWorld, seed: int) -> None:
    """FS-16: same script, same decisions, with their instants, places, codes and standings."""
    jobs = script(seed)
    decided, nodes = live(world, jobs)
    again = simulated(jobs, nodes)
    first = next((pair for pair in zip(decided, again, strict=False) if pair[0] != pair[1]), None)
    assert first is None, json.dumps(first, indent=1)
    assert len(decided) == len(again)
    kinds = {one["code"] for one in decided}
    assert {"free", "preempted", "unfunded-yields", "fair-share"} <= kinds
