"""Sick nodes as an operator sees them: marks, reboots, replacements, checks, and terminations that stick (HP-29)."""

import re
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import TestWorld, eks, group, slurm, workers

TYPE = "ml.c5.xlarge"


def ready(world: TestWorld, count: int = 3, **facts: Any) -> list[dict[str, Any]]:
    """An EKS cluster whose nodes run."""
    world.sagemaker.create_cluster(**eks(group("workers", count), **facts))
    world.advance(minutes=1)
    nodes = by_logical_id(world)
    assert {node["InstanceStatus"]["Status"] for node in nodes} == {"Running"}
    return nodes


def by_logical_id(world: TestWorld) -> list[dict[str, Any]]:
    return sorted(world.nodes(IncludeNodeLogicalIds=True), key=lambda node: node["NodeLogicalId"])


def node_of(world: TestWorld, logical_id: str) -> dict[str, Any]:
    answer = world.sagemaker.describe_cluster_node(ClusterName="demo", NodeLogicalId=logical_id)
    return answer["NodeDetails"]


def texts(world: TestWorld) -> list[str]:
    return [event["Description"] for event in world.events()]


def test_a_broken_node_is_replaced(world: TestWorld) -> None:
    """HP-29, HP-22, HP-21: another instance id, the same logical id, its lifecycle script runs again; the bill stops
    where the old instance begins to terminate and starts with the new one's script; the group stays InService."""
    nodes = ready(world)
    sick = nodes[0]
    world.fault("node-hardware", node=sick["InstanceId"], code="Xid-74", times=1)
    world.advance(seconds=2)
    assert node_of(world, sick["NodeLogicalId"])["InstanceStatus"]["Status"] == "ShuttingDown"
    assert (world.group("workers")["CurrentCount"], world.group("workers")["Status"]) == (2, "InService")
    world.advance(minutes=1)
    new = node_of(world, sick["NodeLogicalId"])
    assert new["InstanceStatus"]["Status"] == "Running"
    assert new["InstanceId"] != sick["InstanceId"]
    told = texts(world)
    assert (
        f"Instance {new['InstanceId']} is starting as part of instance replacement in Cluster demo and IG workers"
        in told
    )
    assert any("completed successfully as part of instance replacement" in text for text in told)
    assert f"Instance lifecycle script execution for EC2 Instance {new['InstanceId']} has Succeeded" in told
    lines = [
        one
        for one in world.bill(by="instance", intervals=True)["lines"]
        if one["instance_id"] in (sick["InstanceId"], new["InstanceId"])
    ]
    assert len(lines) == 2
    assert {i.get("ended") is None for one in lines for i in one["intervals"]} == {True, False}


def test_a_node_that_a_reboot_cures_keeps_its_instance(world: TestWorld) -> None:
    """HP-29: the instance id stays, no lifecycle script runs again, and billing does not stop."""
    nodes = ready(world)
    sick = nodes[1]
    world.fault("node-hardware", node=sick["NodeLogicalId"], code="Xid-73", times=1)
    world.advance(seconds=3)
    rebooting = node_of(world, sick["NodeLogicalId"])
    assert (rebooting["InstanceStatus"]["Status"], rebooting["InstanceId"]) == ("Pending", sick["InstanceId"])
    assert world.group("workers")["CurrentCount"] == 3
    world.advance(minutes=1)
    healthy = node_of(world, sick["NodeLogicalId"])
    assert (healthy["InstanceStatus"]["Status"], healthy["InstanceId"]) == ("Running", sick["InstanceId"])
    scripts = [t for t in texts(world) if sick["InstanceId"] in t and "lifecycle script" in t and "Started" in t]
    assert len(scripts) == 1
    assert (
        f"Reboot of EC2 Instance {sick['InstanceId']} is currently in progress on Cluster demo and IG workers"
        in texts(world)
    )
    lines = [
        one for one in world.bill(by="instance", intervals=True)["lines"] if one["instance_id"] == sick["InstanceId"]
    ]
    assert [len(one["intervals"]) for one in lines] == [1]


