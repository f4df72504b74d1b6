"""Scaling: what may overlap, who goes, and what a request changes at once."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import TestWorld, controller, login, slurm, workers

SMALL = "ml.g5.xlarge"


def a(count: int, **facts: Any) -> dict[str, Any]:
    return workers(count, "a", InstanceType=SMALL, **facts)


def b(count: int, **facts: Any) -> dict[str, Any]:
    return workers(count, "b", InstanceType=SMALL, **facts)


def update(world: TestWorld, *groups: dict[str, Any], **facts: Any) -> None:
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=list(groups), **facts)


def pair(world: TestWorld, group: str) -> tuple[int, int]:
    found = world.group(group)
    return found["CurrentCount"], found["TargetCount"]


@pytest.fixture
def settled(world: TestWorld) -> TestWorld:
    world.sagemaker.create_cluster(**slurm(a(4), b(2)))
    world.advance(minutes=1)
    return world


def test_repeated_scaling_of_one_group_does_not_wait(settled: TestWorld) -> None:
    """HP-7: up, up, down, up within three seconds: the last word counts and the cluster stays InService."""
    for count in (6, 9, 3, 7):
        update(settled, a(count))
        assert settled.describe()["ClusterStatus"] == "InService"
        assert settled.group("a")["TargetCount"] == count
        settled.advance(1)
    settled.advance(minutes=1)
    assert pair(settled, "a") == (7, 7)
    assert settled.group("a")["Status"] == "InService"


def test_groups_scale_independently(settled: TestWorld) -> None:
    """HP-7: one group's trouble is not another's."""
    settled.fault("launch-transient", group="a")
    update(settled, a(6), b(4))
    settled.advance(20)
    assert (pair(settled, "a"), pair(settled, "b")) == ((4, 6), (4, 4))


def test_an_update_during_creation_belongs_to_it(world: TestWorld) -> None:
    """HP-2, HP-7: targets may change before anything runs."""
    world.sagemaker.create_cluster(**slurm(a(1)))
    update(world, a(3))
    world.advance(minutes=1)
    assert pair(world, "a") == (3, 3)


def test_groups_left_out_stay_and_zero_is_a_size(settled: TestWorld) -> None:
    """HP-2: upsert by name; a group may be scaled to nothing and back, and its nodes are new ones."""
    before = {node["InstanceId"] for node in settled.nodes(InstanceGroupNameContains="a")}
    update(settled, a(0))
    settled.advance(minutes=1)
    assert (pair(settled, "a"), pair(settled, "b")) == ((0, 0), (2, 2))
    update(settled, a(2))
    settled.advance(minutes=1)
    assert pair(settled, "a") == (2, 2)
    after = {node["InstanceId"] for node in settled.nodes() if node["InstanceGroupName"] == "a"}
    assert len(after) == 2
    assert not before & after


def test_a_scale_down_takes_the_unready_first(settled: TestWorld) -> None:
    """HP-18, and the design's order of victims: nodes that wait go before nodes that run."""
    settled.capacity(SMALL, 6)
    running = {node["InstanceId"] for node in settled.nodes(InstanceGroupNameContains="a")}
    update(settled, a(9))
    settled.advance(minutes=1)
    update(settled, a(4))
    settled.advance(minutes=1)
    assert {node["InstanceId"] for node in settled.nodes() if node["InstanceGroupName"] == "a"} == running


def test_current_count_leaves_out_what_terminates(settled: TestWorld) -> None:
    """HP-6: CurrentCount counts instances that run and have not begun to terminate."""
    update(settled, a(1))
    settled.advance(1)
    assert pair(settled, "a") == (1, 1)
    statuses = [n["InstanceStatus"]["Status"] for n in settled.nodes() if n["InstanceGroupName"] == "a"]
    assert sorted(statuses) == ["Running", "ShuttingDown", "ShuttingDown", "ShuttingDown"]


