"""Jobs and their workers as values of the core, with defaults that hold."""

from dataclasses import replace
from typing import Any

from app.core.capacity import Pool, Stock
from app.core.faults import Faults, Rule
from app.core.gang import Surroundings
from app.core.job import Job, state
from app.core.job_spec import pools
from app.core.log_lines import Line
from app.core.metering import Interval
from app.core.replica import Replica, Worker
from app.core.replica import next_due as replica_due
from app.core.running import next_due, work
from app.core.times import WorldTime
from app.core.timings import ERROR_DELAY, Timings
from app.usecases.machines import machine
from tests.core.builders import FAST, SEED, T0
from tests.jobs import LOCATION, PROJECT, spec

MACHINES = ("n1-standard-4", "a3-highgpu-8g")


def job(*given: dict[str, Any], **facts: Any) -> Job:
    """A job of these pools (one replica unless given), admitted at the beginning; `scheduling` goes into its spec."""
    scheduling = facts.pop("scheduling", {})
    defaults: dict[str, Any] = {
        "account": PROJECT,
        "region": LOCATION,
        "job_id": "5518405205760147456",
        "number": 1,
        "display_name": "train",
        "spec": spec(*given, **scheduling),
        "labels": {},
        "created_at": T0,
        "queued_at": T0,
        "updated_at": T0,
        "strategy": scheduling.get("strategy", "STANDARD"),
        "fleet_account": PROJECT,
        "fleet_region": LOCATION,
        "admitted_at": T0,
    }
    return Job(**(defaults | facts))


def replica(pool: int = 0, ordinal: int = 0, **facts: Any) -> Replica:
    defaults: dict[str, Any] = {"status": Worker.WAITING, "since": T0, "machine_type": "n1-standard-4"}
    return Replica(pool, ordinal, **(defaults | facts))


def replicas_of(one: Job) -> list[Replica]:
    """The workers of a new job."""
    return [
        replica(pool.index, ordinal, machine_type=pool.machine_type)
        for pool in pools(one.spec)
        for ordinal in range(pool.replicas)
    ]


class Play:
    """A job on its own, from one due instant to the next."""

    def __init__(self, one: Job, *rules: Rule, **facts: Any) -> None:
        self.job, self.replicas, self.around = one, replicas_of(one), around(*rules, **facts)
        self.now, self.due_at = one.created_at, one.admitted_at
        self.lines: list[Line] = []
        self.opened: list[Interval] = []
        self.closed: list[Interval] = []
        self.states = [(self.now, self.state)]

    @property
    def state(self) -> str:
        return state(self.job, self.now).removeprefix("JOB_STATE_")

    @property
    def texts(self) -> list[str]:
        return [f"{line.task} {line.text}" for line in self.lines]

    def told(self, part: str) -> list[WorldTime]:
        """When lines with this text were written."""
        return [line.at for line in self.lines if part in line.text]

    def worker(self, name: str = "workerpool0-0") -> Replica:
        return next(one for one in self.replicas if one.name == name)

    def change(self, name: str, **facts: Any) -> None:
        self.replicas = [replace(one, **facts) if one.name == name else one for one in self.replicas]
        self.look(self.now)

    def cancel(self) -> None:
        self.job = replace(self.job, cancel_at=self.now)
        self.look(self.now)

    def look(self, moment: WorldTime) -> None:
        self.due_at = moment if self.due_at is None else min(moment, self.due_at)

    def admit(self, moment: WorldTime) -> None:
        self.job = replace(self.job, admitted_at=moment)
        self.look(moment)

    def until(self, moment: WorldTime) -> "Play":
        """Do all that is due by then; a job that queues is admitted as soon as it may be."""
        passes = 0
        while (due := self._next()) is not None and due <= moment:
            self.now = max(self.now, due)
            self._pass(due)
            passes += 1
            assert passes < 1000, "it never ends"
        self.now = moment
        return self

    def _next(self) -> WorldTime | None:
        if self.job.admitted_at is None and self.job.cancel_at is None:
            self.due_at = self.due_at or self.job.queued_at
        return self.due_at

    def _pass(self, at: WorldTime) -> None:
        if self.job.admitted_at is None and self.job.cancel_at is None and self.job.queued_at <= at:
            self.job = replace(self.job, admitted_at=at)
        gang = work(self.job, self.replicas, at, self.around)
        self.job, self.replicas = gang.job, gang.replicas
        self.lines += gang.lines
        self.opened += gang.opened
        self.closed += gang.closed
        delays = self.around.timings.delays
        times = (next_due(gang), *(replica_due(one, delays) for one in self.replicas))
        self.due_at = min((time for time in times if time is not None), default=None)
        assert self.due_at is None or self.due_at > at, "nothing is left at this instant"
        if self.states[-1][1] != self.state:
            self.states.append((at, self.state))


def around(
    *rules: Rule, limits: dict[str, int] | None = None, timings: Timings = FAST, executes: bool = False
) -> Surroundings:
    """Machines without limit, but of the types that `limits` names; faults by these rules."""
    stock = Stock([Pool(LOCATION, "", kind, total, 0) for kind, total in (limits or {}).items()], MACHINES)
    return Surroundings(
        seed=SEED,
        timings=timings,
        stock=stock,
        faults=Faults(rules, SEED),
        machines={name: machine(name) for name in MACHINES},
        zones=(f"{LOCATION}-a", f"{LOCATION}-b"),
        error_delay=ERROR_DELAY,
        executes=executes,
    )
