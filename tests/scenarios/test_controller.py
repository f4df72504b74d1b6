"""The controller of a Slurm cluster: first, retried or fatal, and never several."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import TestWorld, controller, eks, group, login, slurm, workers

TIMED_OUT = "Cluster creation failed: controller and login nodes did not become ready within the expected time"


def status(world: TestWorld) -> str:
    return world.describe()["ClusterStatus"]


@pytest.mark.parametrize("effect", ["launch-transient", "launch-unhealthy"])
def test_a_passing_trouble_of_the_controller_is_retried(world: TestWorld, effect: str) -> None:
    """HP-8, HP-3: replaced until it is up; not InService before; login and workers wait; each attempt is recorded."""
    world.fault(effect, group="controller", times=3)
    world.sagemaker.create_cluster(**slurm(login(), workers(2)))
    seen = set()
    while status(world) == "Creating":
        nodes = world.nodes(IncludeNodeLogicalIds=True)
        if world.group("controller")["CurrentCount"] == 0:
            assert {node["InstanceGroupName"] for node in nodes} <= {"controller"}
        seen |= {node["InstanceId"] for node in nodes if node["InstanceGroupName"] == "controller"}
        world.advance(1)
    assert status(world) == "InService"
    assert len(seen - {""}) == 4
    errors = [e for e in world.events(InstanceGroupName="controller") if e["EventLevel"] == "Error"]
    assert len(errors) == 6
    logical = world.nodes(IncludeNodeLogicalIds=True, InstanceGroupNameContains="controller")
    assert len(logical) == 1
    assert logical[0]["InstanceStatus"] == {"Status": "Running"}


def test_creation_fails_when_the_controller_is_not_up_in_three_hours(world: TestWorld) -> None:
    """HP-8: to the second, with the catalogue's event and what to do."""
    world.fault("launch-unhealthy", group="controller")
    world.sagemaker.create_cluster(**slurm(workers(2)))
    world.advance(3 * 3600 - 1)
    assert status(world) == "Creating"
    world.advance(1)
    found = world.describe()
    assert found["ClusterStatus"] == "Failed"
    assert found["FailureMessage"].startswith(TIMED_OUT)
    assert "delete this cluster and create it again" in found["FailureMessage"]
    last = [event for event in world.events() if event["ResourceType"] == "Cluster"][-1]
    assert (last["Description"], last["EventLevel"]) == (TIMED_OUT, "Error")


def test_a_login_node_that_never_comes_fails_creation_and_the_workers_go_on_costing(world: TestWorld) -> None:
    """HP-8, HP-9: MinCount of login does not roll back by itself; running instances stay, and are billed."""
    world.fault("launch-transient", group="login")
    world.sagemaker.create_cluster(**slurm(login(), workers(2)))
    world.advance(hours=3)
    assert status(world) == "Failed"
    assert world.group("login")["TargetCount"] == 1
    assert world.group("workers")["CurrentCount"] == 2
    before = world.bill()["total_micro_usd"]
    world.advance(hours=1)
    bill = world.bill()
    assert bill["total_micro_usd"] > before
    assert [line["ended"] for line in bill["lines"]] == [None] * 3
    assert world.group("workers")["CurrentCount"] == 2


@pytest.mark.parametrize("effect", ["script-failed", "script-hang"])
def test_a_failed_lifecycle_script_of_the_controller_is_final(world: TestWorld, effect: str) -> None:
    """HP-9: Failed at the first one, with the reason and the corrective action."""
    world.fault(effect, group="controller", times=1)
    world.sagemaker.create_cluster(**slurm(workers(2)))
    world.advance(minutes=5)
    found = world.describe()
    assert found["ClusterStatus"] == "Failed"
    assert found["FailureMessage"].startswith("Lifecycle script")
    assert found["FailureMessage"].endswith("delete this cluster and create it again.")
    failed = [event for event in world.events() if event["Description"] == "Cluster demo creation failed"]
    details = world.sagemaker.describe_cluster_event(ClusterName="demo", EventId=failed[0]["EventId"])
    metadata = details["EventDetails"]["EventDetails"]["EventMetadata"]
    assert metadata == {"Cluster": {"FailureMessage": found["FailureMessage"]}}
    launches = [e for e in world.events() if e["Description"].startswith("No CapacityReservation found")]
    assert len(launches) == 1


