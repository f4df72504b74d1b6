"""What a cluster works on: ListClusterOperations and DescribeClusterOperation."""

from datetime import datetime, timedelta
from typing import Any

from tests.kit import Running, TestWorld, classic, group, slurm, workers
from tests.wire.sagemaker.refused import EVENT, INVALID, NOT_FOUND, refusal


def listed(world: TestWorld, **question: Any) -> list[dict[str, Any]]:
    """Oldest first."""
    asked = {"ClusterName": "demo", "SortOrder": "Ascending"} | question
    pages = world.sagemaker.get_paginator("list_cluster_operations").paginate(**asked)
    return [one for page in pages for one in page["ClusterOperationSummaries"]]


def statuses(world: TestWorld, **question: Any) -> list[str]:
    return [one["Status"] for one in listed(world, **question)]


def described(world: TestWorld, place: int) -> dict[str, Any]:
    name = listed(world)[place]["OperationId"]
    return world.sagemaker.describe_cluster_operation(ClusterName="demo", OperationId=name)


def resize(world: TestWorld, count: int, **facts: Any) -> None:
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[workers(count, **facts)])


def test_a_creation_is_a_scaling_until_all_of_it_is_there(world: TestWorld) -> None:
    """HP-2: the record has each group's counts before and after, and ends with the last of them."""
    arn = world.sagemaker.create_cluster(**slurm(workers(3)))["ClusterArn"]
    [one] = listed(world)
    assert (one["Type"], one["Status"], one["ClusterArn"]) == ("Scaling", "InProgress", arn)
    nothing = {"CurrentCount": 0, "TargetCount": 0, "MinCount": 0}
    assert described(world, 0)["ScalingDetails"] == [
        {
            "InstanceGroupName": name,
            "Status": "InProgress",
            "Original": nothing,
            "Desired": {"TargetCount": count, "MinCount": least},
        }
        for name, count, least in (("controller", 1, 1), ("workers", 3, 0))
    ]
    world.capacity("ml.p5.48xlarge", 2)
    world.advance(minutes=5)
    assert [each["Status"] for each in described(world, 0)["ScalingDetails"]] == ["Done", "InProgress"]
    assert statuses(world) == ["InProgress"]
    world.capacity("ml.p5.48xlarge", 3)
    world.advance(minutes=5)
    assert statuses(world) == ["Done"]


def test_a_later_scaling_of_the_group_supersedes(world: TestWorld) -> None:
    """HP-7: several at once; on the same group the last one counts, and each call that changes a target is one."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(minutes=5)
    resize(world, 4)
    world.sagemaker.batch_add_cluster_nodes(
        ClusterName="demo", NodesToAdd=[{"InstanceGroupName": "workers", "IncrementTargetCountBy": 2}]
    )
    assert statuses(world) == ["Done", "Superseded", "InProgress"]
    assert described(world, 2)["ScalingDetails"][0]["Original"] == {"CurrentCount": 1, "TargetCount": 4, "MinCount": 0}
    world.advance(minutes=5)
    node = next(node for node in world.nodes() if node["InstanceGroupName"] == "workers")
    world.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=[node["InstanceId"]])
    assert statuses(world) == ["Done", "Superseded", "Done", "InProgress"]
    world.advance(minutes=5)
    assert statuses(world)[-1] == "Done"
    assert described(world, 3)["ScalingDetails"][0]["Desired"] == {"TargetCount": 5, "MinCount": 0}


def test_what_changes_no_count_is_no_operation(world: TestWorld) -> None:
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(minutes=5)
    resize(world, 1)
    world.sagemaker.update_cluster(ClusterName="demo", NodeRecovery="None")
    assert len(listed(world)) == 1


def test_a_rollback_is_an_operation(world: TestWorld) -> None:
    """HP-17: it supersedes what it takes back."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(minutes=5)
    world.capacity("ml.p5.48xlarge", 1)
    resize(world, 4, MinInstanceCount=4)
    world.advance(hours=3, minutes=1)
    assert statuses(world) == ["Done", "Superseded", "Done"]
    [detail] = described(world, 2)["ScalingDetails"]
    assert detail["Original"] == {"CurrentCount": 1, "TargetCount": 4, "MinCount": 4}
    assert detail["Desired"] == {"TargetCount": 1, "MinCount": 0}


def test_removing_a_group_is_a_scaling_to_nothing(world: TestWorld) -> None:
    world.sagemaker.create_cluster(**slurm(workers(2)))
    world.advance(minutes=5)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroupsToDelete=["workers"])
    [detail] = described(world, 1)["ScalingDetails"]
    assert (detail["Status"], detail["Desired"]) == ("InProgress", {"TargetCount": 0, "MinCount": 0})
    world.advance(minutes=5)
    assert statuses(world) == ["Done", "Done"]


