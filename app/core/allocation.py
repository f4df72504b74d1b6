"""What compute quotas and scheduler configs say: checks beyond the model, defaults, and values for a scheduler.

The ratio rules and defaults are those of the API's descriptions; docs/fidelity.md lists what is chosen.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from app.core.errors import Invalid

Given = Mapping[str, Any]
MOST = 10_000_000
"""The model's bound of every amount; a filled-in one must keep it too."""
BORROW_LIMIT = 50
"""Percent; the documented default."""
_AMOUNTS = ("Count", "Accelerators", "VCpu", "MemoryInGiB", "AcceleratorPartition")


class Hardware(NamedTuple):
    """What one instance of a type has."""

    vcpu: int
    memory_mib: int
    accelerators: int


@dataclass(frozen=True, slots=True)
class Amount:
    """So much of one instance type: whole instances, or parts. `partition` is (MIG profile, count)."""

    instance_type: str
    instances: int
    accelerators: int
    vcpu_milli: int
    memory_mib: int
    partition: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Allocation:
    """A compute quota in force. `borrow_limit` is in percent of the quota; `weight` is the fair share's."""

    quota_id: str
    name: str
    team: str
    weight: int
    enabled: bool
    lends: bool
    borrows: bool
    borrow_limit: int
    preempts_own: bool
    amounts: tuple[Amount, ...]
    borrow_limits: tuple[Amount, ...]


@dataclass(frozen=True, slots=True)
class ClusterPolicy:
    """A scheduler config in force; priority classes as (name, weight). `idle_sharing` is None where not given."""

    config_id: str
    name: str
    priorities: tuple[tuple[str, int], ...]
    fair_share: bool
    idle_sharing: bool | None


def scheduler_config(given: Given) -> dict[str, Any]:
    """SchedulerConfig with its default; Invalid when two priority classes have one name."""
    names = Counter(one["Name"] for one in given.get("PriorityClasses", ()))
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise Invalid(
            f"Priority classes need names of their own; given twice: {', '.join(twice)}. Rename or remove one."
        )
    return {"FairShare": "Enabled", **given}


def quota_config(given: Given, hardware: Mapping[str, Hardware]) -> dict[str, Any]:
    """ComputeQuotaConfig with its defaults, and with vCPU and memory filled in by the instance type's ratio."""
    config: dict[str, Any] = {"PreemptTeamTasks": "LowerPriority", **given}
    sharing = dict(given.get("ResourceSharingConfig", {"Strategy": "LendAndBorrow"}))
    if sharing["Strategy"] == "LendAndBorrow":
        sharing.setdefault("BorrowLimit", BORROW_LIMIT)
    for limit in sharing.get("AbsoluteBorrowLimits", ()):
        _check_amounts("absolute borrow limit", limit, hardware)
    _check_once(sharing.get("AbsoluteBorrowLimits", ()), "AbsoluteBorrowLimits")
    config["ResourceSharingConfig"] = sharing
    if "ComputeQuotaResources" in given:
        resources = given["ComputeQuotaResources"]
        _check_once(resources, "ComputeQuotaResources")
        for one in resources:
            _check_amounts("compute quota resource", one, hardware)
        config["ComputeQuotaResources"] = [_filled(one, hardware[one["InstanceType"]]) for one in resources]
    return config


def target(given: Given) -> dict[str, Any]:
    """ComputeQuotaTarget with its default weight."""
    return {"FairShareWeight": 0, **given}


def _check_once(resources: Sequence[Given], member: str) -> None:
    keys = Counter(
        (one["InstanceType"], one.get("AcceleratorPartition", {}).get("Type", "no partition")) for one in resources
    )
    for (kind, partition), count in keys.items():
        if count > 1:
            raise Invalid(f"{member} names {kind} with {partition} {count} times. Give one entry with the sum.")


def _check_amounts(what: str, one: Given, hardware: Mapping[str, Hardware]) -> None:
    kind = one["InstanceType"]
    if not any(member in one for member in _AMOUNTS):
        raise Invalid(f"The {what} for {kind} has no amount. Give at least one of: {', '.join(_AMOUNTS)}.")
    wants_accelerators = one.get("Accelerators") or one.get("AcceleratorPartition", {}).get("Count")
    if wants_accelerators and not hardware[kind].accelerators:
        raise Invalid(f"The {what} for {kind} asks for accelerators, but {kind} has none. Give VCpu or MemoryInGiB.")


def _filled(one: Given, has: Hardware) -> dict[str, Any]:
    """Missing vCPU and memory by the ratio of what is given; who asks for these alone gets no accelerators."""
    if one.get("Accelerators"):
        share = Fraction(one["Accelerators"], has.accelerators)
    elif "VCpu" in one:
        share = Fraction(one["VCpu"]) / has.vcpu
    elif "MemoryInGiB" in one:
        share = Fraction(one["MemoryInGiB"]) * 1024 / has.memory_mib
    else:
        return dict(one)
    by_ratio = {"VCpu": float(share * has.vcpu), "MemoryInGiB": float(share * has.memory_mib / 1024)}
    filled = {"Accelerators": 0, **by_ratio, **one}
    for member in ("VCpu", "MemoryInGiB"):
        if filled[member] > MOST:
            raise Invalid(
                f"{member} for {one['InstanceType']} would come to {filled[member]:.0f}, more than {MOST}. Give less."
            )
    return filled


def allocation(quota_id: str, name: str, spec: Given) -> Allocation:
    """The scheduler's value of a compute quota's spec."""
    config = spec["ComputeQuotaConfig"]
    sharing = config["ResourceSharingConfig"]
    return Allocation(
        quota_id=quota_id,
        name=name,
        team=spec["ComputeQuotaTarget"]["TeamName"],
        weight=spec["ComputeQuotaTarget"]["FairShareWeight"],
        enabled=spec["ActivationState"] == "Enabled",
        lends=sharing["Strategy"] != "DontLend",
        borrows=sharing["Strategy"] == "LendAndBorrow",
        borrow_limit=sharing.get("BorrowLimit", 0),
        preempts_own=config["PreemptTeamTasks"] == "LowerPriority",
        amounts=tuple(_amount(one) for one in config.get("ComputeQuotaResources", ())),
        borrow_limits=tuple(_amount(one) for one in sharing.get("AbsoluteBorrowLimits", ())),
    )


def _amount(one: Given) -> Amount:
    partition = one.get("AcceleratorPartition")
    return Amount(
        instance_type=one["InstanceType"],
        instances=one.get("Count", 0),
        accelerators=one.get("Accelerators", 0),
        vcpu_milli=int(Fraction(one.get("VCpu", 0)) * 1000),
        memory_mib=int(Fraction(one.get("MemoryInGiB", 0)) * 1024),
        partition=(partition["Type"], partition["Count"]) if partition else None,
    )


def policy(config_id: str, name: str, spec: Given) -> ClusterPolicy:
    """The scheduler's value of a scheduler config's spec."""
    config = spec["SchedulerConfig"]
    idle = config.get("IdleResourceSharing")
    return ClusterPolicy(
        config_id=config_id,
        name=name,
        priorities=tuple((one["Name"], one["Weight"]) for one in config.get("PriorityClasses", ())),
        fair_share=config["FairShare"] == "Enabled",
        idle_sharing=None if idle is None else idle == "Enabled",
    )
