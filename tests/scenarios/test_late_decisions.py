"""Decisions that come after the locks were chosen, or in the middle of a thousand nodes."""

from tests.kit import Running, TestWorld, classic, eks, group

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
