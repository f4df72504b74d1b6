"""A cluster on a training plan: nodes wait for the start, run on the plan's machines, are taken back before the end."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.kit import TestWorld, classic, eks, slurm, workers
from tests.plans import P5, advance_to, buy, extend, plan, search
from tests.wire.sagemaker.refused import INVALID, VPC, refusal

ON_DEMAND, RESERVED = "using on-demand pool", "using reserved capacity"


def on_plan(count: int, arn: str, **facts: Any) -> dict[str, Any]:
    return workers(count, TrainingPlanArn=arn, **facts)


def counts(world: TestWorld, name: str = "plan-1") -> tuple[int, int]:
    """The plan's machines: in use, available."""
    told = plan(world.sagemaker, name)
    return told["InUseInstanceCount"], told["AvailableInstanceCount"]


def told(world: TestWorld, words: str) -> list[dict[str, Any]]:
    return [event for event in world.events() if words in event["Description"]]


def running(world: TestWorld, name: str = "workers") -> int:
    return int(world.group(name)["CurrentCount"])


@pytest.fixture
def bought(world: TestWorld) -> TestWorld:
    """Two machines from 00:30 to 11:30, paid for; there is no p5 on demand."""
    world.capacity(P5, 0)
    world.plan_arn = buy(world.sagemaker, hours=11)  # type: ignore[attr-defined]
    world.advance(5)
    return world


def arn(world: TestWorld) -> str:
    return world.plan_arn  # type: ignore[attr-defined,no-any-return]


def moments(world: TestWorld) -> tuple[datetime, datetime]:
    whole = plan(world.sagemaker)
    return whole["StartTime"], whole["EndTime"]


def test_from_before_the_start_to_the_end(bought: TestWorld) -> None:
    """HP-6, HP-22: nodes wait for the plan with capacity failures, launch at its very start, are billed nothing by the
    hour, and are terminated an hour before its end, while the target stays."""
    world, (start, end) = bought, moments(bought)
    world.sagemaker.create_cluster(**slurm(on_plan(2, arn(world))))
    world.advance(minutes=15)
    assert world.describe()["ClusterStatus"] == "InService"
    assert (running(world), world.group("workers")["TrainingPlanStatus"]) == (0, "Scheduled")
    assert world.group("controller")["TrainingPlanStatus"] == "NotApplicable"
    assert {
        node["InstanceStatus"]["Status"]
        for node in world.nodes(InstanceGroupNameContains="workers", IncludeNodeLogicalIds=True)
    } == {"Failure"}
    assert told(world, "Failed to provision EC2") and counts(world) == (0, 2)
    advance_to(world, start)
    assert counts(world) == (2, 0), "at the moment of the start, not at a retry's"
    assert world.group("workers")["TrainingPlanStatus"] == "Active"
    advance_to(world, start, 60)
    assert running(world) == 2
    assert {node["LaunchTime"] for node in world.nodes(InstanceGroupNameContains="workers")} == {start}
    zone = plan(world.sagemaker)["ReservedCapacitySummaries"][0]["AvailabilityZone"]
    node = world.nodes(InstanceGroupNameContains="workers")[0]
    details = world.sagemaker.describe_cluster_node(ClusterName="demo", NodeId=node["InstanceId"])["NodeDetails"]
    assert details["Placement"]["AvailabilityZone"] == zone
    events = told(world, RESERVED)
    assert len(events) == 2 and len(told(world, ON_DEMAND)) == 1, "the controller is on demand"
    reserved = plan(world.sagemaker)["ReservedCapacitySummaries"][0]["ReservedCapacityArn"]
    assert reserved.rpartition("/")[2] in events[0]["Description"]
    detail = world.sagemaker.describe_cluster_event(ClusterName="demo", EventId=events[0]["EventId"])["EventDetails"]
    assert detail["EventDetails"]["EventMetadata"]["Instance"]["CapacityReservation"] == {"Arn": reserved}
    advance_to(world, end, -3600.001)
    assert (running(world), counts(world)) == (2, (2, 0))
    advance_to(world, end, -3600)
    assert (running(world), world.group("workers")["TargetCount"]) == (0, 2)
    lines = [line for line in world.bill()["lines"] if line["group"] == "workers"]
    assert {(line["price_evidence"], line["micro_usd"]) for line in lines} == {("training-plan", 0)}
    assert all(datetime.fromisoformat(line["ended"]) == end - timedelta(hours=1) for line in lines)
    advance_to(world, end, 7200)
    assert (running(world), world.group("workers")["TargetCount"], counts(world)) == (0, 2, (0, 0))
    assert world.group("workers")["TrainingPlanStatus"] == "Expired"
    assert len(world.nodes(InstanceGroupNameContains="workers", IncludeNodeLogicalIds=True)) == 2, "they wait on"