def test_a_group_is_removed_only_by_name(settled: TestWorld) -> None:
    """HP-7: `InstanceGroupsToDelete`; its instances end, then the group is gone; the name may come again."""
    settled.sagemaker.update_cluster(ClusterName="demo", InstanceGroupsToDelete=["b"])
    settled.advance(1)
    assert settled.group("b")["Status"] == "Deleting"
    with pytest.raises(settled.sagemaker.exceptions.ConflictException):
        update(settled, b(1))
    with pytest.raises(settled.sagemaker.exceptions.ConflictException):
        settled.sagemaker.update_cluster(ClusterName="demo", InstanceGroupsToDelete=["b"])
    settled.advance(minutes=1)
    assert [g["InstanceGroupName"] for g in settled.describe()["InstanceGroups"]] == ["controller", "a"]
    update(settled, b(1))
    settled.advance(minutes=1)
    assert pair(settled, "b") == (1, 1)
    ids = [node["NodeLogicalId"] for node in settled.nodes(IncludeNodeLogicalIds=True)]
    assert len(ids) == len(set(ids)) == 6


def test_a_removed_group_that_comes_again_charges_each_life(settled: TestWorld) -> None:
    """HP-22, HP-25: the second life of a group's name is billed like the first, and beside it."""
    arn = settled.describe()["ClusterArn"]
    for _ in range(2):
        settled.sagemaker.update_cluster(ClusterName="demo", InstanceGroupsToDelete=["b"])
        settled.advance(minutes=1)
        update(settled, b(2))
        settled.advance(minutes=1)
    lines = [line for line in settled.bill(cluster=arn)["lines"] if line["group"] == "b"]
    assert len(lines) == 6
    assert len([line for line in lines if line["ended"] is None]) == 2


def test_deleting_more_nodes_than_the_pending_target_has(settled: TestWorld) -> None:
    """HP-31: BatchDelete right after an UpdateCluster that lowers the target: never below nothing."""
    nodes = [node["InstanceId"] for node in settled.nodes() if node["InstanceGroupName"] == "a"]
    update(settled, a(1))
    answer = settled.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=nodes[:3])
    assert answer["Successful"] == nodes[:3]
    settled.advance(minutes=1)
    current, target = pair(settled, "a")
    assert current == target
    assert {n["InstanceId"] for n in settled.nodes() if n["InstanceGroupName"] == "a"} <= {nodes[3]}


def test_a_group_added_later_gets_its_own_events(settled: TestWorld) -> None:
    """HP-7, HP-26."""
    update(settled, workers(1, "late", InstanceType=SMALL))
    settled.advance(minutes=1)
    told = [event["Description"] for event in settled.events(InstanceGroupName="late", ResourceType="InstanceGroup")]
    assert told[0] == "InstanceGroup late creation started successfully in Cluster demo"
    assert told[-1] == "Instance Group late creation in Cluster demo completed successfully"


def test_a_login_group_may_come_later(settled: TestWorld) -> None:
    """HP-5, HP-7: it does not take the cluster out of service."""
    settled.fault("boot-slow", group="login", seconds=600)
    update(settled, login())
    settled.advance(minutes=1)
    assert settled.describe()["ClusterStatus"] == "InService"
    settled.advance(minutes=11)
    assert pair(settled, "login") == (1, 1)


def test_lifecycle_scripts_and_recovery_may_change(settled: TestWorld) -> None:
    """HP-7: members that an update may write over are read back."""
    life = {"SourceS3Uri": "s3://amzn-s3-demo-bucket/second", "OnCreate": "second.sh"}
    update(settled, a(4, LifeCycleConfig=life), NodeRecovery="None")
    assert settled.group("a")["LifeCycleConfig"] == life
    assert settled.describe()["NodeRecovery"] == "None"
    assert pair(settled, "a") == (4, 4)
    with pytest.raises(ClientError, match="keeps what it was made with"):
        update(settled, a(4) | {"InstanceType": "ml.p5.48xlarge"})


def test_the_controller_cannot_be_deleted(settled: TestWorld) -> None:
    """HP-31, HP-14: per item with NodeIdInUse; its group neither by name nor by size."""
    node = next(n for n in settled.nodes() if n["InstanceGroupName"] == "controller")["InstanceId"]
    answer = settled.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=[node])
    assert [(one["NodeId"], one["Code"]) for one in answer["Failed"]] == [(node, "NodeIdInUse")]
    with pytest.raises(ClientError, match="cannot be deleted"):
        settled.sagemaker.update_cluster(ClusterName="demo", InstanceGroupsToDelete=["controller"])
    with pytest.raises(ClientError, match="InstanceCount"):
        update(settled, controller(InstanceCount=0))
