"""What a CustomJobSpec says, read from its canonical JSON (camelCase, enum names, int64 and durations as strings)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from app.core.errors import Invalid
from app.core.job import FLEX_START, SPOT, STANDARD

Spec = Mapping[str, Any]
DEFAULT_TIMEOUT = timedelta(days=7)
DEFAULT_WAIT = timedelta(days=1)
MOST_POOLS = 4
MOST_REPLICAS = 10_000
"""The most replicas of one job (chosen)."""
_LONGEST = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class Pool:
    """A worker pool that is not skipped; `index` is its place among all. `python` tells a package from a container."""

    index: int
    machine_type: str
    accelerator: str | None
    accelerators: int
    replicas: int
    python: bool
    reserved: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scheduling:
    """How the job is started and how often (VX-14). `max_wait` None: a job that waits for capacity waits for ever."""

    strategy: str
    timeout: timedelta
    restart_all: bool
    disable_retries: bool
    max_wait: timedelta | None


def pools(spec: Spec) -> list[Pool]:
    """The worker pools in their order; an empty one is skipped."""
    return [_pool(place, one) for place, one in enumerate(spec.get("workerPoolSpecs", ())) if one]


def _pool(place: int, one: Spec) -> Pool:
    machine = one.get("machineSpec", {})
    python = "pythonPackageSpec" in one
    task = one.get("pythonPackageSpec" if python else "containerSpec", {})
    return Pool(
        index=place,
        machine_type=machine.get("machineType", ""),
        accelerator=machine.get("acceleratorType"),
        accelerators=int(machine.get("acceleratorCount", 0)),
        replicas=int(one.get("replicaCount", 1)),
        python=python,
        reserved=machine.get("reservationAffinity", {}).get("reservationAffinityType") == "SPECIFIC_RESERVATION",
        environment={each["name"]: each.get("value", "") for each in task.get("env", ())},
    )


def scheduling(spec: Spec) -> Scheduling:
    """The spec's scheduling with its defaults; ON_DEMAND and LOW_COST are former names."""
    given = spec.get("scheduling", {})
    strategy = {"SPOT": SPOT, "LOW_COST": SPOT, "FLEX_START": FLEX_START}.get(given.get("strategy", ""), STANDARD)
    wait = _duration(given.get("maxWaitDuration"))
    disabled = bool(given.get("disableRetries", False))
    return Scheduling(
        strategy=strategy,
        timeout=_duration(given.get("timeout")) or DEFAULT_TIMEOUT,
        restart_all=bool(given.get("restartJobOnWorkerRestart", False)) and not disabled,
        disable_retries=disabled,
        max_wait=DEFAULT_WAIT if wait is None else wait or None,
    )


def settled(spec: Spec) -> Spec:
    """The spec as the service shows it: `disableRetries` takes `restartJobOnWorkerRestart` away (VX-14)."""
    if not scheduling(spec).disable_retries:
        return spec
    kept = {name: value for name, value in spec["scheduling"].items() if name != "restartJobOnWorkerRestart"}
    return {**spec, "scheduling": kept}


def _duration(text: str | None) -> timedelta | None:
    """`3600s` or `3.5s`, to the millisecond; ten years at most, which no clock outlasts."""
    if text is None:
        return None
    return min(timedelta(milliseconds=round(float(text.removesuffix("s")) * 1000)), _LONGEST)


def check(spec: Spec) -> None:
    """Invalid when the pools cannot make a job: the wire has checked all else."""
    given = spec.get("workerPoolSpecs", ())
    found = pools(spec)
    if not found or found[0].index != 0:
        raise Invalid("workerPoolSpecs must have a first pool: its replica is the primary one.")
    if len(given) > MOST_POOLS:
        raise Invalid(f"workerPoolSpecs has {len(given)} pools. There are at most {MOST_POOLS}.")
    if found[0].replicas != 1:
        raise Invalid(f"The first worker pool must have exactly one replica, not {found[0].replicas}.")
    for pool in found:
        if pool.replicas < 1:
            raise Invalid(
                f"Worker pool {pool.index} has {pool.replicas} replicas. Give at least one, or an empty pool."
            )
        if not pool.machine_type:
            raise Invalid(f"Worker pool {pool.index} has no machineSpec.machineType. Give one, such as n1-standard-4.")
    total = sum(pool.replicas for pool in found)
    if total > MOST_REPLICAS:
        raise Invalid(f"The job has {total} replicas. There are at most {MOST_REPLICAS}.")
