"""The workers of a job in one pass: stages fire, machines are asked for, and what follows is written down."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from app.core import log_lines
from app.core.capacity import Stock
from app.core.faults import Faults
from app.core.job import FLEX_START, SPOT, STANDARD, Job
from app.core.job_spec import Pool, Scheduling, pools, scheduling
from app.core.lifecycle import Fired, due, fire
from app.core.log_lines import Line
from app.core.machines import Machine, gpus, usable_memory_gb
from app.core.metering import Interval
from app.core.program import Program, program
from app.core.replica import TABLE, Replica
from app.core.times import WorldTime
from app.core.timings import Timings
from app.core.values import evolve

Goods = tuple[tuple[str, int], ...]
"""Names of what has a price, and how many of each."""
_TERMS = {STANDARD: "", SPOT: "/spot", FLEX_START: "/flex-start"}
"""What a good's name ends with, by the strategy that it is bought by."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a pass over jobs of one region meets: the world's seed and timings, the machines there are, their types,
    the zones, and the faults that lie in wait. `error_delay` is how long after its end a failure is told. With
    `executes` programs really run, and only their executors know how they end (VX-16)."""

    seed: int
    timings: Timings
    stock: Stock
    faults: Faults
    machines: Mapping[str, Machine]
    zones: Sequence[str]
    error_delay: timedelta
    executes: bool = False


@dataclass(slots=True)
class Gang:
    """A job and its workers, by pool and ordinal, as they become at the instant `at`; and what came of it."""

    job: Job
    replicas: list[Replica]
    at: WorldTime
    around: Surroundings
    plan: Scheduling = field(init=False)
    pools: dict[int, Pool] = field(init=False)
    programs: dict[int, Program] = field(init=False)
    lines: list[Line] = field(default_factory=list)
    opened: list[Interval] = field(default_factory=list)
    closed: list[Interval] = field(default_factory=list)
    executed: dict[int, int] = field(default_factory=dict)
    """By their places, the workers whose programs are to run really, and the run that it is."""

    def __post_init__(self) -> None:
        job, default = self.job, self.around.timings.delays["program"]
        self.plan = scheduling(job.spec)
        self.pools = {pool.index: pool for pool in pools(job.spec)}
        self.programs = {
            index: program(pool, job.labels, job.environment, default) for index, pool in self.pools.items()
        }

    @property
    def is_deciding(self) -> bool:
        """A failure is being decided on, or the job's end: no run that begins now will come to an end of its own."""
        return self.job.decide_at is not None or self.is_cancelled or self.job.ended_at is not None

    @property
    def is_cancelled(self) -> bool:
        """Its end was asked for by now; a pass that lags comes before that."""
        return self.job.cancel_at is not None and self.job.cancel_at <= self.at

    def become(self, **facts: Any) -> None:
        """The job with other facts."""
        self.job = evolve(self.job, **facts)

    def put(self, place: int, replica: Replica) -> None:
        """The worker as it is now."""
        self.replicas[place] = replica

    def tell(self, text: str, task: str = log_lines.SERVICE, severity: str = log_lines.INFO) -> None:
        """A line of the job's log."""
        self.lines.append(Line(self.at, task, severity, text))

    def has_gpus(self, replica: Replica) -> bool:
        """Whether the machine has GPUs, so that it cannot migrate while it runs."""
        pool = self.pools[replica.pool]
        return gpus(self.around.machines[pool.machine_type], pool.accelerator, pool.accelerators) is not None

    def goods(self, replica: Replica) -> Goods:
        """What the worker's machine is charged for: its type, and accelerators that are no part of the type."""
        pool = self.pools[replica.pool]
        return goods_of(
            self.around.machines[pool.machine_type], pool.accelerator, pool.accelerators, self.plan.strategy
        )

    def memory_gb(self, replica: Replica) -> float:
        """What the machine leaves to the program (VX-11)."""
        return usable_memory_gb(self.around.machines[self.pools[replica.pool].machine_type])


def fire_due(gang: Gang, place: int) -> Iterable[tuple[Replica, Replica, Fired]]:
    """Fire the worker's stages that are due, one by one: as it was before, as it is after, and what fired."""
    while True:
        before = gang.replicas[place]
        hit = due(before, TABLE, gang.around.timings.delays)
        if hit is None or hit[0] > gang.at:
            return
        moved, fired = fire(before, *hit)
        gang.put(place, moved)
        yield before, moved, fired


def goods_of(machine: Machine, accelerator: str | None, count: int, strategy: str) -> Goods:
    """What a machine with these accelerators is charged for."""
    terms = _TERMS[strategy]
    attached = ((f"{accelerator}{terms}", count),) if accelerator in machine.attachable else ()
    return ((f"{machine.name}{terms}", 1), *attached)


def label(goods: Goods) -> str:
    """What the bill calls them: `n1-standard-4 + 2 x NVIDIA_TESLA_T4`."""
    return " + ".join(name if count == 1 else f"{count} x {name}" for name, count in goods)