def test_without_node_recovery_a_sick_node_is_only_marked(world: TestWorld) -> None:
    """HP-29: until recovery is turned on, or somebody acts."""
    nodes = ready(world, NodeRecovery="None")
    sick = nodes[0]
    world.fault("node-hardware", node=sick["InstanceId"], times=1)
    world.advance(hours=5)
    marked = node_of(world, sick["NodeLogicalId"])
    assert (marked["InstanceStatus"]["Status"], marked["InstanceId"]) == ("Failure", sick["InstanceId"])
    assert "NvidiaErrorTerminate" in marked["InstanceStatus"]["Message"]
    assert (world.group("workers")["Status"], world.describe()["ClusterStatus"]) == ("Degraded", "InService")
    world.sagemaker.update_cluster(ClusterName="demo", NodeRecovery="Automatic")
    world.advance(minutes=1)
    assert node_of(world, sick["NodeLogicalId"])["InstanceId"] != sick["InstanceId"]
    assert node_of(world, sick["NodeLogicalId"])["InstanceStatus"]["Status"] == "Running"
    assert world.group("workers")["Status"] == "InService"


def test_the_outside_hears_of_a_node_s_health(world: TestWorld) -> None:
    """HP-28: unhealthy with what is done about it, and healthy again."""
    nodes = ready(world)
    world.fault("node-hardware", node=nodes[0]["InstanceId"], code="Xid-73", times=1)
    world.advance(minutes=1)
    kind = "SageMaker HyperPod Cluster Node Health Event"
    told = world.control("GET", "events", params={"detail-type": kind, "limit": 10})["events"]
    words = [one["detail"]["HealthSummary"] for one in told]
    assert [(one["HealthStatus"], one["RepairAction"]) for one in words] == [
        ("Unhealthy", "Reboot"),
        ("Healthy", "None"),
    ]
    assert "Xid-73" in words[0]["HealthStatusReason"]
    assert {one["detail"]["InstanceId"] for one in told} == {nodes[0]["InstanceId"]}


def test_a_reboot_that_fails_ends_in_a_replacement(world: TestWorld) -> None:
    """HP-29."""
    sick = ready(world)[0]
    world.fault("reboot-failed", group="workers", times=1)
    answer = world.sagemaker.batch_reboot_cluster_nodes(ClusterName="demo", NodeIds=[sick["InstanceId"]])
    assert answer["Successful"] == [sick["InstanceId"]]
    world.advance(minutes=1)
    new = node_of(world, sick["NodeLogicalId"])
    assert new["InstanceId"] != sick["InstanceId"]
    assert new["InstanceStatus"]["Status"] == "Running"
    assert f"Instance reboot {sick['InstanceId']} in Cluster demo and IG workers failed" in texts(world)


def test_nodes_are_rebooted_and_replaced_on_demand(world: TestWorld) -> None:
    """HP-31: by either id, item by item; a partial failure is an answer."""
    one, two, three = ready(world)
    rebooted = world.sagemaker.batch_reboot_cluster_nodes(
        ClusterName="demo", NodeLogicalIds=[one["NodeLogicalId"], "no-such-node"]
    )
    assert rebooted["SuccessfulNodeLogicalIds"] == [one["NodeLogicalId"]]
    assert [failed["ErrorCode"] for failed in rebooted["FailedNodeLogicalIds"]] == ["InstanceIdNotFound"]
    again = world.sagemaker.batch_replace_cluster_nodes(
        ClusterName="demo", NodeIds=[one["InstanceId"], two["InstanceId"], "i-0123456789abcdef0"]
    )
    assert again["Successful"] == [two["InstanceId"]]
    assert [failed["ErrorCode"] for failed in again["Failed"]] == ["InstanceIdInUse", "InstanceIdNotFound"]
    world.advance(seconds=1)
    busy = world.sagemaker.batch_reboot_cluster_nodes(ClusterName="demo", NodeIds=[two["InstanceId"]])
    assert busy["Failed"][0]["ErrorCode"] in ("InstanceIdInUse", "InvalidInstanceStatus")
    world.advance(minutes=1)
    after = {node["NodeLogicalId"]: node["InstanceId"] for node in by_logical_id(world)}
    assert after[one["NodeLogicalId"]] == one["InstanceId"]
    assert after[two["NodeLogicalId"]] != two["InstanceId"]
    assert after[three["NodeLogicalId"]] == three["InstanceId"]
    assert (world.group("workers")["CurrentCount"], world.group("workers")["TargetCount"]) == (3, 3)


