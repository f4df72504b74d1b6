"""A first cluster, from the example file to its end, as a user of boto3 sees it."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import TestWorld, workers

REQUEST: dict[str, Any] = json.loads(Path("examples/create_cluster.json").read_text())
NAME = REQUEST["ClusterName"]
CONTROLLER, LOGIN, WORKERS = "controller-group", "login-group", "worker-gpu-a"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def counts(world: TestWorld) -> dict[str, tuple[str, int, int]]:
    return {
        g["InstanceGroupName"]: (g["Status"], g["CurrentCount"], g["TargetCount"])
        for g in world.describe(NAME)["InstanceGroups"]
    }


def told(world: TestWorld, name: str = NAME, **kwargs: Any) -> list[str]:
    return [event["Description"] for event in world.events(name, **kwargs)]


def until(world: TestWorld, status: str, name: str = NAME) -> None:
    for _ in range(100):
        if world.describe(name)["ClusterStatus"] == status:
            return
        world.advance(1)
    raise AssertionError(f"{name} never became {status}")


@pytest.fixture
def created(world: TestWorld) -> TestWorld:
    world.sagemaker.create_cluster(**REQUEST)
    return world


def test_create_answers_at_once_with_an_arn(world: TestWorld) -> None:
    """HP-2: intent is recorded, nothing is launched yet; the ARN ends in a random id of twelve characters."""
    answer = world.sagemaker.create_cluster(**REQUEST)
    assert re.fullmatch(r"arn:aws:sagemaker:us-west-2:111122223333:cluster/[a-z0-9]{12}", answer["ClusterArn"])
    found = world.describe(NAME)
    assert found["ClusterStatus"] == "Creating"
    assert found["ClusterArn"] == answer["ClusterArn"]
    assert world.describe(answer["ClusterArn"])["ClusterName"] == NAME
    assert counts(world) == {
        CONTROLLER: ("Creating", 0, 1),
        LOGIN: ("Creating", 0, 1),
        WORKERS: ("Creating", 0, 16),
    }
    assert world.nodes(NAME) == []


def test_describe_shows_what_was_asked(created: TestWorld) -> None:
    """HP-1, HP-14: mode, orchestrator and VPC come back; InstanceCount as TargetCount; MinCount's defaults."""
    found = created.describe(NAME)
    assert found["NodeProvisioningMode"] == "Continuous"
    assert found["Orchestrator"] == {"Slurm": {}}
    assert found["VpcConfig"] == REQUEST["VpcConfig"]
    for asked, group in zip(REQUEST["InstanceGroups"], found["InstanceGroups"], strict=True):
        assert group["InstanceType"] == asked["InstanceType"]
        assert group["SlurmConfig"] == asked["SlurmConfig"]
        assert group["LifeCycleConfig"] == asked["LifeCycleConfig"]
        assert group["ExecutionRole"] == asked["ExecutionRole"]
    assert [group["MinCount"] for group in found["InstanceGroups"]] == [1, 1, 0]


def test_the_controller_comes_first(created: TestWorld) -> None:
    """HP-4, HP-5: login and workers wait for one healthy controller, then launch together."""
    while created.group(CONTROLLER, NAME)["CurrentCount"] == 0:
        assert {node["InstanceGroupName"] for node in created.nodes(NAME)} <= {CONTROLLER}
        created.advance(1)
    assert created.describe(NAME)["ClusterStatus"] == "Creating"
    seen = Counter((node["InstanceGroupName"], node["InstanceStatus"]["Status"]) for node in created.nodes(NAME))
    assert seen == {(CONTROLLER, "Running"): 1, (LOGIN, "Pending"): 1, (WORKERS, "Pending"): 16}
    until(created, "InService")
    created.advance(60)
    assert counts(created) == {
        CONTROLLER: ("InService", 1, 1),
        LOGIN: ("InService", 1, 1),
        WORKERS: ("InService", 16, 16),
    }


def test_in_service_with_the_first_login_node(created: TestWorld) -> None:
    """HP-5: not before the login node is up, and no later."""
    created.fault("boot-slow", group=LOGIN, seconds=600)
    created.advance(minutes=2)
    assert counts(created)[WORKERS] == ("InService", 16, 16)
    assert created.describe(NAME)["ClusterStatus"] == "Creating"
    created.advance(minutes=10)
    assert created.describe(NAME)["ClusterStatus"] == "InService"


