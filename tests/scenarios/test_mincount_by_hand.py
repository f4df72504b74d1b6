"""A rollback worked out by hand: a group whose MinCount changed twice while it launched.

`fast` profile: set-up 1 s, launch 1 s, boot 2 s, lifecycle script 2 s, shutdown 2 s. A node granted at t is billed from
t + 3 (script starts) and runs from t + 5. Seconds since the world's start:

    0      create: controller, workers 6 with MinCount 2; six p5 machines exist
    1      controller granted: billed from 4, runs from 6, cluster InService
    6      workers 1-6 granted: billed from 9, run from 11; MinCount 2 reached, group InService with (6, 2)
    20     update to (10, 9): workers 7-10 find no machine; group Updating, its three hours begin
    30     a seventh machine: worker 7 granted, billed from 33, runs from 35
    60     update to (10, 8): the three hours begin again, until 60 + 10,800 = 10,860
    100    the same values are sent again: nothing begins again
    10840  three more machines, 20 s before the deadline:
             worker 8 has its health check fail at 10,843 and would be retried at 11,143   -> unhealthy
             worker 9 starts its script at 10,843, which hangs until 10,903                -> in its script
             worker 10 boots until 11,443                                                  -> pending
    10860  CurrentCount 7 < MinCount 8: back to (6, 2), InService. Ten places, six wanted, so four go:
           8 (unhealthy), then 9 and 10 (not ready), then 7 (of those that run, provisioned last)
    10920  the bill

p5 costs 36,000,000 micro-dollars an hour, 10,000 a second; the controller's type 204,750 an hour.

    who         from    to      seconds   micro-dollars
    workers 1-6     9   (runs)   10,911   6 x 109,110,000
    worker 7       33   10,860   10,827       108,270,000
    worker 8        -        -        -                 -   failed before its script
    worker 9   10,843   10,860       17           170,000
    worker 10       -        -        -                 -   never reached its script
    controller      4   (runs)   10,916           620,848   10,916 x 204,750 / 3,600 = 620,847.5, half up
                                              763,720,848
"""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.kit import TestWorld, slurm, workers

P5 = "ml.p5.48xlarge"
START = datetime(2026, 1, 1, tzinfo=UTC)
DEADLINE = 60 + 3 * 3600
CHARGES = {
    **dict.fromkeys(range(1, 7), 109_110_000),
    7: 108_270_000,
    9: 170_000,
}
CONTROLLER = 620_848
TOTAL = 763_720_848


def seconds(moment: Any) -> float:
    moment = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return (moment - START).total_seconds()


@pytest.fixture
def story(world: TestWorld) -> tuple[TestWorld, dict[int, str]]:
    """The world a second before the deadline, and the workers' logical ids by their numbers."""
    world.control("POST", "prices", json={"instance_type": P5, "micro_usd_per_hour": 36_000_000})
    world.control("POST", "prices", json={"instance_type": "ml.c5.xlarge", "micro_usd_per_hour": 204_750})
    world.capacity(P5, 6)
    world.sagemaker.create_cluster(**slurm(workers(6, MinInstanceCount=2)))
    to(world, 20)
    names = logical_ids(world)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[workers(10, MinInstanceCount=9)])
    to(world, 30)
    names |= {7 + place: name for place, name in enumerate(new_ids(world, names.values()))}
    world.capacity(P5, 7)
    to(world, 60)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[workers(10, MinInstanceCount=8)])
    to(world, 100)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[workers(10, MinInstanceCount=8)])
    to(world, 10_840)
    world.fault("launch-unhealthy", node=names[8])
    world.fault("script-hang", node=names[9])
    world.fault("boot-slow", node=names[10], seconds=600)
    world.capacity(P5, 10)
    to(world, DEADLINE - 1)
    return world, names


def to(world: TestWorld, second: int) -> None:
    world.advance(second - seconds(world.now()))


def logical_ids(world: TestWorld) -> dict[int, str]:
    nodes = world.nodes(IncludeNodeLogicalIds=True, InstanceGroupNameContains="workers", SortBy="NAME")
    return {number: node["NodeLogicalId"] for number, node in enumerate(nodes, 1)}


def new_ids(world: TestWorld, known: Any) -> list[str]:
    """By NAME the nodes of a group come in the order in which they were planned."""
    return [name for name in logical_ids(world).values() if name not in known]


def states(world: TestWorld, names: dict[int, str]) -> dict[int, str]:
    found = {n["NodeLogicalId"]: n["InstanceStatus"]["Status"] for n in world.nodes(IncludeNodeLogicalIds=True)}
    return {number: found[name] for number, name in names.items() if name in found}


