"""MinCount: what it waits for, what it blocks, and what it returns to."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import Running, TestWorld, eks, login, slurm, workers

P5 = "ml.p5.48xlarge"
HOURS_3 = 3 * 3600


def shown(world: TestWorld, group: str = "workers") -> tuple[str, int, int, int]:
    found = world.group(group)
    return found["Status"], found["CurrentCount"], found["TargetCount"], found["MinCount"]


def update(world: TestWorld, *groups: dict[str, Any]) -> None:
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=list(groups))


@pytest.fixture
def five(world: TestWorld) -> TestWorld:
    """A settled cluster with five workers, five machines, MinCount 1."""
    world.capacity(P5, 5)
    world.sagemaker.create_cluster(
        **slurm(workers(5, MinInstanceCount=1), workers(1, "others", InstanceType="ml.g5.xlarge"))
    )
    world.advance(minutes=2)
    return world


def test_defaults(world: TestWorld) -> None:
    """HP-14: 0 for workers, 1 for controller and login, shown as MinCount."""
    world.sagemaker.create_cluster(**slurm(login(), workers(2)))
    assert {g["InstanceGroupName"]: g["MinCount"] for g in world.describe()["InstanceGroups"]} == {
        "controller": 1,
        "login": 1,
        "workers": 0,
    }


@pytest.mark.parametrize("minimum", [0, 2, 4])
def test_a_new_group_is_creating_until_its_minimum_is_ready(world: TestWorld, minimum: int) -> None:
    """HP-15, HP-16, HP-20: then InService, and launching goes on to the target; MinCount = target: all or nothing."""
    world.capacity(P5, 0)
    world.sagemaker.create_cluster(**slurm(workers(4, MinInstanceCount=minimum)))
    world.advance(minutes=1)
    for machines in range(5):
        world.capacity(P5, machines)
        world.advance(10)
        assert shown(world) == ("InService" if machines >= minimum else "Creating", machines, 4, minimum)
    reached = [
        event
        for event in world.events(InstanceGroupName="workers", ResourceType="InstanceGroup")
        if event["Description"] == f"Minimum capacity of {minimum} instances reached for IG workers in Cluster demo"
    ]
    assert len(reached) == (1 if minimum else 0)


def test_an_update_that_leaves_it_out_keeps_it(five: TestWorld) -> None:
    """HP-14."""
    update(five, workers(4))
    five.advance(minutes=1)
    assert shown(five) == ("InService", 4, 4, 1)


def test_a_target_below_it_takes_it_down_only_by_batch_delete(five: TestWorld) -> None:
    """HP-14: UpdateCluster refuses a target below MinCount; BatchDelete lowers both."""
    update(five, workers(5, MinInstanceCount=4))
    five.advance(1)
    assert shown(five) == ("InService", 5, 5, 4)
    with pytest.raises(ClientError, match="must not be below its MinInstanceCount 4"):
        update(five, workers(3))
    nodes = [node["InstanceId"] for node in five.nodes(InstanceGroupNameContains="workers")]
    five.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=nodes[:2])
    five.advance(minutes=1)
    assert shown(five) == ("InService", 3, 3, 3)


def test_updating_while_below_a_new_minimum(five: TestWorld) -> None:
    """HP-15: `Updating` exactly while CurrentCount < the new MinCount."""
    update(five, workers(8, MinInstanceCount=7))
    five.advance(10)
    assert shown(five) == ("Updating", 5, 8, 7)
    five.capacity(P5, 6)
    five.advance(10)
    assert shown(five) == ("Updating", 6, 8, 7)
    five.capacity(P5, 7)
    five.advance(10)
    assert shown(five) == ("InService", 7, 8, 7)


def test_a_minimum_that_is_met_already_changes_no_status(five: TestWorld) -> None:
    """HP-15."""
    update(five, workers(9, MinInstanceCount=5))
    assert shown(five) == ("InService", 5, 9, 5)
    five.advance(hours=4)
    assert shown(five) == ("InService", 5, 9, 5)


def test_a_new_group_rolls_back_to_nothing(five: TestWorld) -> None:
    """HP-17, HP-18: MinCount and TargetCount become 0; InService as soon as that begins."""
    update(five, workers(3, "late", MinInstanceCount=2))
    five.advance(HOURS_3 - 1)
    assert shown(five, "late") == ("Creating", 0, 3, 2)
    five.advance(1)
    assert shown(five, "late") == ("InService", 0, 0, 0)
    told = [event["Description"] for event in five.events(InstanceGroupName="late")]
    assert sum("Rollback initiated" in line for line in told) == 1
    five.capacity(P5, 100)
    five.advance(hours=1)
    assert shown(five, "late") == ("InService", 0, 0, 0)


def test_it_returns_to_the_last_in_service_state(five: TestWorld) -> None:
    """HP-17: not to what was asked in between, however often it was asked."""
    update(five, workers(6, MinInstanceCount=6))
    five.advance(10)
    update(five, workers(9, MinInstanceCount=8))
    five.advance(10)
    update(five, workers(12, MinInstanceCount=7))
    five.advance(HOURS_3)
    assert shown(five) == ("InService", 5, 5, 1)
    five.advance(minutes=1)
    assert shown(five) == ("InService", 5, 5, 1)


def test_three_hours_from_the_last_change_of_minimum(five: TestWorld) -> None:
    """HP-17: a changed MinCount begins them again; the same value, or another target alone, does not."""
    update(five, workers(8, MinInstanceCount=8))
    five.advance(hours=2)
    update(five, workers(8, MinInstanceCount=7))
    five.advance(hours=2)
    update(five, workers(8, MinInstanceCount=7))
    update(five, workers(9))
    five.advance(3599)
    assert shown(five) == ("Updating", 5, 9, 7)
    five.advance(1)
    assert shown(five) == ("InService", 5, 5, 1)


def test_lowering_it_ends_the_wait(five: TestWorld) -> None:
    """HP-15, HP-19: MinCount and TargetCount may change while the group is Updating."""
    update(five, workers(8, MinInstanceCount=8))
    five.advance(10)
    update(five, workers(8, MinInstanceCount=5))
    five.advance(0)
    assert shown(five) == ("InService", 5, 8, 5)
    five.advance(hours=4)
    assert shown(five) == ("InService", 5, 8, 5)


@pytest.mark.parametrize("profile", ["instant", "fast", "realistic"])
def test_the_three_hours_are_the_same_in_every_profile(service: Running, profile: str) -> None:
    """HP-17, CT-16: a contract's own timer is virtual time, whatever the stages take."""
    world = service.world(profile=profile)
    world.capacity(P5, 0)
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(minutes=30)
    assert world.describe()["ClusterStatus"] == "InService"
    update(world, workers(2, MinInstanceCount=2))
    world.advance(HOURS_3 - 1)
    assert shown(world) == ("Updating", 0, 2, 2)
    world.advance(1)
    assert shown(world) == ("InService", 0, 1, 0)


