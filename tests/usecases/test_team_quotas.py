"""Compute quotas and scheduler configs, told to the scheduler (FS-17)."""

from typing import Any

import pytest

from app.core import allocation
from app.core.scheduling.quota import Quota
from app.usecases.governance import InForce
from app.usecases.team_quotas import has_fair_share, priority, quotas_in_force, shares_idle

P5, G5 = "ml.p5.48xlarge", "ml.g5.12xlarge"


def _allocation(team: str, weight: int = 0, state: str = "Enabled", **config: Any) -> allocation.Allocation:
    sharing = config.pop("sharing", {"Strategy": "LendAndBorrow", "BorrowLimit": 50})
    whole = {"PreemptTeamTasks": "LowerPriority", "ResourceSharingConfig": sharing, **config}
    target = {"TeamName": team, "FairShareWeight": weight}
    spec = {"ComputeQuotaConfig": whole, "ComputeQuotaTarget": target, "ActivationState": state}
    return allocation.allocation("q" + team, team, spec)


def _quota(**config: Any) -> Quota:
    [quota] = quotas_in_force(InForce(None, [_allocation("x", 10, **config)]), {P5, G5})
    return quota


def test_instances_and_accelerators_are_gpus() -> None:
    """FS-17: and the default limit is half of the quota."""
    resources = [{"InstanceType": P5, "Count": 2}, {"InstanceType": G5, "Accelerators": 3, "VCpu": 24}]
    assert _quota(ComputeQuotaResources=resources) == Quota("x", 19, True, 9, 10, True)


def test_what_is_not_active_and_types_that_the_cluster_has_not_count_for_nothing() -> None:
    """FS-17."""
    resources = [{"InstanceType": P5, "Count": 1}, {"InstanceType": "ml.p4d.24xlarge", "Count": 1}]
    assert _quota(ComputeQuotaResources=resources).gpus == 8
    off = _allocation("x", state="Disabled", ComputeQuotaResources=resources)
    assert quotas_in_force(InForce(None, [off]), {P5}) == []


@pytest.mark.parametrize(
    ("profile", "number", "gpus"), [("mig-1g.10gb", 7, 1), ("mig-3g.40gb", 4, 1), ("mig-7g.80gb", 2, 2)]
)
def test_parts_of_gpus_count_as_whole_ones_as_far_as_they_come_to_any(profile: str, number: int, gpus: int) -> None:
    """FS-17: a GPU has seven slices."""
    parts = {"InstanceType": P5, "AcceleratorPartition": {"Type": profile, "Count": number}}
    assert _quota(ComputeQuotaResources=[parts]).gpus == gpus


def test_processors_alone_are_no_gpus() -> None:
    """FS-17."""
    assert _quota(ComputeQuotaResources=[{"InstanceType": P5, "VCpu": 96, "MemoryInGiB": 1024}]).gpus == 0


def test_an_absolute_limit_holds_for_the_types_that_it_names() -> None:
    """FS-17: and the percentage for the others."""
    resources = [{"InstanceType": P5, "Count": 1}, {"InstanceType": G5, "Count": 2}]
    sharing = {
        "Strategy": "LendAndBorrow",
        "BorrowLimit": 200,
        "AbsoluteBorrowLimits": [{"InstanceType": P5, "Accelerators": 3}],
    }
    assert _quota(ComputeQuotaResources=resources, sharing=sharing).borrow_limit == 3 + 16


@pytest.mark.parametrize(
    ("strategy", "lends", "limit"), [("Lend", True, 0), ("DontLend", False, 0), ("LendAndBorrow", True, 4)]
)
def test_who_lends_and_who_borrows(strategy: str, lends: bool, limit: int) -> None:
    """FS-17."""
    sharing = {"Strategy": strategy, "BorrowLimit": 50}
    quota = _quota(ComputeQuotaResources=[{"InstanceType": P5, "Count": 1}], sharing=sharing, PreemptTeamTasks="Never")
    assert (quota.lends, quota.borrow_limit, quota.preempts) == (lends, limit, False)


def test_a_scheduler_config_holds_priorities_fair_share_and_idle_sharing() -> None:
    """FS-17: without one borrowers come first, first served, and nothing is shared that no quota claims."""
    classes = [{"Name": "training", "Weight": 70}]
    config = {"PriorityClasses": classes, "FairShare": "Enabled", "IdleResourceSharing": "Enabled"}
    current = InForce(allocation.policy("c1", "config", {"SchedulerConfig": config}), [])
    assert (has_fair_share(current), shares_idle(current)) == (True, True)
    assert [priority(current, label) for label in ("training-priority", "training", "other-priority", None)] == [
        70,
        70,
        0,
        0,
    ]
    bare = InForce(None, [])
    assert (has_fair_share(bare), shares_idle(bare), priority(bare, "training-priority")) == (False, False, 0)
    quiet = InForce(allocation.policy("c1", "config", {"SchedulerConfig": {"FairShare": "Enabled"}}), [])
    assert shares_idle(quiet) is False