def test_before_the_deadline(story: tuple[TestWorld, dict[int, str]]) -> None:
    """HP-15, HP-17: seven run; one is unhealthy, one in its script, one boots; the group is Updating to the last."""
    world, names = story
    group = world.group("workers")
    assert (group["Status"], group["CurrentCount"], group["TargetCount"], group["MinCount"]) == ("Updating", 7, 10, 8)
    assert world.describe()["ClusterStatus"] == "InService"
    assert states(world, names) == dict.fromkeys(range(1, 8), "Running") | {8: "Failure", 9: "Pending", 10: "Pending"}
    unhealthy = world.sagemaker.describe_cluster_node(ClusterName="demo", NodeLogicalId=names[8])["NodeDetails"]
    assert "EFA health checks did not run successfully" in unhealthy["InstanceStatus"]["Message"]


def test_the_victims(story: tuple[TestWorld, dict[int, str]]) -> None:
    """HP-17, HP-18: at the very second; unhealthy, not ready, newest; the group is InService as soon as it begins."""
    world, names = story
    world.advance(1)
    group = world.group("workers")
    assert (group["Status"], group["TargetCount"], group["MinCount"]) == ("InService", 6, 2)
    assert states(world, names) == dict.fromkeys(range(1, 7), "Running") | dict.fromkeys((7, 9, 10), "ShuttingDown")
    world.advance(59)
    assert states(world, names) == dict.fromkeys(range(1, 7), "Running")
    group = world.group("workers")
    assert (group["CurrentCount"], group["TargetCount"], group["MinCount"]) == (6, 6, 2)
    pool = next(p for p in world.control("GET", "capacity")["pools"] if p["instance_type"] == P5)
    assert (pool["used"], pool["free"]) == (6, 4)


def test_the_events(story: tuple[TestWorld, dict[int, str]]) -> None:
    """HP-20, HP-26, HP-27: the rollback and each victim's end, at the right second, in the catalogue's words."""
    world, names = story
    numbers = {name: number for number, name in names.items()}
    world.advance(60)
    told = []
    for event in world.events(EventTimeAfter=datetime.fromtimestamp(START.timestamp() + DEADLINE - 1, UTC)):
        found = world.sagemaker.describe_cluster_event(ClusterName="demo", EventId=event["EventId"])["EventDetails"]
        facts = found.get("EventDetails", {}).get("EventMetadata", {})
        who = numbers.get(facts.get("Instance", {}).get("NodeLogicalId"))
        text = event["Description"].replace(event.get("InstanceId", "?"), "ID")
        told.append((seconds(event["EventTime"]) - DEADLINE, event["EventLevel"], who, text))
        if "Rollback" in text:
            assert facts == {"InstanceGroupScaling": {"InstanceCount": 7, "TargetCount": 10, "MinCount": 8}}
    where = "in Cluster demo and IG workers"
    failed = "Instance creation in Cluster demo and InstanceGroup workers failed"
    ending = f"Termination of EC2 Instance ID is currently in progress {where}"
    assert told[0] == (
        0,
        "Warn",
        None,
        "Minimum capacity of 8 instances was not reached within 3 hours for IG workers in Cluster demo. "
        "Rollback initiated",
    )
    assert sorted(one for one in told if one[2] and one[0] == 0) == sorted(
        [
            (0, "Info", 7, ending),
            (0, "Error", 8, failed),
            (0, "Error", 9, failed),
            (0, "Info", 9, ending),
            (0, "Error", 10, failed),
            (0, "Info", 10, ending),
        ]
    )
    deleted = f"Instance deletion ID {where} completed successfully"
    assert [one for one in told if one[2] and one[0] == 2] == [(2, "Info", who, deleted) for who in (7, 9, 10)]
    earlier = [event["Description"] for event in world.events(ResourceType="InstanceGroup")]
    assert earlier.count("Minimum capacity of 2 instances reached for IG workers in Cluster demo") == 1
    assert not any("Minimum capacity of 9" in text for text in earlier)


def test_the_bill(story: tuple[TestWorld, dict[int, str]]) -> None:
    """HP-22, HP-24, HP-25: each charge of the table, to the micro-dollar; what never ran its script costs nothing."""
    world, names = story
    world.advance(61)
    bill = world.bill(cluster=world.describe()["ClusterArn"])
    lines = {line["logical_id"]: line for line in bill["lines"]}
    assert {n: lines[name]["micro_usd"] for n, name in names.items() if name in lines} == CHARGES
    assert [line["micro_usd"] for line in bill["lines"] if line["group"] == "controller"] == [CONTROLLER]
    assert bill["total_micro_usd"] == TOTAL == sum(CHARGES.values()) + CONTROLLER
    spans = {
        n: (seconds(lines[name]["started"]), lines[name]["ended"] and seconds(lines[name]["ended"]))
        for n, name in names.items()
        if name in lines
    }
    assert spans == dict.fromkeys(range(1, 7), (9, None)) | {7: (33, DEADLINE), 9: (10_843, DEADLINE)}
    assert {line["cluster_arn"] for line in bill["lines"]} == {world.describe()["ClusterArn"]}
    by_group = {line["group"]: line["micro_usd"] for line in world.bill(by="group")["lines"]}
    assert by_group == {"controller": CONTROLLER, "workers": TOTAL - CONTROLLER}