def test_what_is_blocked_meanwhile(five: TestWorld) -> None:
    """HP-19: adding and deleting nodes of that group; other groups, and deleting group or cluster, are not blocked."""
    sagemaker = five.sagemaker
    update(five, workers(8, MinInstanceCount=8))
    five.advance(10)
    add = [{"InstanceGroupName": name, "IncrementTargetCountBy": 1} for name in ("workers", "others")]
    answer = sagemaker.batch_add_cluster_nodes(ClusterName="demo", NodesToAdd=add)
    assert [(f["InstanceGroupName"], f["ErrorCode"], f["FailedCount"]) for f in answer["Failed"]] == [
        ("workers", "InvalidInstanceGroupStatus", 1)
    ]
    assert [one["InstanceGroupName"] for one in answer["Successful"]] == ["others"]
    nodes = {
        n["InstanceGroupName"]: n["InstanceId"] for n in five.nodes() if n["InstanceStatus"]["Status"] == "Running"
    }
    answer = sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=[nodes["workers"], nodes["others"]])
    assert [(f["NodeId"], f["Code"]) for f in answer["Failed"]] == [(nodes["workers"], "InvalidNodeStatus")]
    assert answer["Successful"] == [nodes["others"]]
    sagemaker.update_cluster(ClusterName="demo", InstanceGroupsToDelete=["workers"])
    five.advance(minutes=1)
    assert "workers" not in [g["InstanceGroupName"] for g in five.describe()["InstanceGroups"]]
    update(five, workers(8, "again", MinInstanceCount=8))
    five.advance(10)
    assert five.group("again")["Status"] == "Creating"
    sagemaker.delete_cluster(ClusterName="demo")
    five.advance(minutes=1)
    assert sagemaker.list_clusters()["ClusterSummaries"] == []


def test_nothing_is_blocked_while_it_scales_down(five: TestWorld) -> None:
    """HP-18, HP-19: InService with CurrentCount above TargetCount takes mutations."""
    five.capacity(P5, 8)
    update(five, workers(8, MinInstanceCount=8))
    five.advance(minutes=1)
    update(five, workers(4, MinInstanceCount=1))
    five.advance(0)
    status, current, target, _ = shown(five)
    assert (status, target) == ("InService", 4)
    add = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    assert five.sagemaker.batch_add_cluster_nodes(ClusterName="demo", NodesToAdd=add)["Failed"] == []
    five.advance(minutes=1)
    assert shown(five) == ("InService", 5, 5, 1)
    assert current <= 8


def test_several_groups_wait_for_themselves(world: TestWorld) -> None:
    """HP-15, HP-17: each group has its own clock and its own fate; EKS clusters have MinCount too."""
    world.capacity(P5, 2)
    groups = [workers(2, "a", MinInstanceCount=2), workers(2, "b", MinInstanceCount=1)]
    for one in groups:
        del one["SlurmConfig"]
    world.sagemaker.create_cluster(**eks(*groups))
    world.advance(minutes=1)
    assert shown(world, "a") == ("InService", 2, 2, 2)
    assert shown(world, "b") == ("Creating", 0, 2, 1)
    assert world.describe()["ClusterStatus"] == "InService"
    world.advance(hours=3)
    assert shown(world, "a") == ("InService", 2, 2, 2)
    assert shown(world, "b") == ("InService", 0, 0, 0)