def test_the_story_is_told_in_order_and_in_the_catalogues_words(created: TestWorld) -> None:
    """HP-3, HP-20, HP-26: every step of every group and instance, each text as the catalogue has it."""
    created.advance(minutes=2)
    story = told(created)
    controller = next(node for node in created.nodes(NAME) if node["InstanceGroupName"] == CONTROLLER)["InstanceId"]
    expected = [
        f"Cluster {NAME} creation started successfully",
        f"InstanceGroup {CONTROLLER} creation started successfully in Cluster {NAME}",
        f"Instance Group network configuration successfully determined for IG {CONTROLLER} in Cluster {NAME}",
        f"Instance creation started successfully in Cluster {NAME} and IG {CONTROLLER}",
        f"No CapacityReservation found for Cluster {NAME} and IG {CONTROLLER}, using on-demand pool",
        f"Successfully created Customer ENI for instance in Cluster {NAME} and IG {CONTROLLER}",
        f"EC2 Instance {controller} successfully provisioned in Cluster {NAME} and IG {CONTROLLER}",
        f"Instance lifecycle script execution for EC2 Instance {controller} has Started",
        f"Instance lifecycle script execution for EC2 Instance {controller} has Succeeded",
        f"Instance creation {controller} in Cluster {NAME} and IG {CONTROLLER} completed successfully",
        "Successfully created and stored munge key",
        f"Minimum capacity of 1 instances reached for IG {CONTROLLER} in Cluster {NAME}",
        f"Instance Group {CONTROLLER} creation in Cluster {NAME} completed successfully",
        f"Instance creation started successfully in Cluster {NAME} and IG {WORKERS}",
        f"Cluster {NAME} creation completed successfully",
        "Slurm was reconfigured successfully. Slurm config updated to match desired state",
        f"Instance Group {WORKERS} creation in Cluster {NAME} completed successfully",
    ]
    places = [story.index(line) for line in expected]
    assert places == sorted(places)
    assert sum(line.endswith("has Succeeded") for line in story) == 18
    times = [event["EventTime"] for event in created.events(NAME)]
    assert times == sorted(times)
    assert {event["EventLevel"] for event in created.events(NAME)} == {"Info"}


def test_every_event_can_be_described(created: TestWorld) -> None:
    """HP-26: UUID ids; metadata is a union by resource; logical id, ENI, script state, subnet and counts filled."""
    created.advance(minutes=2)
    seen: Counter[str] = Counter()
    for event in created.events(NAME):
        assert UUID.fullmatch(event["EventId"])
        found = created.sagemaker.describe_cluster_event(ClusterName=NAME, EventId=event["EventId"])["EventDetails"]
        details = found.pop("EventDetails", {})
        assert found == event
        metadata = details.get("EventMetadata", {})
        assert len(metadata) <= 1
        if event["ResourceType"] == "Instance":
            assert UUID.fullmatch(metadata["Instance"]["NodeLogicalId"])
        for member, facts in metadata.items():
            seen.update([member, *(f"{member}.{fact}" for fact in facts)])
    assert seen["Instance.LcsExecutionState"] == 36
    assert seen["Instance.CustomerEni"] == 18
    assert seen["InstanceGroup.SubnetId"] == seen["InstanceGroup.AvailabilityZoneId"] == 3
    assert seen["InstanceGroupScaling.TargetCount"] >= 6


def test_nodes_can_be_described_by_either_id(created: TestWorld) -> None:
    """HP-26, HP-29: instance id and logical id find the same node, with its address and zone."""
    created.advance(minutes=2)
    for node in created.nodes(NAME, IncludeNodeLogicalIds=True)[:5]:
        one = created.sagemaker.describe_cluster_node(ClusterName=NAME, NodeId=node["InstanceId"])["NodeDetails"]
        other = created.sagemaker.describe_cluster_node(ClusterName=NAME, NodeLogicalId=node["NodeLogicalId"])
        assert one == other["NodeDetails"]
        assert one["InstanceStatus"] == {"Status": "Running"} == node["InstanceStatus"]
        assert one["LaunchTime"] == node["LaunchTime"]
        assert one["PrivateDnsHostname"] == f"ip-{one['PrivatePrimaryIp'].replace('.', '-')}.us-west-2.compute.internal"
        assert one["Placement"]["AvailabilityZone"].startswith("us-west-2")


def test_groups_are_scaled_added_and_removed_while_others_move(created: TestWorld) -> None:
    """HP-7, HP-15: updates overlap; the cluster stays InService and scaling shows as CurrentCount and TargetCount."""
    until(created, "InService")
    sagemaker = created.sagemaker
    base = REQUEST["InstanceGroups"][2]
    sagemaker.update_cluster(ClusterName=NAME, InstanceGroups=[base | {"InstanceCount": 20}])
    created.advance(2)
    assert counts(created)[WORKERS] == ("InService", 16, 20)
    assert created.group(WORKERS, NAME)["ActiveOperations"] == {"Scaling": 1}
    extra = workers(3, "extra", InstanceType="ml.g5.xlarge")
    sagemaker.update_cluster(ClusterName=NAME, InstanceGroups=[extra, base | {"InstanceCount": 18}])
    created.advance(1)
    sagemaker.update_cluster(ClusterName=NAME, InstanceGroupsToDelete=["extra"], InstanceGroups=[base])
    assert created.describe(NAME)["ClusterStatus"] == "InService"
    assert counts(created)["extra"][0] == "Deleting"
    created.advance(minutes=2)
    assert counts(created) == {
        CONTROLLER: ("InService", 1, 1),
        LOGIN: ("InService", 1, 1),
        WORKERS: ("InService", 16, 16),
    }
    assert "ActiveOperations" not in created.group(WORKERS, NAME)
    story = told(created)
    assert story.count(f"Cluster {NAME} update started successfully") == 3
    assert story[-1] == f"Cluster {NAME} update completed successfully"
    assert f"Instance Group extra deletion in Cluster {NAME} completed successfully" in story


