"""Decisions that come after the locks were chosen, or in the middle of a thousand nodes."""

import json

import pytest

from app.store.db import Database
from tests.kit import Running, TestWorld, classic, eks, group, login, slurm, workers

P5 = {"InstanceType": "ml.p5.48xlarge"}


def test_a_rollback_that_raises_the_target_grants_no_more_than_there_is(world: TestWorld) -> None:
    """HP-17, CT-4: the pool is locked before the group wants more from it."""
    world.capacity("ml.p5.48xlarge", 2)
    world.sagemaker.create_cluster(**eks(group("w", 6, **P5)))
    world.advance(minutes=1)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("w", 3, MinInstanceCount=3, **P5)])
    world.advance(hours=3, minutes=1)
    after = world.group("w")
    assert (after["CurrentCount"], after["TargetCount"], after["MinCount"], after["Status"]) == (2, 6, 0, "InService")
    (pool,) = [pool for pool in world.control("GET", "capacity")["pools"] if pool["total"] is not None]
    assert (pool["total"], pool["used"]) == (2, 2)
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(minutes=1)
    (pool,) = [pool for pool in world.control("GET", "capacity")["pools"] if pool["total"] is not None]
    assert pool["used"] == 0


def test_a_failure_among_more_than_a_batch_fails_a_classic_creation(service: Running) -> None:
    """HP-40: one failed script of 1,500, all due at one instant, is enough."""
    world = service.world()
    world.fault("script-failed", times=1)
    world.sagemaker.create_cluster(**classic(group("w", 1500)))
    world.advance(minutes=10)
    assert world.describe()["ClusterStatus"] == "Failed"


def test_the_machine_goes_to_whom_its_zone_can_serve(world: TestWorld) -> None:
    """HP-6, CT-4: the oldest that waits is passed over while the only zones of its group are full."""
    for name, subnet in (("old", "subnet-12345678"), ("new", "subnet-00000001")):
        network = {"SecurityGroupIds": ["sg-12345678"], "Subnets": [subnet]}
        world.sagemaker.create_cluster(**eks(group("w", 1, **P5), name=name, VpcConfig=network))
        world.advance(60)
    zones = [
        world.sagemaker.describe_cluster_node(ClusterName=name, NodeId=world.nodes(name)[0]["InstanceId"])
        for name in ("old", "new")
    ]
    old, new = (zone["NodeDetails"]["Placement"]["AvailabilityZone"] for zone in zones)
    assert old != new
    for zone in (old, new):
        world.capacity("ml.p5.48xlarge", 1, zone=zone)
    for name in ("old", "new"):
        world.sagemaker.update_cluster(ClusterName=name, InstanceGroups=[group("w", 2, **P5)])
        world.advance(60)
    world.capacity("ml.p5.48xlarge", 2, zone=new)
    world.advance(30)
    assert [world.group("w", name)["CurrentCount"] for name in ("old", "new")] == [1, 2]


def test_a_flexible_group_is_woken_by_any_of_its_types(world: TestWorld) -> None:
    """HP-6: what waits for the first of its types takes the second when that comes free."""
    types = ["ml.p5.48xlarge", "ml.p4d.24xlarge"]
    flexible = group("w", 1, InstanceRequirements={"InstanceTypes": types})
    del flexible["InstanceType"]
    for one in types:
        world.capacity(one, 0)
    world.sagemaker.create_cluster(**eks(flexible))
    world.advance(minutes=2)
    assert world.group("w")["CurrentCount"] == 0
    world.capacity("ml.p4d.24xlarge", 1)
    world.advance(10)
    (node,) = world.nodes()
    assert node["InstanceType"] == "ml.p4d.24xlarge"


async def _lag(database: Database, world: TestWorld, hours: int) -> None:
    """The clock goes on while no worker does anything."""
    async with database.transaction() as tx:
        await tx.execute("UPDATE world SET base = base + make_interval(hours => $2) WHERE name = $1", world.name, hours)


@pytest.mark.parametrize("pool", [None, 20])
async def test_a_worker_that_lags_changes_no_history(database: Database, service: Running, pool: int | None) -> None:
    """CT-1, HP-8, HP-17: five hours late it finds what it would have found in time, also where machines are counted."""
    worlds = [service.world(), service.world()]
    for world in worlds:
        world.capacity("ml.p5.48xlarge", pool)
        world.sagemaker.create_cluster(**slurm(login(), workers(4, MinInstanceCount=3)))
    await _lag(database, worlds[0], 5)
    for world in worlds:
        world.advance(0)
    worlds[1].advance(hours=5)
    late, prompt = [json.loads(world.export()) for world in worlds]
    assert worlds[0].describe()["ClusterStatus"] == "InService"
    assert late == prompt


async def test_an_update_is_no_part_of_the_past(database: Database, service: Running) -> None:
    """CT-1: what was due before a request comes before it, however late the worker is."""
    world = service.world()
    world.sagemaker.create_cluster(**slurm(workers(2)))
    await _lag(database, world, 1)
    world.sagemaker.update_cluster(ClusterName="demo", NodeRecovery="Automatic")
    completed = next(e for e in world.events() if e["Description"] == "Cluster demo creation completed successfully")
    assert (completed["EventTime"] - world.describe()["CreationTime"]).total_seconds() < 60
