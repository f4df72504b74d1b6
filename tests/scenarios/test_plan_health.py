"""What a training plan tells of the health of its machines."""

from typing import Any

from tests.kit import TestWorld, slurm, workers
from tests.plans import advance_to, buy, plan


def servers(world: TestWorld) -> list[dict[str, Any]]:
    [one] = plan(world.sagemaker)["ReservedCapacitySummaries"]
    found: list[dict[str, Any]] = world.sagemaker.list_ultra_servers_by_reserved_capacity(
        ReservedCapacityArn=one["ReservedCapacityArn"]
    )["UltraServers"]
    return found


def unhealthy(world: TestWorld) -> tuple[int, int, list[int]]:
    """The unhealthy machines of the plan, of its reserved capacity, of its UltraServers."""
    told = plan(world.sagemaker)
    arn = told["ReservedCapacitySummaries"][0]["ReservedCapacityArn"]
    reserved = world.sagemaker.describe_reserved_capacity(ReservedCapacityArn=arn)["UltraServerSummary"]
    each = [one["UnhealthyInstanceCount"] for one in servers(world)]
    return told["UnhealthyInstanceCount"], reserved["UnhealthyInstanceCount"], each


def test_an_ultra_server_with_an_ill_node_is_impaired(world: TestWorld) -> None:
    """HP-29: for as long as the node is ill; the machine stays in use, and the replacement takes one of the plan."""
    offer = world.sagemaker.search_training_plan_offerings(
        UltraServerType="ml.u-p6e-gb200x36", UltraServerCount=2, DurationHours=24, TargetResources=["hyperpod-cluster"]
    )["TrainingPlanOfferings"][0]
    arn = buy(world.sagemaker, offer=offer)
    advance_to(world, plan(world.sagemaker)["StartTime"], -60)
    group = workers(10, TrainingPlanArn=arn, InstanceType="ml.p6e-gb200.36xlarge")
    world.sagemaker.create_cluster(**slurm(group, NodeRecovery="None"))
    advance_to(world, plan(world.sagemaker)["StartTime"], 60)
    assert unhealthy(world) == (0, 0, [0, 0])
    sick = world.nodes(InstanceGroupNameContains="workers")[0]
    home = world.sagemaker.describe_cluster_node(ClusterName="demo", NodeId=sick["InstanceId"])["NodeDetails"]
    world.fault("node-hardware", node=sick["InstanceId"], times=1)
    world.advance(minutes=1)
    health = {one["UltraServerId"]: one["HealthStatus"] for one in servers(world)}
    assert health.pop(home["UltraServerInfo"]["Id"]) == "Impaired"
    assert set(health.values()) == {"OK"}
    assert unhealthy(world)[:2] == (1, 1)
    assert plan(world.sagemaker)["InUseInstanceCount"] == 10
    world.sagemaker.batch_replace_cluster_nodes(ClusterName="demo", NodeIds=[sick["InstanceId"]])
    world.advance(minutes=2)
    assert unhealthy(world) == (0, 0, [0, 0])
    assert {one["HealthStatus"] for one in servers(world)} == {"OK"}
    assert sum(one["InUseInstanceCount"] for one in servers(world)) == 10