def test_an_advance_that_ends_where_the_plan_takes_back(bought: TestWorld) -> None:
    """CT-1: what is due at the target happens; a millisecond earlier it does not, and `next` stops there."""
    world, (_, end) = bought, moments(bought)
    world.sagemaker.create_cluster(**slurm(on_plan(2, arn(world))))
    advance_to(world, end, -3600.001)
    assert running(world) == 2
    due = datetime.fromisoformat(world.control("GET", "clock")["next_due"])
    assert due == end - timedelta(hours=1)
    advance_to(world, end, -3600)
    assert running(world) == 0
    assert datetime.fromisoformat(world.control("POST", "clock/advance", json={"next": True})["after"]) > due


def test_nobody_tries_for_years_what_cannot_come(bought: TestWorld) -> None:
    """Once the plan is over nothing is due any more for who waited for it; they may still be scaled away."""
    world, (_, end) = bought, moments(bought)
    world.sagemaker.create_cluster(**slurm(on_plan(2, arn(world))))
    advance_to(world, end, 3600)
    assert world.control("GET", "clock")["next_due"] is None
    before = len(world.events())
    world.advance(10 * 365 * 86_400)
    assert len(world.events()) == before
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[on_plan(0, arn(world))])
    world.advance(60)
    assert world.nodes(InstanceGroupNameContains="workers", IncludeNodeLogicalIds=True) == []


def test_extended_in_time_nothing_is_taken_back(bought: TestWorld) -> None:
    """The new end counts, for the plan and for its nodes."""
    world, (start, end) = bought, moments(bought)
    world.sagemaker.create_cluster(**slurm(on_plan(2, arn(world))))
    advance_to(world, start, 60)
    ids = {node["InstanceId"] for node in world.nodes()}
    extend(world.sagemaker, arn(world))
    advance_to(world, end, 60)
    assert {node["InstanceId"] for node in world.nodes()} == ids and running(world) == 2
    advance_to(world, end, 24 * 3600 - 3600)
    assert running(world) == 0


def test_extended_after_the_reclaim_they_come_back(bought: TestWorld) -> None:
    """At once, as new instances."""
    world, (start, end) = bought, moments(bought)
    world.sagemaker.create_cluster(**slurm(on_plan(2, arn(world))))
    advance_to(world, start, 60)
    ids = {node["InstanceId"] for node in world.nodes(InstanceGroupNameContains="workers")}
    advance_to(world, end, -1800)
    assert (running(world), counts(world)) == (0, (0, 2))
    extend(world.sagemaker, arn(world))
    world.advance(60)
    assert running(world) == 2 and counts(world) == (2, 0)
    again = {node["InstanceId"] for node in world.nodes(InstanceGroupNameContains="workers")}
    assert len(again) == 2 and not again & ids


