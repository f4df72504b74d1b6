"""Every state of a group and of a cluster, and how public commands lead there."""

from collections.abc import Callable
from typing import Any

from tests.kit import TestWorld, classic, eks, group, slurm

P5 = "ml.p5.48xlarge"
C5 = "ml.c5.xlarge"
NODES = "workers"
COMPUTE = {"NodeType": "Compute", "PartitionNames": ["gpu"]}
LOGIN = {"NodeType": "Login"}
Reach = Callable[[TestWorld], None]


def gpus(count: int, **facts: Any) -> dict[str, Any]:
    return group(NODES, count, InstanceType=P5, **facts)


def begin(world: TestWorld, **facts: Any) -> None:
    """An EKS cluster of two groups, `others` and `workers`, which run."""
    world.sagemaker.create_cluster(**eks(group("others", 2), gpus(2), **facts))
    world.advance(minutes=1)


def publish(world: TestWorld) -> None:
    """A release newer than what the nodes run, so that an update of their software takes a while."""
    world.control("POST", "images", json={"version": "9.0.0"})


def patch(world: TestWorld) -> Any:
    return world.sagemaker.update_cluster_software(ClusterName="demo")


def patch_group(world: TestWorld, of: str) -> Any:
    asked = [{"InstanceGroupName": of}]
    return world.sagemaker.update_cluster_software(ClusterName="demo", InstanceGroups=asked)


def group_creating(world: TestWorld) -> None:
    """One of its nodes runs, and MinCount wants two."""
    world.capacity(P5, 1)
    world.sagemaker.create_cluster(**eks(group("others", 2), gpus(2, MinInstanceCount=2)))
    world.advance(minutes=1)


def group_updating(world: TestWorld) -> None:
    world.capacity(P5, 2)
    begin(world)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[gpus(4, MinInstanceCount=3)])
    world.advance(seconds=10)


def group_in_service(world: TestWorld) -> None:
    begin(world)


def group_scaling_down(world: TestWorld) -> None:
    """In service with more nodes than wanted, none of which has been told to go yet (HP-19)."""
    begin(world)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[gpus(1)])


def group_degraded(world: TestWorld) -> None:
    begin(world, NodeRecovery="None")
    world.fault("node-hardware", group=NODES, times=1)
    world.advance(minutes=1)


def group_deleting(world: TestWorld) -> None:
    begin(world)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroupsToDelete=[NODES])
    world.advance(seconds=1)


def group_system_updating(world: TestWorld) -> None:
    begin(world)
    publish(world)
    patch_group(world, NODES)
    world.advance(seconds=1)


GROUP_STATES: dict[str, tuple[str, Reach]] = {
    "creating": ("Creating", group_creating),
    "updating": ("Updating", group_updating),
    "in-service": ("InService", group_in_service),
    "scaling-down": ("InService", group_scaling_down),
    "degraded": ("Degraded", group_degraded),
    "system-updating": ("SystemUpdating", group_system_updating),
    "deleting": ("Deleting", group_deleting),
}


def continuous_creating(world: TestWorld) -> None:
    world.capacity(C5, 1)
    world.sagemaker.create_cluster(**slurm(gpus(2, SlurmConfig=COMPUTE), group("login", 1, SlurmConfig=LOGIN)))
    world.advance(minutes=1)


def continuous_in_service(world: TestWorld) -> None:
    world.sagemaker.create_cluster(**slurm(gpus(2, SlurmConfig=COMPUTE)))
    world.advance(minutes=1)


def continuous_failed(world: TestWorld) -> None:
    world.fault("launch-transient", group="login")
    world.sagemaker.create_cluster(**slurm(gpus(2, SlurmConfig=COMPUTE), group("login", 1, SlurmConfig=LOGIN)))
    world.advance(hours=3)


def continuous_deleting(world: TestWorld) -> None:
    continuous_in_service(world)
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(seconds=1)


def classic_creating(world: TestWorld) -> None:
    world.sagemaker.create_cluster(**classic(group("others", 2), gpus(2)))
    world.advance(seconds=4)


def classic_in_service(world: TestWorld) -> None:
    world.capacity(P5, 2)
    world.sagemaker.create_cluster(**classic(group("others", 2), gpus(2)))
    world.advance(minutes=1)


def classic_updating(world: TestWorld) -> None:
    classic_in_service(world)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("others", 3)])
    world.advance(seconds=1)


def classic_system_updating(world: TestWorld) -> None:
    classic_in_service(world)
    publish(world)
    patch(world)
    world.advance(seconds=1)


def classic_rolling_back(world: TestWorld) -> None:
    classic_in_service(world)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("others", 3), gpus(3)])
    world.advance(seconds=1)


def classic_failed(world: TestWorld) -> None:
    world.capacity(P5, 0)
    world.sagemaker.create_cluster(**classic(group("others", 2), gpus(2)))
    world.advance(minutes=1)


def classic_deleting(world: TestWorld) -> None:
    classic_in_service(world)
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(seconds=1)


CLUSTER_STATES: dict[str, tuple[str, Reach]] = {
    "continuous-creating": ("Creating", continuous_creating),
    "continuous-in-service": ("InService", continuous_in_service),
    "continuous-failed": ("Failed", continuous_failed),
    "continuous-deleting": ("Deleting", continuous_deleting),
    "classic-creating": ("Creating", classic_creating),
    "classic-in-service": ("InService", classic_in_service),
    "classic-updating": ("Updating", classic_updating),
    "classic-system-updating": ("SystemUpdating", classic_system_updating),
    "classic-rolling-back": ("RollingBack", classic_rolling_back),
    "classic-failed": ("Failed", classic_failed),
    "classic-deleting": ("Deleting", classic_deleting),
}
