"""Account quotas as requests meet them: each by the name that AWS gives it, in AWS's sentence (CT-4)."""

from typing import Any

import pytest

from app.settings import Settings
from tests.kit import TestWorld, eks, group, serving
from tests.wire.sagemaker.refused import LIMIT, refusal

P5 = "ml.p5.48xlarge"
SPOT = {"CapacityRequirements": {"Spot": {}}}
PER_CLUSTER = "Maximum number instances allowed per SageMaker HyperPod cluster"
IN_ALL = "Total number of instances allowed across SageMaker HyperPod clusters"
SPOT_IN_ALL = "Total number of Spot instances allowed across SageMaker HyperPod clusters"
VOLUME = "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance"
GROUPS = "Maximum number of instance groups per SageMaker HyperPod cluster"


def volume(size: int) -> dict[str, Any]:
    return {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": size}}]}


def create(world: TestWorld, name: str, *groups: dict[str, Any]) -> tuple[str, str]:
    return refusal(world.sagemaker.create_cluster, **eks(*groups, name=name))


def limit(world: TestWorld, name: str, value: int | None) -> None:
    world.control("POST", "quotas", json={"name": name, "value": value})


def p5(name: str, count: int, **facts: Any) -> dict[str, Any]:
    return group(name, count, InstanceType=P5, **facts)


CASES: dict[str, tuple[str, int, dict[str, Any], dict[str, Any], str]] = {
    "in one cluster": (
        PER_CLUSTER,
        4,
        group("b", 1),
        group("b", 2),
        "is 4 Instances, with current utilization of 0 Instances and a request delta of 5 Instances.",
    ),
    "in all clusters": (
        IN_ALL,
        7,
        group("b", 1),
        group("b", 2),
        "is 7 Instances, with current utilization of 3 Instances and a request delta of 5 Instances.",
    ),
    "of a type": (
        f"{P5} for cluster usage",
        8,
        p5("b", 2),
        p5("b", 3),
        "is 8 Instances, with current utilization of 3 Instances and a request delta of 6 Instances.",
    ),
    "of a type on Spot": (
        f"{P5} for cluster spot instance usage",
        2,
        p5("b", 2, **SPOT),
        p5("b", 3, **SPOT),
        "is 2 Instances, with current utilization of 0 Instances and a request delta of 3 Instances.",
    ),
    "on Spot": (
        SPOT_IN_ALL,
        2,
        group("b", 2, **SPOT),
        group("b", 3, **SPOT),
        "is 2 Instances, with current utilization of 0 Instances and a request delta of 3 Instances.",
    ),
    "a volume": (
        VOLUME,
        500,
        group("b", 1, **volume(500)),
        group("b", 1, **volume(501)),
        "is 500 GB, with current utilization of 0 GB and a request delta of 501 GB.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_quota_allows_what_it_says_and_no_more(world: TestWorld, case: str) -> None:
    """CT-4: unlimited until it is set; then it holds to the last one. Three instances are in another cluster."""
    name, value, fits, too_much, told = CASES[case]
    world.sagemaker.create_cluster(**eks(p5("a", 3), name="other"))
    world.sagemaker.create_cluster(**eks(p5("a", 3), too_much, name="unlimited"))
    world.sagemaker.delete_cluster(ClusterName="unlimited")
    world.advance(hours=1)
    limit(world, name, value)
    code, message = create(world, "demo", p5("a", 3), too_much)
    assert (code, message.startswith(f"The account-level service limit '{name}' {told}")) == (LIMIT, True), message
    world.sagemaker.create_cluster(**eks(p5("a", 3), fits, name="demo"))
    other_account = world.client(account="444455556666")
    other_account.create_cluster(**eks(p5("a", 3), too_much, name="demo"))


def test_on_demand_and_spot_do_not_count_for_each_other(world: TestWorld) -> None:
    """CT-4: a quota for each type and kind."""
    limit(world, f"{P5} for cluster usage", 2)
    limit(world, f"{P5} for cluster spot instance usage", 2)
    world.sagemaker.create_cluster(**eks(p5("a", 2), p5("b", 2, **SPOT)))
    assert create(world, "more", p5("a", 1))[0] == create(world, "more", p5("a", 1, **SPOT))[0] == LIMIT


def test_lustre_of_restricted_groups(dsn: str) -> None:
    """CT-4: summed over the account's clusters, in whole TiB; a service whose accounts may have restricted groups."""
    lustre = "Maximum total FSx Lustre capacity in TiB across HyperPod restricted instance groups"
    one = {key: value for key, value in p5("nova", 1).items() if key != "LifeCycleConfig"}
    one["EnvironmentConfig"] = {"FSxLustreConfig": {"SizeInGiB": 4800, "PerUnitStorageThroughput": 125}}
    with serving(Settings(database_url=dsn, frozen=True, restricted_groups="allow")) as running:
        world = running.world()
        limit(world, lustre, 9)
        world.sagemaker.create_cluster(**eks(group("a"), RestrictedInstanceGroups=[one]))
        again = eks(group("a"), RestrictedInstanceGroups=[one], name="again")
        code, message = refusal(world.sagemaker.create_cluster, **again)
        assert (code, "is 9 TiB, with current utilization of 5 TiB and a request delta of 5" in message) == (
            LIMIT,
            True,
        )
        limit(world, lustre, 10)
        world.sagemaker.create_cluster(**again)


def test_a_quota_that_is_lowered_takes_nothing_away(world: TestWorld) -> None:
    """CT-4: what is there stays and may shrink; only growth is refused."""
    world.sagemaker.create_cluster(**eks(group("a", 4, **volume(800)), group("b", 1)))
    world.advance(hours=1)
    limit(world, PER_CLUSTER, 2)
    limit(world, VOLUME, 100)
    limit(world, GROUPS, 1)
    update = world.sagemaker.update_cluster
    update(ClusterName="demo", InstanceGroups=[group("a", 3, **volume(800))])
    world.advance(hours=1)
    limit(world, PER_CLUSTER, None)
    code, message = refusal(update, ClusterName="demo", InstanceGroups=[group("a", 4, **volume(800))])
    assert (code, VOLUME in message) == (LIMIT, True)
    code, message = refusal(update, ClusterName="demo", InstanceGroups=[group("c", 1)])
    assert (code, GROUPS in message) == (LIMIT, True)
    update(ClusterName="demo", InstanceGroups=[group("b", 2)])
