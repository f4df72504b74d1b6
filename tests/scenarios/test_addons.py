"""What a cluster has besides its nodes: autoscaling, tiered storage, restricted instance groups."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from app.settings import Settings
from tests.kit import Running, TestWorld, eks, group, serving, slurm, workers

ROLE = "arn:aws:iam::111122223333:role/karpenter"
SCALING = {"Mode": "Enable", "AutoScalerType": "Karpenter"}
LUSTRE = {"SizeInGiB": 1200, "PerUnitStorageThroughput": 125}


def scaling(world: TestWorld) -> dict[str, Any] | None:
    return world.describe().get("AutoScaling")


def test_autoscaling_comes_and_goes(world: TestWorld) -> None:
    """Pain 19 of the field: Creating, InService, Deleting, and then it is gone."""
    world.sagemaker.create_cluster(**eks(group("a"), AutoScaling=SCALING, ClusterRole=ROLE))
    assert scaling(world) == {**SCALING, "Status": "Creating"}
    world.advance(minutes=1)
    assert scaling(world) == {**SCALING, "Status": "InService"}
    with pytest.raises(ClientError, match="ClusterRole cannot be changed while AutoScaling is enabled"):
        world.sagemaker.update_cluster(ClusterName="demo", ClusterRole=f"{ROLE}-2")
    world.sagemaker.update_cluster(ClusterName="demo", AutoScaling={"Mode": "Disable"})
    assert scaling(world) == {"Mode": "Disable", "Status": "Deleting"}
    world.advance(minutes=1)
    assert scaling(world) is None
    world.sagemaker.update_cluster(ClusterName="demo", ClusterRole=f"{ROLE}-2")
    assert world.describe()["ClusterRole"] == f"{ROLE}-2"


@pytest.mark.parametrize("operation", ["CreateCluster", "UpdateCluster"])
def test_autoscaling_fails_and_recovers(world: TestWorld, operation: str) -> None:
    """CT-3: by a fault of the operation that turns it on; turned off and on again it works."""
    world.fault("internal-error", operation=operation, message="the role cannot be assumed", times=1)
    world.sagemaker.create_cluster(**eks(group("a"), ClusterRole=ROLE, AutoScaling=SCALING))
    world.advance(minutes=1)
    if operation == "UpdateCluster":
        world.sagemaker.update_cluster(ClusterName="demo", AutoScaling={"Mode": "Disable"})
        world.advance(minutes=1)
        world.sagemaker.update_cluster(ClusterName="demo", AutoScaling=SCALING)
        world.advance(minutes=1)
    failed = scaling(world)
    assert failed is not None
    assert failed["Status"] == "Failed"
    assert "the role cannot be assumed" in failed["FailureMessage"]
    world.sagemaker.update_cluster(ClusterName="demo", AutoScaling={"Mode": "Disable"})
    world.advance(minutes=1)
    world.sagemaker.update_cluster(ClusterName="demo", AutoScaling=SCALING)
    world.advance(minutes=1)
    assert scaling(world) == {**SCALING, "Status": "InService"}


def without_mode(request_: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in request_.items() if key != "NodeProvisioningMode"}


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (slurm(workers(1), AutoScaling=SCALING, ClusterRole=ROLE), "needs the EKS orchestrator"),
        (eks(group("a"), AutoScaling=SCALING), "needs ClusterRole"),
        (without_mode(eks(group("a"), AutoScaling=SCALING, ClusterRole=ROLE)), "needs NodeProvisioningMode Continuous"),
    ],
)
def test_autoscaling_that_cannot_work_is_refused(world: TestWorld, request_: dict[str, Any], text: str) -> None:
    with pytest.raises(ClientError, match=text):
        world.sagemaker.create_cluster(**request_)


def test_tiered_storage_appears_after_the_first_description(world: TestWorld) -> None:
    """Seen in the field: the first DescribeCluster after CreateCluster does not show it yet."""
    tiered = {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20}
    world.sagemaker.create_cluster(**eks(group("a"), TieredStorageConfig=tiered))
    assert "TieredStorageConfig" not in world.describe()
    world.advance(minutes=1)
    assert world.describe()["TieredStorageConfig"] == tiered
    world.sagemaker.update_cluster(ClusterName="demo", TieredStorageConfig={"Mode": "Disable"})
    assert world.describe()["TieredStorageConfig"] == {"Mode": "Disable"}


@pytest.fixture(scope="module")
def entitled(dsn: str) -> Iterator[Running]:
    """A service whose accounts may have restricted instance groups."""
    with serving(Settings(database_url=dsn, frozen=True, restricted_groups="allow")) as running:
        yield running


def restricted(count: int, **facts: Any) -> dict[str, Any]:
    spec = group("nova", count, InstanceType="ml.p5.48xlarge", **facts)
    return {key: value for key, value in spec.items() if key != "LifeCycleConfig"}


def test_restricted_groups_need_an_entitled_account(world: TestWorld) -> None:
    """The text that an ordinary account was seen to get."""
    with pytest.raises(ClientError, match=r"Found RestrictedInstanceGroups in the cluster input. Please remove"):
        world.sagemaker.create_cluster(**eks(group("a"), RestrictedInstanceGroups=[restricted(1)]))


def test_restricted_groups(entitled: Running) -> None:
    """They are groups of their own list: provisioned, scaled, listed and deleted as others are."""
    world = entitled.world()
    shared = {"FSxLustreConfig": LUSTRE, "FSxLustreDeletionPolicy": "Keep"}
    world.sagemaker.create_cluster(
        **eks(
            group("a"),
            RestrictedInstanceGroups=[restricted(2, EnvironmentConfig={"FSxLustreConfig": LUSTRE})],
            RestrictedInstanceGroupsConfig={"SharedEnvironmentConfig": shared},
        )
    )
    world.advance(minutes=1)
    seen = world.describe()
    assert [one["InstanceGroupName"] for one in seen["InstanceGroups"]] == ["a"]
    [nova] = seen["RestrictedInstanceGroups"]
    assert (nova["CurrentCount"], nova["TargetCount"], nova["Status"]) == (2, 2, "InService")
    assert nova["EnvironmentConfig"]["FSxLustreConfig"] == LUSTRE
    config = seen["RestrictedInstanceGroupsConfig"]["SharedEnvironmentConfig"]
    assert (config["CurrentFSxLustreConfig"], config["DesiredFSxLustreDeletionPolicy"]) == (LUSTRE, "Keep")
    assert sum(node["InstanceGroupName"] == "nova" for node in world.nodes()) == 2
    with pytest.raises(ClientError, match=r"is restricted. Give it in RestrictedInstanceGroups"):
        world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("nova", 1)])
    world.sagemaker.update_cluster(ClusterName="demo", RestrictedInstanceGroups=[restricted(1)])
    world.advance(minutes=1)
    assert world.describe()["RestrictedInstanceGroups"][0]["CurrentCount"] == 1
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroupsToDelete=["nova"])
    world.advance(minutes=1)
    assert "RestrictedInstanceGroups" not in world.describe()
    with pytest.raises(ClientError, match="restricted instance groups need the EKS orchestrator"):
        world.sagemaker.create_cluster(**slurm(workers(1), name="other", RestrictedInstanceGroups=[restricted(1)]))
    world.close()