def test_two_blocks_with_a_pause(world: TestWorld) -> None:
    """Each block's machines are taken back before its end, and given again when the next begins."""
    offer = search(world.sagemaker, hours=120)[-1]
    plan_arn = buy(world.sagemaker, offer=offer)
    one, two = offer["ReservedCapacityOfferings"]
    advance_to(world, one["StartTime"], -60)
    world.sagemaker.create_cluster(**slurm(on_plan(1, plan_arn)))
    advance_to(world, one["StartTime"], 60)
    assert running(world) == 1
    advance_to(world, one["EndTime"], -3600)
    assert running(world) == 0
    advance_to(world, two["StartTime"], -1)
    assert (running(world), plan(world.sagemaker)["Status"]) == (0, "Active")
    advance_to(world, two["StartTime"], 60)
    assert running(world) == 1
    states = [one["Status"] for one in plan(world.sagemaker)["ReservedCapacitySummaries"]]
    assert states == ["Expired", "Active"]


def test_machines_of_the_plan_are_taken_and_given_back(bought: TestWorld) -> None:
    """One that is replaced or removed is the plan's again; the on-demand pool is never touched."""
    world, (start, _) = bought, moments(bought)
    world.sagemaker.create_cluster(**slurm(on_plan(2, arn(world))))
    advance_to(world, start, 60)
    node = world.nodes(InstanceGroupNameContains="workers")[0]["InstanceId"]
    world.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=[node])
    world.advance(60)
    assert (running(world), counts(world)) == (1, (1, 1))
    [pool] = [one for one in world.control("GET", "capacity")["pools"] if one["instance_type"] == P5]
    assert (pool["used"], pool["total"]) == (0, 0)
    more = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    assert world.sagemaker.batch_add_cluster_nodes(ClusterName="demo", NodesToAdd=more)["Successful"]
    world.advance(60)
    assert counts(world) == (2, 0)
    code, words = refusal(world.sagemaker.batch_add_cluster_nodes, ClusterName="demo", NodesToAdd=more)
    assert code == INVALID and "has 2 instances" in words
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(60)
    assert counts(world) == (0, 2)


def test_a_replaced_node_takes_a_machine_of_the_plan_again(bought: TestWorld) -> None:
    """HP-29: another instance, the same place, nothing on demand."""
    world, (start, _) = bought, moments(bought)
    world.sagemaker.create_cluster(**slurm(on_plan(2, arn(world))))
    advance_to(world, start, 60)
    before = {node["InstanceId"] for node in world.nodes(InstanceGroupNameContains="workers")}
    world.sagemaker.batch_replace_cluster_nodes(ClusterName="demo", NodeIds=[min(before)])
    world.advance(120)
    after = {node["InstanceId"] for node in world.nodes(InstanceGroupNameContains="workers")}
    assert len(after) == 2 and len(after - before) == 1
    assert (running(world), counts(world)) == (2, (2, 0))
    assert len(told(world, RESERVED)) == 3 and world.bill(by="group")["total_micro_usd"] > 0
    [line] = [one for one in world.bill(by="group")["lines"] if one["group"] == "workers"]
    assert (line["micro_usd"], line["price_evidence"]) == (0, "training-plan")


def test_a_classic_cluster_on_a_plan(bought: TestWorld) -> None:
    """HP-40: created once the plan is there; what is taken back before the end does not roll it back."""
    world, (start, end) = bought, moments(bought)
    advance_to(world, start)
    given = {key: value for key, value in on_plan(2, arn(world)).items() if key != "SlurmConfig"}
    world.sagemaker.create_cluster(**classic(given))
    world.advance(60)
    assert (world.describe()["ClusterStatus"], counts(world)) == ("InService", (2, 0))
    advance_to(world, end, -3600)
    assert (world.describe()["ClusterStatus"], running(world)) == ("InService", 0)
    extend(world.sagemaker, arn(world))
    world.advance(60)
    assert (world.describe()["ClusterStatus"], running(world)) == ("InService", 2)


