"""Changes that a cluster does not take: what no model states, each with the service's code and what to do."""

from typing import Any

import pytest

from tests.kit import TestWorld, classic, group, login, slurm, workers
from tests.wire.sagemaker.refused import CONFLICT, EVENT, INVALID, VPC, refusal

FIXED: dict[str, dict[str, Any]] = {
    "InstanceType": {"InstanceType": "ml.g5.xlarge"},
    "ExecutionRole": {"ExecutionRole": "arn:aws:iam::111122223333:role/another"},
    "ThreadsPerCore": {"ThreadsPerCore": 1},
    "OverrideVpcConfig": {"OverrideVpcConfig": VPC},
    "CapacityRequirements": {"CapacityRequirements": {"Spot": {}}},
    "SlurmConfig.NodeType": {"SlurmConfig": {"NodeType": "Login"}},
}


@pytest.mark.parametrize("member", FIXED)
def test_what_an_update_cannot_change(world: TestWorld, member: str) -> None:
    """HP-W3: with the service's own sentence; and the group is as it was."""
    world.sagemaker.create_cluster(**slurm(workers(1), VpcConfig=VPC))
    before = world.group("workers")
    update = {"ClusterName": "demo", "InstanceGroups": [workers(3) | FIXED[member]]}
    code, message = refusal(world.sagemaker.update_cluster, **update)
    assert code == INVALID
    assert message.startswith(f"Updating fields {member} on an InstanceGroup not supported")
    assert world.group("workers") == before


def test_updates_that_contradict_themselves(world: TestWorld) -> None:
    """HP-10, HP-11, HP-14."""
    world.sagemaker.create_cluster(**slurm(login(), workers(2)))
    world.advance(60)
    strategy_given = {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Managed"}}}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"InstanceGroups": [workers(1), workers(2)]}, "given more than once"),
        ({"InstanceGroupsToDelete": ["nobody"]}, "names no group of cluster demo: nobody"),
        ({"InstanceGroups": [workers(1)], "InstanceGroupsToDelete": ["workers"]}, "in InstanceGroupsToDelete: workers"),
        ({"InstanceGroups": [group("plain")]}, "SlurmConfig"),
        ({"InstanceGroups": [group("second", SlurmConfig={"NodeType": "Controller"})]}, "Exactly one"),
        ({"InstanceGroups": [workers(2, MinInstanceCount=3)]}, "MinInstanceCount"),
        ({"InstanceGroups": [workers(2)], **strategy_given}, "Remove SlurmConfigStrategy"),
    ]
    for request, says in cases:
        code, message = refusal(world.sagemaker.update_cluster, ClusterName="demo", **request)
        assert code == INVALID, says
        assert says in message


def test_a_cluster_that_is_being_deleted(world: TestWorld) -> None:
    """HP-W3: ConflictException for what would change it."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(60)
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(1)
    update = world.sagemaker.update_cluster
    assert refusal(update, ClusterName="demo", InstanceGroups=[workers(2)])[0] == CONFLICT
    assert refusal(world.sagemaker.delete_cluster, ClusterName="demo")[0] == CONFLICT


def test_batch_additions(world: TestWorld) -> None:
    """HP-31: at most fifty nodes a call; unknown groups, zones and types fail item by item with HTTP 200."""
    world.sagemaker.create_cluster(**slurm(workers(1), VpcConfig=VPC))
    add = world.sagemaker.batch_add_cluster_nodes
    item = {"InstanceGroupName": "workers", "IncrementTargetCountBy": 26}
    assert refusal(add, ClusterName="demo", NodesToAdd=[item])[0] == INVALID  # still Creating
    world.advance(60)
    code, message = refusal(add, ClusterName="demo", NodesToAdd=[item, item])
    assert (code, "at most 50 nodes" in message) == (INVALID, True)
    answer = add(
        ClusterName="demo",
        NodesToAdd=[
            {"InstanceGroupName": "nobody", "IncrementTargetCountBy": 2},
            {"InstanceGroupName": "workers", "IncrementTargetCountBy": 1, "InstanceTypes": ["ml.g5.xlarge"]},
            {"InstanceGroupName": "workers", "IncrementTargetCountBy": 3, "AvailabilityZones": ["us-west-2z"]},
            {"InstanceGroupName": "workers", "IncrementTargetCountBy": 1, "InstanceTypes": ["ml.p5.48xlarge"]},
        ],
    )
    assert [(one["ErrorCode"], one["FailedCount"]) for one in answer["Failed"]] == [
        ("InstanceGroupNotFound", 2),
        ("IncompatibleInstanceTypes", 1),
        ("IncompatibleAvailabilityZones", 3),
    ]
    assert all(one["Message"] for one in answer["Failed"])
    assert len(answer["Successful"]) == 1
    assert world.group("workers")["TargetCount"] == 2
    world.sagemaker.create_cluster(**classic(group("g"), name="classic"))
    world.advance(60)
    item = {"InstanceGroupName": "g", "IncrementTargetCountBy": 1}
    assert refusal(add, ClusterName="classic", NodesToAdd=[item])[0] == INVALID
    delete = world.sagemaker.batch_delete_cluster_nodes
    assert refusal(delete, ClusterName="classic", NodeLogicalIds=[EVENT])[0] == INVALID
    assert refusal(delete, ClusterName="demo") == (INVALID, "Give NodeIds, NodeLogicalIds or both.")
    deleted = delete(ClusterName="classic", NodeIds=[world.nodes("classic")[0]["InstanceId"]])
    assert len(deleted["Successful"]) == 1
    assert "FailedNodeLogicalIds" not in deleted
