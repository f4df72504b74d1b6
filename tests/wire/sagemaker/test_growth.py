"""What BatchAddClusterNodes and UpdateCluster may not make of a cluster."""

import pytest
from botocore.exceptions import ClientError

from tests.kit import TestWorld, eks, group, slurm, workers


def test_no_second_controller_by_adding_nodes(world: TestWorld) -> None:
    """HP-11, HP-14: and the cluster goes on as it was."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(minutes=1)
    item = {"InstanceGroupName": "controller", "IncrementTargetCountBy": 1}
    with pytest.raises(ClientError, match=r"ValidationException.*must have InstanceCount 1"):
        world.sagemaker.batch_add_cluster_nodes(ClusterName="demo", NodesToAdd=[item])
    assert world.group("controller")["TargetCount"] == 1
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[workers(2)])


def test_no_group_beyond_the_models_limit_by_adding_nodes(world: TestWorld) -> None:
    """HP-31: the sum of a call's items counts."""
    world.sagemaker.create_cluster(**eks(group("g", 6700)))
    world.advance(minutes=1)
    items = [{"InstanceGroupName": "g", "IncrementTargetCountBy": 25}] * 2
    world.sagemaker.batch_add_cluster_nodes(ClusterName="demo", NodesToAdd=items)
    with pytest.raises(ClientError, match="would have 6800 instances; it may have 6758"):
        world.sagemaker.batch_add_cluster_nodes(ClusterName="demo", NodesToAdd=items)


def test_the_orchestrator_stays(world: TestWorld) -> None:
    """An update may repeat it, not change it."""
    world.sagemaker.create_cluster(**slurm())
    world.advance(minutes=1)
    arn = "arn:aws:eks:us-west-2:111122223333:cluster/other"
    with pytest.raises(ClientError, match=r"ValidationException.*orchestrator of cluster 'demo' cannot be changed"):
        world.sagemaker.update_cluster(ClusterName="demo", Orchestrator={"Eks": {"ClusterArn": arn}})
    world.sagemaker.update_cluster(ClusterName="demo", Orchestrator={"Slurm": {}})
    assert "Eks" not in world.describe().get("Orchestrator", {})