def test_what_a_failed_cluster_still_does(world: TestWorld) -> None:
    """HP-9: it can be described, listed, tagged and deleted; every other mutation is a ConflictException."""
    world.fault("script-failed", group="controller", times=1)
    world.sagemaker.create_cluster(**slurm(workers(2)))
    world.advance(minutes=1)
    sagemaker, arn = world.sagemaker, world.describe()["ClusterArn"]
    assert sagemaker.list_clusters()["ClusterSummaries"][0]["ClusterStatus"] == "Failed"
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "a", "Value": "b"}])
    node = world.nodes(IncludeNodeLogicalIds=True)[0]
    sagemaker.describe_cluster_node(ClusterName="demo", NodeLogicalId=node["NodeLogicalId"])
    mutations: list[tuple[str, dict[str, Any]]] = [
        ("update_cluster", {"InstanceGroups": [workers(3)]}),
        ("batch_add_cluster_nodes", {"NodesToAdd": [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]}),
        ("batch_delete_cluster_nodes", {"NodeLogicalIds": [node["NodeLogicalId"]]}),
    ]
    for operation, arguments in mutations:
        with pytest.raises(ClientError) as refused:
            getattr(sagemaker, operation)(ClusterName="demo", **arguments)
        assert refused.value.response["Error"]["Code"] == "ConflictException", operation
    sagemaker.delete_cluster(ClusterName="demo")
    world.advance(minutes=1)
    assert sagemaker.list_clusters()["ClusterSummaries"] == []


def test_troubles_of_workers_and_login_do_not_fail_the_cluster(world: TestWorld) -> None:
    """HP-6, HP-23: they are retried by themselves until they join."""
    world.fault("script-failed", group="workers", times=3)
    world.fault("launch-transient", group="login", times=2)
    world.sagemaker.create_cluster(**slurm(login(), workers(3)))
    world.advance(minutes=10)
    assert status(world) == "InService"
    assert [g["CurrentCount"] for g in world.describe()["InstanceGroups"]] == [1, 1, 3]


def test_without_a_login_group_the_controller_is_enough(world: TestWorld) -> None:
    """HP-5."""
    world.fault("boot-slow", group="workers", seconds=3600)
    world.sagemaker.create_cluster(**slurm(workers(2)))
    world.advance(10)
    assert status(world) == "InService"
    assert world.group("workers")["CurrentCount"] == 0


def test_without_an_orchestrator_a_cluster_is_slurm_and_does_not_say_so(world: TestWorld) -> None:
    """HP-1: `Orchestrator` is absent unless it was given."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    assert "Orchestrator" not in world.describe()
    world.sagemaker.create_cluster(**eks(group("g"), name="other"))
    assert "Eks" in world.describe("other")["Orchestrator"]


def test_mode_is_opt_in(world: TestWorld) -> None:
    """HP-1, HP-13: without NodeProvisioningMode a cluster is classic, and has no events."""
    world.sagemaker.create_cluster(ClusterName="demo", InstanceGroups=[group("g", 2)])
    world.advance(minutes=1)
    assert "NodeProvisioningMode" not in world.describe()
    for operation, more in (
        ("list_cluster_events", {}),
        ("describe_cluster_event", {"EventId": "00000000-0000-4000-8000-000000000000"}),
    ):
        with pytest.raises(ClientError) as refused:
            getattr(world.sagemaker, operation)(ClusterName="demo", **more)
        assert refused.value.response["Error"]["Code"] == "ValidationException"


def test_a_classic_cluster_turns_continuous_when_every_group_has_slurm_config(world: TestWorld) -> None:
    """HP-1."""
    world.sagemaker.create_cluster(ClusterName="demo", InstanceGroups=[group("controller"), group("g", 2)])
    world.advance(minutes=1)
    turn = world.sagemaker.update_cluster
    with pytest.raises(ClientError, match="Missing: g"):
        turn(ClusterName="demo", NodeProvisioningMode="Continuous", InstanceGroups=[controller()])
    compute = group("g", 3, SlurmConfig={"NodeType": "Compute", "PartitionNames": ["p"]})
    turn(ClusterName="demo", NodeProvisioningMode="Continuous", InstanceGroups=[controller(), compute])
    world.advance(minutes=1)
    assert world.describe()["NodeProvisioningMode"] == "Continuous"
    assert world.group("g")["CurrentCount"] == 3
    assert world.group("g")["SlurmConfig"]["NodeType"] == "Compute"
    assert world.events()


def test_an_eks_cluster_is_continuous_only_when_asked(world: TestWorld) -> None:
    """HP-1."""
    request = eks(group("g"))
    del request["NodeProvisioningMode"]
    world.sagemaker.create_cluster(**request)
    assert "NodeProvisioningMode" not in world.describe()


def test_eks_groups_do_not_wait_for_one_another(world: TestWorld) -> None:
    """HP-2, HP-4: without Slurm all groups launch at once, and the cluster is InService when it is set up."""
    world.sagemaker.create_cluster(**eks(group("a", 2), group("b", 2)))
    world.advance(2)
    assert status(world) == "InService"
    assert [node["InstanceStatus"]["Status"] for node in world.nodes()] == ["Pending"] * 4
    launched = {node["LaunchTime"] for node in world.nodes()}
    assert len(launched) == 1
