"""Jobs and their workers as values of the core, with defaults that hold."""

from typing import Any

from app.core.capacity import Pool, Stock
from app.core.faults import Faults, Rule
from app.core.gang import Surroundings
from app.core.job import Job
from app.core.job_spec import pools
from app.core.replica import Replica, Worker
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


def around(*rules: Rule, limits: dict[str, int] | None = None, timings: Timings = FAST) -> Surroundings:
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
    )