def test_the_end_of_the_cluster_ends_its_operations(world: TestWorld) -> None:
    """A deletion supersedes, a failed creation is done with (HP-9); of a cluster that is gone nothing is told."""
    world.fault("script-failed", cluster="bad", group="controller")
    world.sagemaker.create_cluster(**slurm(workers(2)))
    world.sagemaker.create_cluster(**slurm(workers(1), name="bad"))
    world.capacity("ml.p5.48xlarge", 0)
    world.advance(seconds=20)
    assert world.describe("bad")["ClusterStatus"] == "Failed"
    assert statuses(world, ClusterName="bad") == ["Done"]
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(seconds=0)
    assert statuses(world) == ["Superseded"]
    world.advance(minutes=5)
    code, _ = refusal(world.sagemaker.list_cluster_operations, ClusterName="demo")
    assert code == NOT_FOUND


def test_filters_order_and_pages(world: TestWorld) -> None:
    """HP-W7."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(minutes=5)
    for count in (2, 3, 4):
        resize(world, count)
        world.advance(minutes=1 if count < 4 else 0)
    ids = [one["OperationId"] for one in listed(world)]
    assert len(set(ids)) == 4
    newest_first = world.sagemaker.list_cluster_operations(ClusterName="demo", SortBy="CreationTime")
    assert [one["OperationId"] for one in newest_first["ClusterOperationSummaries"]] == ids[::-1]
    for order, expected in (("Ascending", ids), ("Descending", ids[::-1])):
        paged = listed(world, SortOrder=order, PaginationConfig={"PageSize": 1})
        assert [one["OperationId"] for one in paged] == expected
    assert [one["OperationId"] for one in listed(world, Status="InProgress")] == ids[3:]
    assert len(listed(world, Status="Done")) == 3
    assert listed(world, Status="Superseded") == listed(world, Type="DeepHealthCheck") == []
    assert len(listed(world, Type="Scaling")) == 4
    second = listed(world)[1]["CreationTime"]
    assert [one["OperationId"] for one in listed(world, CreationTimeAfter=second)] == ids[2:]
    assert [one["OperationId"] for one in listed(world, CreationTimeBefore=second)] == ids[:1]
    code, message = refusal(world.sagemaker.list_cluster_operations, ClusterName="demo", NextToken="made-up")
    assert code == INVALID and "NextToken" in message


def test_operations_are_listed_for_two_weeks(world: TestWorld) -> None:
    """The documented 14 days, by the world's clock."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(minutes=5)
    first = listed(world)[0]["OperationId"]
    world.advance(hours=24 * 14)
    assert listed(world) == []
    code, _ = refusal(world.sagemaker.describe_cluster_operation, ClusterName="demo", OperationId=first)
    assert code == NOT_FOUND
    for count in (2, 3):
        resize(world, count)
        world.advance(minutes=5)
    assert len(listed(world)) == 2
    assert first not in [one["OperationId"] for one in listed(world)]


def test_refusals(world: TestWorld) -> None:
    """No such cluster or operation; a classic cluster has none (HP-40)."""
    sagemaker = world.sagemaker
    sagemaker.create_cluster(**slurm(workers(1)))
    sagemaker.create_cluster(**classic(group("w", 1), name="old"))
    assert refusal(sagemaker.list_cluster_operations, ClusterName="no")[0] == NOT_FOUND
    assert refusal(sagemaker.describe_cluster_operation, ClusterName="no", OperationId=EVENT)[0] == NOT_FOUND
    code, message = refusal(sagemaker.describe_cluster_operation, ClusterName="demo", OperationId=EVENT)
    assert code == NOT_FOUND and "ListClusterOperations" in message
    assert refusal(sagemaker.list_cluster_operations, ClusterName="old")[0] == INVALID
    later = datetime.fromisoformat(world.now()) + timedelta(days=1)
    assert listed(world, CreationTimeAfter=later) == []


def test_ids_are_the_same_in_every_run(service: Running) -> None:
    """Equal seeds, equal ids; by the cluster's ARN too."""
    found = []
    for _ in range(2):
        world = service.world()
        arn = world.sagemaker.create_cluster(**slurm(workers(1)))["ClusterArn"]
        found.append(listed(world, ClusterName=arn))
    assert found[0] == found[1]


def test_events_tell_their_operation(world: TestWorld) -> None:
    """HP-26: those of groups and instances, while the operation was under way; `OperationId` finds them."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(minutes=5)
    resize(world, 2)
    world.advance(minutes=5)
    resize(world, 1)
    world.advance(minutes=5)
    ids = [one["OperationId"] for one in listed(world)]
    everything = world.events()
    for place, name in enumerate(ids):
        mine = world.events(OperationId=name)
        assert mine == [event for event in everything if event.get("OperationId") == name]
        assert {event["ResourceType"] for event in mine} == {"InstanceGroup", "Instance"}
        started = [event["Description"] for event in mine if "started successfully" in event["Description"]]
        assert started[0].startswith(f"InstanceGroup {'workers' if place else 'controller'}")
        detail = world.sagemaker.describe_cluster_event(ClusterName="demo", EventId=mine[-1]["EventId"])
        assert detail["EventDetails"]["OperationId"] == name
    assert all("OperationId" not in event for event in everything if event["ResourceType"] == "Cluster")
    assert world.events(OperationId=EVENT) == []
