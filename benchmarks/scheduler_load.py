"""A made-up lab of 1,024 GPUs, to measure the scheduler with: a tree of budgets, and work that comes by the hour."""

import random
from dataclasses import dataclass

from app.core.scheduling import events, tree
from app.core.scheduling.policy import DAY, HOUR, MINUTE, SECOND, Policy
from app.core.scheduling.state import State
from app.core.scheduling.workload import Workload

FUNDED = 0.8
"""Mean of the funded demand, as a part of the capacity; it swings by the hour (see `SWING`)."""
SWING = (0.5, 1.5)
SWUNG = 5 / 6
"""The mean of a triangle over the two, whose peak is at the lower."""
OUTSTANDING = 2.5
"""Unfunded work is submitted until so many times the capacity is running or waiting."""
DEBUG = 0.45
"""Of the funded workloads, how many somebody waits for: few GPUs, at most 15 minutes."""
GANGS = ((1, 30), (2, 16), (4, 12), (8, 26), (16, 6), (32, 4), (64, 3), (128, 2), (256, 1))
"""GPUs of what is no debugging, and their weights."""
MINIMA = (15 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR)


@dataclass(frozen=True, slots=True)
class Job:
    name: str
    submit: int
    leaf: str | None
    gpus: int
    replicas: int
    min_runtime: int
    runtime: int
    priority: int


@dataclass(frozen=True, slots=True)
class Mishap:
    """A node is drained or lost, and is back some time later."""

    at: int
    node: str
    gone: bool
    back: int


def fleet(gpus: int, leaves: int, policy: Policy | None = None) -> State:
    """Nodes of eight GPUs, and leaves of unequal weights under three programmes and six projects."""
    state = State(policy)
    for number in range(gpus // 8):
        events.node_ready(state, f"n{number:04}", 0, gpus=8)
    for number in range(3):
        tree.create_budget(state, f"programme{number}", "", number + 2, 0)
    for number in range(6):
        tree.create_budget(state, f"project{number}", f"programme{number % 3}", number % 2 + 1, 0)
    for number in range(leaves):
        tree.create_budget(state, f"leaf{number:02}", f"project{number % 6}", number % 4 + 1, 0)
    return state


class Load:
    """Jobs hour by hour; unfunded ones as many as the fleet's demand leaves to be filled."""

    def __init__(self, gpus: int, leaves: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.gpus = gpus
        self.leaves = leaves
        self.count = 0
        self.heavy = [self.random.uniform(0.3, 1.7) for _ in range(leaves)]

    def hour(self, at: int, outstanding: int) -> list[Job]:
        """What is submitted in the hour from then on; `outstanding` GPUs are asked for already."""
        jobs: list[Job] = []
        wanted = self.random.triangular(*SWING, SWING[0]) * FUNDED / SWUNG * self.gpus * HOUR
        while wanted > 0:
            job = self._debug(at) if self.random.random() < DEBUG else self._job(at, funded=True)
            wanted -= job.gpus * job.replicas * job.runtime
            jobs.append(job)
        missing = int(OUTSTANDING * self.gpus) - outstanding
        while missing > 0:
            job = self._job(at, funded=False)
            missing -= job.gpus * job.replicas
            jobs.append(job)
        return sorted(jobs, key=lambda job: (job.submit, job.name))

    def _second(self, at: int) -> int:
        return at + self.random.randrange(HOUR // SECOND) * SECOND

    def _leaf(self) -> int:
        return self.random.choices(range(self.leaves), self.heavy)[0]

    def _name(self) -> str:
        self.count += 1
        return f"w{self.count:07}"

    def _debug(self, at: int) -> Job:
        runtime = self.random.randrange(30, 15 * 60) * SECOND
        minimum = self.random.choice((5, 10, 15)) * MINUTE
        gpus = self.random.choice((1, 1, 2, 4, 8))
        return Job(self._name(), self._second(at), f"leaf{self._leaf():02}", gpus, 1, minimum, runtime, 0)

    def _job(self, at: int, *, funded: bool) -> Job:
        sizes, weights = zip(*GANGS, strict=True)
        size = min(self.random.choices(sizes, weights)[0], self.gpus // 4)
        runtime = max(MINUTE, min(3 * DAY, int(self.random.lognormvariate(-0.6, 1.4) * HOUR))) // SECOND * SECOND
        minimum = next((length for length in MINIMA if length >= runtime // 2), MINIMA[-1]) if funded else 0
        gpus, replicas = min(size, 8), max(1, size // 8)
        leaf = f"leaf{self._leaf():02}" if funded or self.random.random() < 0.7 else None
        priority = self.random.choices((0, 1, 2), (6, 3, 1))[0]
        return Job(self._name(), self._second(at), leaf, gpus, replicas, minimum, runtime, priority)

    def mishaps(self, at: int) -> list[Mishap]:
        """What breaks in the hour from then on: three nodes of a thousand GPUs a day."""
        if self.random.random() > 3 * self.gpus / 1024 / 24:
            return []
        at, gone = self._second(at), self.random.random() < 0.3
        node = f"n{self.random.randrange(self.gpus // 8):04}"
        return [Mishap(at, node, gone, at + 12 * HOUR)]


def workload(job: Job) -> Workload:
    return Workload(
        job.name,
        leaf=job.leaf,
        gpus=job.gpus,
        replicas=job.replicas,
        min_runtime=job.min_runtime,
        priority=job.priority,
        submit=job.submit,
        checkpoint=30 * MINUTE,
    )