def test_two_clusters_share_a_plan(bought: TestWorld) -> None:
    """Together they may want as many as it has; ListClusters finds both by the plan."""
    world, (start, _) = bought, moments(bought)
    world.sagemaker.create_cluster(**slurm(on_plan(1, arn(world)), name="one"))
    world.advance(1)
    other = {key: value for key, value in on_plan(1, arn(world)).items() if key != "SlurmConfig"}
    world.sagemaker.create_cluster(**classic(other, name="two"))
    code, words = refusal(world.sagemaker.create_cluster, **slurm(on_plan(1, arn(world)), name="three"))
    assert code == INVALID and "would want 3" in words
    found = world.sagemaker.list_clusters(TrainingPlanArn=arn(world))["ClusterSummaries"]
    assert [(one["ClusterName"], one["TrainingPlanArns"]) for one in found] == [
        ("one", [arn(world)]),
        ("two", [arn(world)]),
    ]
    advance_to(world, start, 60)
    assert counts(world) == (1, 1), "the classic one has failed before the start: all or nothing"


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"InstanceType": "ml.p4d.24xlarge"}, "Use the plan's type"),
        ({"InstanceCount": 3}, "would want 3"),
        ({"TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/none"}, "does not exist"),
        ({"TrainingPlanArn": "arn:aws:sagemaker:us-east-1:111122223333:training-plan/plan-1"}, "does not exist"),
    ],
    ids=str,
)
def test_groups_that_the_plan_cannot_serve(bought: TestWorld, facts: dict[str, Any], words: str) -> None:
    """Refused at creation, and when a group is added."""
    world = bought
    code, said = refusal(world.sagemaker.create_cluster, **slurm(on_plan(1, arn(world)) | facts))
    assert code == INVALID and words in said
    world.sagemaker.create_cluster(**slurm(workers(0)))
    code, said = refusal(
        world.sagemaker.update_cluster,
        ClusterName="demo",
        InstanceGroups=[on_plan(1, arn(world), name="more") | facts],
    )
    assert code == INVALID and words in said


def test_plans_that_serve_nobody(world: TestWorld) -> None:
    """Unpaid, failed, over, or for another target."""
    client = world.sagemaker
    plans = {"unpaid": buy(client, "unpaid")}
    code, said = refusal(client.create_cluster, **slurm(on_plan(1, plans["unpaid"])))
    assert code == INVALID and "is Pending" in said
    plans["jobs"] = buy(client, "jobs", TargetResources=["training-job"])
    world.fault("internal-error", operation="CreateTrainingPlan", times=1)
    plans["failed"] = buy(client, "failed")
    world.advance(5)
    for name, words in (("jobs", "for training-job only"), ("failed", "is Failed")):
        code, said = refusal(client.create_cluster, **slurm(on_plan(1, plans[name])))
        assert code == INVALID and words in said
    client.create_cluster(**slurm(on_plan(1, plans["unpaid"])))
    advance_to(world, plan(client, "unpaid")["EndTime"])
    code, said = refusal(client.create_cluster, **slurm(on_plan(1, plans["unpaid"]), name="late"))
    assert code == INVALID and "is Expired" in said
    client.update_cluster(ClusterName="demo", InstanceGroups=[on_plan(1, plans["unpaid"])])
    client.update_cluster(ClusterName="demo", InstanceGroups=[on_plan(0, plans["unpaid"])])
    code, said = refusal(client.update_cluster, ClusterName="demo", InstanceGroups=[on_plan(1, plans["unpaid"])])
    assert code == INVALID and "is Expired" in said, "it may shrink, and stay, but not grow"


def test_a_group_in_the_wrong_zone(bought: TestWorld) -> None:
    """A subnet's zone is drawn from its id: one of a few lies in the plan's zone, another does not."""
    world = bought
    refused = taken = 0
    for number in range(12):
        vpc = VPC | {"Subnets": [f"subnet-0000000{number:x}"]}
        given = {key: value for key, value in on_plan(0, arn(world)).items() if key != "SlurmConfig"}
        request = eks(given | {"InstanceCount": 1, "OverrideVpcConfig": vpc}, name=f"c{number}")
        try:
            world.sagemaker.create_cluster(**request)
        except world.sagemaker.exceptions.ClientError as error:
            assert "lies in" in str(error)
            refused += 1
        else:
            taken += 1
            world.sagemaker.delete_cluster(ClusterName=f"c{number}")
            world.advance(60)
    assert refused and taken