def test_a_replacement_waits_for_capacity(world: TestWorld) -> None:
    """HP-21, HP-29: the machine went back to the pool and somebody else has it; the group dips below its MinCount and
    stays InService."""
    world.capacity(TYPE, 2)
    world.sagemaker.create_cluster(**eks(group("workers", 2, MinInstanceCount=2)))
    world.advance(minutes=1)
    assert world.group("workers")["Status"] == "InService"
    world.capacity(TYPE, 1)
    sick = by_logical_id(world)[0]
    world.sagemaker.batch_replace_cluster_nodes(ClusterName="demo", NodeIds=[sick["InstanceId"]])
    world.advance(minutes=2)
    waiting = world.group("workers")
    assert (waiting["CurrentCount"], waiting["MinCount"], waiting["Status"]) == (1, 2, "InService")
    assert node_of(world, sick["NodeLogicalId"])["InstanceStatus"]["Status"] == "Failure"
    world.capacity(TYPE, 2)
    world.advance(minutes=1)
    assert world.group("workers")["CurrentCount"] == 2


def test_a_controller_is_repaired_and_never_replaced_by_hand(world: TestWorld) -> None:
    """HP-8, HP-31: the cluster stays InService meanwhile."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(minutes=1)
    head = next(node for node in world.nodes() if node["InstanceGroupName"] == "controller")
    refused = world.sagemaker.batch_replace_cluster_nodes(ClusterName="demo", NodeIds=[head["InstanceId"]])
    assert [one["ErrorCode"] for one in refused["Failed"]] == ["InstanceIdInUse"]
    world.fault("node-hardware", group="controller", times=1)
    world.advance(seconds=3)
    assert world.describe()["ClusterStatus"] == "InService"
    world.advance(minutes=1)
    new = next(node for node in world.nodes() if node["InstanceGroupName"] == "controller")
    assert new["InstanceId"] != head["InstanceId"]
    assert (new["InstanceStatus"]["Status"], world.describe()["ClusterStatus"]) == ("Running", "InService")


@pytest.mark.parametrize("operation", ["batch_reboot_cluster_nodes", "batch_replace_cluster_nodes"])
def test_what_repair_refuses(world: TestWorld, operation: str) -> None:
    """HP-31, HP-19: at most 25 nodes, some node at all, a cluster that is there, a group that is InService."""
    call = getattr(world.sagemaker, operation)
    with pytest.raises(world.sagemaker.exceptions.ResourceNotFound):
        call(ClusterName="demo", NodeIds=["i-0123456789abcdef0"])
    nodes = ready(world)
    with pytest.raises(ClientError, match="NodeLogicalIds or both"):
        call(ClusterName="demo")
    with pytest.raises(ClientError, match="at most 25 nodes"):
        call(ClusterName="demo", NodeIds=[f"i-{n:017x}" for n in range(20)], NodeLogicalIds=["a1"] * 6)
    world.capacity(TYPE, 3)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("workers", 5, MinInstanceCount=5)])
    world.advance(seconds=5)
    assert world.group("workers")["Status"] == "Updating"
    blocked = call(ClusterName="demo", NodeIds=[nodes[0]["InstanceId"]])
    assert [one["ErrorCode"] for one in blocked["Failed"]] == ["InvalidInstanceStatus"]
    with pytest.raises(ClientError, match="Updating state"):
        world.sagemaker.start_cluster_health_check(
            ClusterName="demo", DeepHealthCheckConfigurations=[checks("workers")]
        )


@pytest.mark.parametrize("operation", ["BatchRebootClusterNodes", "BatchReplaceClusterNodes"])
def test_an_item_may_meet_an_internal_error(world: TestWorld, operation: str) -> None:
    """CT-3: the others of the batch go on, and a second try succeeds."""
    one, two, _ = ready(world)
    world.fault("internal-error", operation=operation, times=1)
    call = getattr(world.sagemaker, re.sub("(?<!^)(?=[A-Z])", "_", operation).lower())
    answer = call(ClusterName="demo", NodeIds=[one["InstanceId"], two["InstanceId"]])
    assert answer["Successful"] == [two["InstanceId"]]
    assert [failed["ErrorCode"] for failed in answer["Failed"]] == ["InternalServerError"]
    assert call(ClusterName="demo", NodeIds=[one["InstanceId"]])["Successful"] == [one["InstanceId"]]


def checks(name: str, *instance_ids: str, kinds: tuple[str, ...] = ("InstanceStress",)) -> dict[str, Any]:
    wanted: dict[str, Any] = {"InstanceGroupName": name, "DeepHealthChecks": list(kinds)}
    return wanted | ({"InstanceIds": list(instance_ids)} if instance_ids else {})


def test_health_checks_on_demand(world: TestWorld) -> None:
    """HP-29: DeepHealthCheckInProgress while they run, counted and billed; who fails is repaired."""
    nodes = ready(world)
    world.fault("node-hardware", operation="StartClusterHealthCheck", node=nodes[0]["InstanceId"], times=1)
    world.sagemaker.start_cluster_health_check(
        ClusterName="demo",
        DeepHealthCheckConfigurations=[checks("workers", kinds=("InstanceStress", "InstanceConnectivity"))],
    )
    world.advance(seconds=1)
    [operation] = world.sagemaker.list_cluster_operations(ClusterName="demo", Type="DeepHealthCheck")[
        "ClusterOperationSummaries"
    ]
    assert operation["Status"] == "InProgress"
    assert {n["InstanceStatus"]["Status"] for n in by_logical_id(world)} == {"DeepHealthCheckInProgress"}
    assert world.group("workers")["CurrentCount"] == 3
    world.advance(minutes=1)
    after = by_logical_id(world)
    assert [n["InstanceStatus"]["Status"] for n in after] == ["Running"] * 3
    assert [a["InstanceId"] == b["InstanceId"] for a, b in zip(after, nodes, strict=True)] == [False, True, True]
    done = world.sagemaker.describe_cluster_operation(ClusterName="demo", OperationId=operation["OperationId"])
    assert done["Status"] == "Done"
    assert done["DeepHealthCheckDetails"][0]["DeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]


def test_a_health_check_at_start_that_fails(world: TestWorld) -> None:
    """HP-29: the instance is given up and another launched, which passes."""
    world.fault("node-hardware", operation="StartClusterHealthCheck", group="workers", times=1)
    world.sagemaker.create_cluster(**eks(group("workers", 2, OnStartDeepHealthChecks=["InstanceStress"])))
    world.advance(seconds=9)
    failed = [n for n in by_logical_id(world) if n["InstanceStatus"]["Status"] == "Failure"]
    assert ["Deep health checks" in n["InstanceStatus"]["Message"] for n in failed] == [True]
    world.advance(minutes=1)
    assert world.group("workers")["CurrentCount"] == 2


def test_what_a_health_check_refuses(world: TestWorld) -> None:
    """HP-19."""
    start = world.sagemaker.start_cluster_health_check
    with pytest.raises(world.sagemaker.exceptions.ResourceNotFound):
        start(ClusterName="demo", DeepHealthCheckConfigurations=[checks("workers")])
    nodes = ready(world, 1)
    for wanted, text in (
        (checks("other"), "is not in cluster"),
        (checks("workers", "i-0123456789abcdef0"), "has no instance"),
        (checks("workers", kinds=("InstanceConnectivity",)), "at least 2 running instances"),
    ):
        with pytest.raises(ClientError, match=text):
            start(ClusterName="demo", DeepHealthCheckConfigurations=[wanted])
    start(ClusterName="demo", DeepHealthCheckConfigurations=[checks("workers", nodes[0]["InstanceId"])])
    world.advance(seconds=1)
    with pytest.raises(ClientError, match="Not Running"):
        start(ClusterName="demo", DeepHealthCheckConfigurations=[checks("workers", nodes[0]["InstanceId"])])


def test_a_deletion_wedges_while_the_role_is_gone(world: TestWorld) -> None:
    """Pain 16 of the field: Deleting for ever, with the reason on the nodes, until the role is back; then it ends
    within about a minute. Nothing is billed meanwhile."""
    ready(world, 2)
    rule = world.fault("terminate-failed", group="workers", code="AccessDenied")
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(hours=1)
    before = world.bill()["total_micro_usd"]
    world.advance(hours=24)
    assert world.describe()["ClusterStatus"] == "Deleting"
    assert all("does not have permission to perform" in n["InstanceStatus"]["Message"] for n in by_logical_id(world))
    assert world.bill()["total_micro_usd"] == before
    assert any("Failed to terminate EC2 Instance" in text for text in texts(world))
    world.control("DELETE", f"faults/{rule}")
    world.advance(minutes=2)
    with pytest.raises(world.sagemaker.exceptions.ResourceNotFound):
        world.describe()


def test_a_scale_down_takes_the_sick_first(world: TestWorld) -> None:
    """HP-18."""
    nodes = ready(world, 4, NodeRecovery="None")
    world.fault("node-hardware", node=nodes[2]["InstanceId"], times=1)
    world.advance(minutes=1)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("workers", 3)])
    world.advance(minutes=1)
    left = {node["InstanceId"] for node in by_logical_id(world)}
    assert left == {node["InstanceId"] for node in nodes} - {nodes[2]["InstanceId"]}


def test_a_rule_meets_nodes_that_run_later(world: TestWorld) -> None:
    """CT-3: each node `seconds` after it began to run, as often as the rule may strike."""
    world.fault("node-hardware", group="workers", seconds=3600, times=2, code="Xid-73")
    nodes = ready(world, 3)
    world.advance(minutes=50)
    assert {n["InstanceStatus"]["Status"] for n in by_logical_id(world)} == {"Running"}
    world.advance(minutes=30)
    assert sum("Reboot of EC2 Instance" in text for text in texts(world)) == 2
    assert {n["InstanceId"] for n in by_logical_id(world)} == {n["InstanceId"] for n in nodes}


def test_a_sick_node_told_to_go_is_gone(world: TestWorld) -> None:
    """HP-31: a deletion wins over a repair that is under way."""
    nodes = ready(world)
    world.sagemaker.batch_replace_cluster_nodes(ClusterName="demo", NodeIds=[nodes[0]["InstanceId"]])
    world.advance(seconds=1)
    gone = world.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeLogicalIds=[nodes[0]["NodeLogicalId"]])
    assert gone["SuccessfulNodeLogicalIds"] == [nodes[0]["NodeLogicalId"]]
    world.advance(minutes=1)
    assert (world.group("workers")["CurrentCount"], world.group("workers")["TargetCount"]) == (2, 2)
    assert len(by_logical_id(world)) == 2
