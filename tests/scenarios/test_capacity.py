"""Sixteen workers are wanted and ten machines exist: who waits, how it shows, and who joins first."""

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from tests.kit import Running, TestWorld, login, slurm, workers

P5 = "ml.p5.48xlarge"
NO_CAPACITY = f"We currently do not have sufficient capacity to launch new {P5} instances. Please try again."


@pytest.fixture
def short(world: TestWorld) -> TestWorld:
    """A cluster that wants sixteen machines of ten, two minutes later."""
    world.capacity(P5, 10)
    world.sagemaker.create_cluster(**slurm(login(), workers(16)))
    world.advance(minutes=2)
    return world


def waiting(world: TestWorld, name: str = "demo", group: str = "workers") -> list[dict[str, Any]]:
    nodes = world.nodes(name, IncludeNodeLogicalIds=True, InstanceGroupNameContains=group)
    return [node for node in nodes if node["InstanceStatus"]["Status"] == "Failure"]


def test_partial_capacity_is_accepted(short: TestWorld) -> None:
    """HP-2, HP-5, HP-6: ten run, six wait; the cluster and the group are in service, counts tell the rest."""
    assert short.describe()["ClusterStatus"] == "InService"
    group = short.group("workers")
    assert (group["Status"], group["CurrentCount"], group["TargetCount"]) == ("InService", 10, 16)
    pool = short.control("GET", "capacity")["pools"]
    assert [(p["total"], p["used"], p["free"]) for p in pool if p["instance_type"] == P5] == [(10, 10, 0)]


def test_nodes_that_wait_are_listed_only_on_request(short: TestWorld) -> None:
    """HP-6, HP-3: a node without an instance is seen with IncludeNodeLogicalIds, with its failure message."""
    assert len(short.nodes(InstanceGroupNameContains="workers")) == 10
    assert all("NodeLogicalId" not in node for node in short.nodes())
    held = waiting(short)
    assert len(held) == 6
    for node in held:
        assert node["InstanceId"] == ""
        assert node["InstanceStatus"]["Message"] == NO_CAPACITY
        found = short.sagemaker.describe_cluster_node(ClusterName="demo", NodeLogicalId=node["NodeLogicalId"])
        assert "InstanceId" not in found["NodeDetails"]


def test_each_failure_is_two_error_events_a_second_apart(short: TestWorld) -> None:
    """HP-27, HP-3: the EC2 failure, and one second later the creation failure; each with the reason and the node."""
    errors = [event for event in short.events() if event["EventLevel"] == "Error"]
    by_node: dict[str, list[dict[str, Any]]] = {}
    for event in errors:
        found = short.sagemaker.describe_cluster_event(ClusterName="demo", EventId=event["EventId"])["EventDetails"]
        facts = found["EventDetails"]["EventMetadata"]["Instance"]
        assert facts["FailureMessage"] == NO_CAPACITY
        by_node.setdefault(facts["NodeLogicalId"], []).append(event)
    assert set(by_node) == {node["NodeLogicalId"] for node in waiting(short)}
    for told in by_node.values():
        assert len(told) % 2 == 0
        for first, second in zip(told[::2], told[1::2], strict=True):
            assert first["Description"] == "Failed to provision EC2 Instance in Cluster demo and IG workers"
            assert second["Description"] == "Instance creation in Cluster demo and InstanceGroup workers failed"
            assert second["EventTime"] - first["EventTime"] == timedelta(seconds=1)
            assert first["EventId"] != second["EventId"]


def failures(world: TestWorld) -> list[datetime]:
    failed = "Failed to provision EC2 Instance in Cluster demo and IG workers"
    return [event["EventTime"] for event in world.events() if event["Description"] == failed]


def gaps(times: list[datetime]) -> list[float]:
    return [(late - early).total_seconds() for early, late in pairwise(times)]


def test_retries_come_ever_later(world: TestWorld, service: Running) -> None:
    """HP-6, CT-16: after 1, 2, 4, 8, then every 15 minutes, lengthened by at most a tenth, which the seed draws."""
    found = []
    for seed in (7, 8):
        realistic = service.world(profile="realistic", seed=seed)
        realistic.capacity(P5, 0)
        realistic.sagemaker.create_cluster(**slurm(workers(1)))
        realistic.advance(hours=3)
        found.append(gaps(failures(realistic)))
        for gap, minutes in zip(found[-1], (1, 2, 4, 8, 15, 15, 15, 15, 15), strict=False):
            assert 60 * minutes <= gap <= 66 * minutes
        assert len(found[-1]) > 8
    assert found[0] != found[1]
    world.capacity(P5, 0)
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(minutes=30)
    assert gaps(failures(world)) == [1, 2, 4, 8, 300, 300, 300, 300, 300]