def test_nodes_are_added_and_deleted_by_name(created: TestWorld) -> None:
    """HP-31: exactly the named nodes go and the targets follow; added nodes are named by logical ids at once."""
    until(created, "InService")
    created.advance(60)
    added = created.sagemaker.batch_add_cluster_nodes(
        ClusterName=NAME, NodesToAdd=[{"InstanceGroupName": WORKERS, "IncrementTargetCountBy": 2}]
    )
    assert added["Failed"] == []
    assert [one["Status"] for one in added["Successful"]] == ["Pending", "Pending"]
    created.advance(60)
    nodes = {n["NodeLogicalId"]: n for n in created.nodes(NAME, IncludeNodeLogicalIds=True)}
    names = [one["NodeLogicalId"] for one in added["Successful"]]
    assert [nodes[name]["InstanceStatus"]["Status"] for name in names] == ["Running", "Running"]
    assert counts(created)[WORKERS] == ("InService", 18, 18)
    old = next(n for n in nodes.values() if n["InstanceGroupName"] == WORKERS and n["NodeLogicalId"] not in names)
    answer = created.sagemaker.batch_delete_cluster_nodes(
        ClusterName=NAME, NodeIds=[old["InstanceId"], "i-00000000000000000"], NodeLogicalIds=[names[0]]
    )
    assert answer["Successful"] == [old["InstanceId"]]
    assert answer["SuccessfulNodeLogicalIds"] == [names[0]]
    assert [(one["NodeId"], one["Code"]) for one in answer["Failed"]] == [("i-00000000000000000", "NodeIdNotFound")]
    created.advance(60)
    assert counts(created)[WORKERS] == ("InService", 16, 16)
    left = {n["NodeLogicalId"] for n in created.nodes(NAME, IncludeNodeLogicalIds=True)}
    assert left == set(nodes) - {old["NodeLogicalId"], names[0]}


def test_delete_ends_in_resource_not_found(created: TestWorld) -> None:
    """HP-26, HP-25: Deleting while instances end, then nothing; the bill stays, and the name is free with a new id."""
    until(created, "InService")
    arn = created.describe(NAME)["ClusterArn"]
    created.sagemaker.delete_cluster(ClusterName=NAME)
    created.advance(1)
    assert created.describe(NAME)["ClusterStatus"] == "Deleting"
    assert {n["InstanceStatus"]["Status"] for n in created.nodes(NAME)} == {"ShuttingDown"}
    assert {group["Status"] for group in created.describe(NAME)["InstanceGroups"]} == {"Deleting"}
    before = created.bill(cluster=arn)["total_micro_usd"]
    created.advance(60)
    for operation, more in (("describe_cluster", {}), ("list_cluster_nodes", {}), ("list_cluster_events", {})):
        with pytest.raises(created.sagemaker.exceptions.ResourceNotFound):
            getattr(created.sagemaker, operation)(ClusterName=NAME, **more)
    assert created.sagemaker.list_clusters()["ClusterSummaries"] == []
    assert created.bill(cluster=arn)["total_micro_usd"] == before > 0
    again = created.sagemaker.create_cluster(**REQUEST)["ClusterArn"]
    assert again != arn
    with pytest.raises(ClientError, match="not found"):
        created.describe(arn)


def test_tags(created: TestWorld) -> None:
    """HP-W7: tags of the creation and later ones are one set; keys are replaced, deleted, and go with the cluster."""
    arn = created.describe(NAME)["ClusterArn"]
    sagemaker = created.sagemaker
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "team", "Value": "a"}, {"Key": "cost", "Value": "1"}])
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "team", "Value": "b"}])
    tags = {tag["Key"]: tag["Value"] for tag in sagemaker.list_tags(ResourceArn=arn)["Tags"]}
    assert tags == {"team": "b", "cost": "1"}
    sagemaker.delete_tags(ResourceArn=arn, TagKeys=["cost", "never-there"])
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "team", "Value": "b"}]
    second = sagemaker.create_cluster(**REQUEST | {"ClusterName": "second", "Tags": [{"Key": "k", "Value": "v"}]})
    assert sagemaker.list_tags(ResourceArn=second["ClusterArn"])["Tags"] == [{"Key": "k", "Value": "v"}]
