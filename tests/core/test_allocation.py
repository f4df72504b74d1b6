"""What a compute quota says once its gaps are filled, by the API's own description of the ratios."""

from typing import Any

import pytest

from app.core.allocation import Amount, Hardware, allocation, policy, quota_config, scheduler_config, target
from app.core.errors import Invalid

P5, C5 = "ml.p5.48xlarge", "ml.c5.xlarge"
HARDWARE = {P5: Hardware(192, 2048 * 1024, 8), C5: Hardware(4, 8 * 1024, 0)}


def resources(*given: dict[str, Any]) -> list[dict[str, Any]]:
    filled: list[dict[str, Any]] = quota_config({"ComputeQuotaResources": given}, HARDWARE)["ComputeQuotaResources"]
    return [{key: value for key, value in one.items() if key != "InstanceType"} for one in filled]


RATIOS = [
    ("whole instances stay whole", P5, {"Count": 2}, {"Count": 2}),
    ("accelerators", P5, {"Accelerators": 4}, {"Accelerators": 4, "VCpu": 96, "MemoryInGiB": 1024}),
    ("vCPU alone", P5, {"VCpu": 48}, {"Accelerators": 0, "VCpu": 48, "MemoryInGiB": 512}),
    ("memory alone", P5, {"MemoryInGiB": 1024}, {"Accelerators": 0, "VCpu": 96, "MemoryInGiB": 1024}),
    ("vCPU and memory", P5, {"VCpu": 1, "MemoryInGiB": 2}, {"Accelerators": 0, "VCpu": 1, "MemoryInGiB": 2}),
    (
        "accelerators and vCPU",
        P5,
        {"Accelerators": 2, "VCpu": 5},
        {"Accelerators": 2, "VCpu": 5, "MemoryInGiB": 512},
    ),
    ("no accelerators, said", P5, {"Accelerators": 0, "VCpu": 48}, {"Accelerators": 0, "VCpu": 48, "MemoryInGiB": 512}),
    ("on a type without", C5, {"VCpu": 1}, {"Accelerators": 0, "VCpu": 1, "MemoryInGiB": 2}),
    ("more than an instance", C5, {"MemoryInGiB": 16}, {"Accelerators": 0, "VCpu": 8, "MemoryInGiB": 16}),
    (
        "a partition",
        P5,
        {"AcceleratorPartition": {"Type": "mig-1g.10gb", "Count": 3}},
        {"AcceleratorPartition": {"Type": "mig-1g.10gb", "Count": 3}},
    ),
]


@pytest.mark.parametrize(("kind", "given", "filled"), [row[1:] for row in RATIOS], ids=[row[0] for row in RATIOS])
def test_gaps_are_filled_by_the_ratio(kind: str, given: dict[str, Any], filled: dict[str, Any]) -> None:
    assert resources({"InstanceType": kind, **given}) == [filled]


REFUSED = [
    ([{"InstanceType": P5}], "no amount"),
    ([{"InstanceType": C5, "Accelerators": 1}], "has none"),
    ([{"InstanceType": C5, "AcceleratorPartition": {"Type": "mig-1g.5gb", "Count": 1}}], "has none"),
    ([{"InstanceType": P5, "Count": 1}, {"InstanceType": P5, "VCpu": 4}], "2 times"),
    ([{"InstanceType": P5, "Accelerators": 10_000_000}], "more than 10000000"),
]


@pytest.mark.parametrize(("given", "told"), REFUSED)
def test_what_cannot_be_is_refused(given: list[dict[str, Any]], told: str) -> None:
    """HP-W3: with what is wrong; also in the absolute borrow limits, which are not filled."""
    with pytest.raises(Invalid, match=told):
        quota_config({"ComputeQuotaResources": given}, HARDWARE)
    if "more" not in told:
        sharing = {"Strategy": "LendAndBorrow", "AbsoluteBorrowLimits": given}
        with pytest.raises(Invalid, match=told):
            quota_config({"ResourceSharingConfig": sharing}, HARDWARE)


def test_two_profiles_of_one_type_are_two_entries() -> None:
    parts = [{"Type": f"mig-{number}g.10gb", "Count": number} for number in (1, 2)]
    assert len(resources(*({"InstanceType": P5, "AcceleratorPartition": part} for part in parts))) == 2


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (None, {"Strategy": "LendAndBorrow", "BorrowLimit": 50}),
        ({"Strategy": "LendAndBorrow"}, {"Strategy": "LendAndBorrow", "BorrowLimit": 50}),
        ({"Strategy": "LendAndBorrow", "BorrowLimit": 0}, {"Strategy": "LendAndBorrow", "BorrowLimit": 0}),
        ({"Strategy": "LendAndBorrow", "BorrowLimit": 10_000}, {"Strategy": "LendAndBorrow", "BorrowLimit": 10_000}),
        ({"Strategy": "Lend"}, {"Strategy": "Lend"}),
        ({"Strategy": "DontLend"}, {"Strategy": "DontLend"}),
    ],
)
def test_defaults(given: dict[str, Any] | None, shown: dict[str, Any]) -> None:
    config = quota_config({} if given is None else {"ResourceSharingConfig": given}, HARDWARE)
    assert config == {"PreemptTeamTasks": "LowerPriority", "ResourceSharingConfig": shown}
    assert target({"TeamName": "a"}) == {"TeamName": "a", "FairShareWeight": 0}
    assert scheduler_config({}) == {"FairShare": "Enabled"}


def test_two_priority_classes_of_one_name() -> None:
    classes = [{"Name": name, "Weight": 1} for name in ("a", "b", "a")]
    with pytest.raises(Invalid, match="given twice: a"):
        scheduler_config({"PriorityClasses": classes})


def test_the_values_for_a_scheduler() -> None:
    """Integers alone: thousandths of a vCPU, MiB."""
    given = [{"InstanceType": P5, "Accelerators": 1}, {"InstanceType": C5, "VCpu": 0.5}]
    sharing = {
        "Strategy": "LendAndBorrow",
        "BorrowLimit": 70,
        "AbsoluteBorrowLimits": [{"InstanceType": P5, "Count": 1}],
    }
    spec = {
        "ComputeQuotaConfig": quota_config(
            {"ComputeQuotaResources": given, "ResourceSharingConfig": sharing, "PreemptTeamTasks": "Never"}, HARDWARE
        ),
        "ComputeQuotaTarget": target({"TeamName": "t", "FairShareWeight": 3}),
        "ActivationState": "Disabled",
    }
    made = allocation("id", "name", spec)
    assert made.amounts == (Amount(P5, 0, 1, 24_000, 256 * 1024), Amount(C5, 0, 0, 500, 1024))
    assert made.borrow_limits == (Amount(P5, 1, 0, 0, 0),)
    assert (made.team, made.weight, made.enabled, made.preempts_own) == ("t", 3, False, False)
    assert (made.lends, made.borrows, made.borrow_limit) == (True, True, 70)
    config = scheduler_config({"PriorityClasses": [{"Name": "a", "Weight": 9}], "IdleResourceSharing": "Enabled"})
    rules = policy("id", "name", {"SchedulerConfig": config})
    assert (rules.priorities, rules.fair_share, rules.idle_sharing) == ((("a", 9),), True, True)
    assert policy("id", "name", {"SchedulerConfig": scheduler_config({})}).idle_sharing is None