def test_growing_capacity_wakes_the_waiting_at_once_oldest_first(short: TestWorld) -> None:
    """HP-6, CT-4: those who waited longest get the new machines, in the same instant, not at their next retry."""
    short.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[workers(18)])
    short.advance(minutes=1)
    held = waiting(short)
    assert len(held) == 8
    oldest = sorted(held, key=lambda node: node["LaunchTime"])[:6]
    short.capacity(P5, 16)
    short.advance(0)
    assert {n["NodeLogicalId"] for n in held} - {n["NodeLogicalId"] for n in waiting(short)} == {
        n["NodeLogicalId"] for n in oldest
    }
    short.advance(10)
    assert short.group("workers")["CurrentCount"] == 16
    short.capacity(P5, None)
    short.advance(10)
    assert short.group("workers")["CurrentCount"] == 18
    assert waiting(short) == []


def test_a_freed_machine_goes_to_the_one_that_waits(short: TestWorld) -> None:
    """HP-6, CT-4: another cluster's deletion is capacity that appears."""
    short.sagemaker.create_cluster(**slurm(workers(1), name="rival"))
    short.advance(minutes=10)
    assert short.group("workers", "rival")["CurrentCount"] == 0
    short.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[workers(9)])
    short.advance(minutes=1)
    assert short.group("workers")["CurrentCount"] == 9
    assert short.group("workers", "rival")["CurrentCount"] == 1


def test_capacity_on_a_schedule(world: TestWorld) -> None:
    """CT-4: a change planned for an instant takes effect at that instant, and nodes join then."""
    world.capacity(P5, 0)
    world.capacity(P5, 2, at="2026-01-01T05:00:00Z")
    world.sagemaker.create_cluster(**slurm(workers(2)))
    world.advance(hours=4, minutes=59)
    assert world.group("workers")["CurrentCount"] == 0
    world.advance(minutes=2)
    nodes = world.nodes(InstanceGroupNameContains="workers")
    assert [node["LaunchTime"].strftime("%H:%M:%S") for node in nodes] == ["05:00:00", "05:00:00"]


def test_lowering_the_total_evicts_nobody(short: TestWorld) -> None:
    """CT-4: used may exceed total; nothing new is granted until it falls below."""
    short.capacity(P5, 4)
    short.advance(hours=1)
    assert short.group("workers")["CurrentCount"] == 10
    short.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[workers(2)])
    short.advance(minutes=1)
    assert short.group("workers")["CurrentCount"] == 2


def test_zones_hold_machines_of_their_own(world: TestWorld) -> None:
    """CT-4: a group spread over subnets takes what each zone has, and no more."""
    subnets = [f"subnet-{number:08x}" for number in range(12)]
    world.capacity(P5, 1, zone="us-west-2a")
    world.capacity(P5, 2, zone="us-west-2b")
    world.capacity(P5, 0, zone="us-west-2c")
    world.capacity(P5, 0, zone="us-west-2d")
    vpc = {"SecurityGroupIds": ["sg-12345678"], "Subnets": subnets}
    world.sagemaker.create_cluster(**slurm(workers(5), VpcConfig=vpc))
    world.advance(minutes=2)
    nodes = [node["InstanceId"] for node in world.nodes(InstanceGroupNameContains="workers")]
    found = [
        world.sagemaker.describe_cluster_node(ClusterName="demo", NodeId=node)["NodeDetails"]["Placement"]
        for node in nodes
    ]
    assert sorted(place["AvailabilityZone"] for place in found) == ["us-west-2a", "us-west-2b", "us-west-2b"]


def test_events_are_kept_up_to_a_limit_and_the_newest_stay(world: TestWorld) -> None:
    """HP-6: retries that go on and on leave a bounded story; an event that is gone is not found."""
    world.capacity(P5, 0)
    world.sagemaker.create_cluster(**slurm(workers(100)))
    first = world.events()[0]["EventId"]
    world.advance(hours=5)
    story = world.events()
    assert len(story) == 10_000
    assert story[-1]["EventTime"] > story[0]["EventTime"]
    assert not any("creation started" in event["Description"] for event in story)
    with pytest.raises(world.sagemaker.exceptions.ResourceNotFound):
        world.sagemaker.describe_cluster_event(ClusterName="demo", EventId=first)


def test_no_capacity_for_the_controller_fails_the_cluster(world: TestWorld) -> None:
    """HP-9: at the first such failure, with the reason and what to do."""
    world.capacity("ml.c5.xlarge", 0)
    world.sagemaker.create_cluster(**slurm(workers(2)))
    world.advance(minutes=1)
    found = world.describe()
    assert found["ClusterStatus"] == "Failed"
    assert "sufficient capacity to launch new ml.c5.xlarge" in found["FailureMessage"]
    assert "delete this cluster and create it again" in found["FailureMessage"]
    told = [event for event in world.events() if event["ResourceType"] == "Cluster"]
    assert told[-1]["Description"] == "Cluster demo creation failed"
    assert told[-1]["EventLevel"] == "Error"
    world.advance(hours=24)
    assert world.describe()["ClusterStatus"] == "Failed"