def test_the_plan_of_a_group_with_instances_stays(bought: TestWorld) -> None:
    """From 0 on a group may get one."""
    world, (start, _) = bought, moments(bought)
    other = buy(world.sagemaker, "plan-2", hours=10)
    world.advance(5)
    world.sagemaker.create_cluster(**slurm(workers(0), on_plan(1, arn(world), name="busy")))
    advance_to(world, start, 60)
    code, said = refusal(
        world.sagemaker.update_cluster, ClusterName="demo", InstanceGroups=[on_plan(1, other, name="busy")]
    )
    assert code == INVALID and "cannot be changed" in said
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[on_plan(1, other)])
    world.advance(hours=1)
    assert (counts(world), counts(world, "plan-2")) == ((1, 1), (1, 1))


def test_instances_in_ultra_servers(world: TestWorld) -> None:
    """The first server is filled before the next; spares are left alone."""
    found = world.sagemaker.search_training_plan_offerings(
        UltraServerType="ml.u-p6e-gb200x36", UltraServerCount=2, DurationHours=24, TargetResources=["hyperpod-cluster"]
    )["TrainingPlanOfferings"][0]
    plan_arn = buy(world.sagemaker, offer=found)
    advance_to(world, plan(world.sagemaker)["StartTime"], -60)
    kind = {"InstanceType": "ml.p6e-gb200.36xlarge"}
    code, said = refusal(world.sagemaker.create_cluster, **slurm(on_plan(17, plan_arn, **kind)))
    assert code == INVALID and "has 16 instances" in said
    world.sagemaker.create_cluster(**slurm(on_plan(10, plan_arn, **kind)))
    advance_to(world, plan(world.sagemaker)["StartTime"], 60)
    assert running(world) == 10
    [one] = plan(world.sagemaker)["ReservedCapacitySummaries"]
    servers = world.sagemaker.list_ultra_servers_by_reserved_capacity(ReservedCapacityArn=one["ReservedCapacityArn"])
    told = [(one["InUseInstanceCount"], one["AvailableInstanceCount"]) for one in servers["UltraServers"]]
    assert told == [(8, 0), (2, 6)]
    ids = [
        world.sagemaker.describe_cluster_node(ClusterName="demo", NodeId=node["InstanceId"])["NodeDetails"]
        for node in world.nodes(InstanceGroupNameContains="workers")
    ]
    seen = [details["UltraServerInfo"]["Id"] for details in ids]
    assert sorted(map(seen.count, set(seen))) == [2, 8]
    assert set(seen) == {one["UltraServerId"] for one in servers["UltraServers"]}


def test_many_callers_want_the_last_machines(bought: TestWorld) -> None:
    """Clusters made at once never want more of a plan than it has."""

    def create(number: int) -> bool:
        try:
            bought.sagemaker.create_cluster(**slurm(on_plan(1, arn(bought)), name=f"c{number}"))
        except bought.sagemaker.exceptions.ClientError as error:
            assert "would want 3" in str(error)
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(create, range(8))) == 2


def test_a_slow_advance_equals_a_quick_one(bought: TestWorld) -> None:
    """CT-1: by steps of an hour or at once, the same world."""
    ends = []
    for step in (1, 14):
        fork = TestWorld(bought.base, f"{bought.name}-{step}")
        body = {"name": fork.name, "fork_of": bought.name}
        assert bought.http.post(f"{bought.base}/_windtunnel/worlds", json=body).is_success
        fork.sagemaker.create_cluster(**slurm(on_plan(2, arn(bought))))
        for _ in range(0, 14, step):
            fork.advance(hours=step)
        ends.append(fork.export())
        fork.close()
    assert ends[0] == ends[1]
