"""What no model states: each refusal has the service's code, names what is wrong and says what to do."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import TestWorld, classic, controller, eks, group, login, slurm, workers

INVALID, CONFLICT = "ValidationException", "ConflictException"
NOT_FOUND, IN_USE, LIMIT = "ResourceNotFound", "ResourceInUse", "ResourceLimitExceeded"
VPC = {"SecurityGroupIds": ["sg-12345678"], "Subnets": ["subnet-12345678"]}
EVENT = "00000000-0000-4000-8000-000000000000"


def refusal(call: Callable[..., Any], **request: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as refused:
        call(**request)
    answer = refused.value.response
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 400
    return answer["Error"]["Code"], answer["Error"]["Message"]


def without(request: dict[str, Any], *members: str) -> dict[str, Any]:
    return {key: value for key, value in request.items() if key not in members}


def strategy(name: str) -> dict[str, Any]:
    return slurm(workers(1), Orchestrator={"Slurm": {"SlurmConfigStrategy": name}})


def volume(**facts: Any) -> dict[str, Any]:
    return slurm(workers(1, InstanceStorageConfigs=[{"EbsVolumeConfig": facts}]))


REFUSED_CREATIONS: dict[str, tuple[dict[str, Any], str]] = {
    "HP-11 several controllers": (
        slurm(workers(1), group("two", SlurmConfig={"NodeType": "Controller"})),
        "multi-head",
    ),
    "HP-10 no controller": (slurm(workers(1)) | {"InstanceGroups": [workers(1)]}, "Exactly one instance group"),
    "HP-11 Overwrite": (strategy("Overwrite"), "Remove SlurmConfigStrategy"),
    "HP-11 Managed": (strategy("Managed"), "Remove SlurmConfigStrategy"),
    "HP-11 Merge": (strategy("Merge"), "Remove SlurmConfigStrategy"),
    "HP-10 one group lacks SlurmConfig": (slurm(group("plain")), "Every instance group needs SlurmConfig"),
    "HP-10 no group has SlurmConfig": (slurm(workers(1)) | {"InstanceGroups": [group("plain")]}, "Add SlurmConfig"),
    "HP-14 controller of two": (
        slurm(workers(1)) | {"InstanceGroups": [controller(InstanceCount=2)]},
        "InstanceCount 1",
    ),
    "HP-14 minimum above count": (slurm(workers(2, MinInstanceCount=3)), "must not be greater than InstanceCount 2"),
    "HP-14 minimum without Continuous": (classic(group("g", 2, MinInstanceCount=1)), "needs NodeProvisioningMode"),
    "group names twice": (slurm(workers(1), workers(2)), "given more than once: workers"),
    "EKS without VPC": (without(eks(group("g")), "VpcConfig"), "needs VpcConfig"),
    "Slurm without groups": (without(slurm(), "InstanceGroups"), "needs at least one group"),
    "both orchestrators": (
        slurm(workers(1), Orchestrator={"Slurm": {}, "Eks": {"ClusterArn": "arn:aws:eks:us-west-2:1:cluster/x"}}),
        "",
    ),
    "no orchestrator in Orchestrator": (slurm(workers(1), Orchestrator={}), "exactly one of Eks and Slurm"),
    "SlurmConfig on EKS": (eks(workers(1)), "Remove SlurmConfig"),
    "KubernetesConfig on Slurm": (slurm(workers(1, KubernetesConfig={"Labels": {"a": "b"}})), "needs the EKS"),
    "subnet's form": (slurm(workers(1), VpcConfig=VPC | {"Subnets": ["subnet-1"]}), "subnet-0123456789abcdef0"),
    "security group's form": (
        slurm(workers(1), VpcConfig=VPC | {"SecurityGroupIds": ["sg-zz"]}),
        "sg-0123456789abcdef0",
    ),
    "override's subnet's form": (
        slurm(workers(1, OverrideVpcConfig=VPC | {"Subnets": ["subnet-12345"]}), VpcConfig=VPC),
        "OverrideVpcConfig: 'subnet-12345'",
    ),
    "override without VpcConfig": (slurm(workers(1, OverrideVpcConfig=VPC)), "Add VpcConfig"),
    "two kinds of type": (
        slurm(workers(1, InstanceRequirements={"InstanceTypes": ["ml.g5.xlarge"]})),
        "exactly one of InstanceType and InstanceRequirements",
    ),
    "no type": (slurm(without(workers(1), "InstanceType")), "exactly one of InstanceType and InstanceRequirements"),
    "root volume with a size": (volume(RootVolume=True, VolumeSizeInGB=10, VolumeKmsKeyId="k"), "no VolumeSizeInGB"),
    "root volume without a key": (volume(RootVolume=True), "takes VolumeKmsKeyId"),
    "volume without a size": (volume(RootVolume=False), "needs VolumeSizeInGB"),
    "restricted groups": (
        slurm(workers(1))
        | {
            "RestrictedInstanceGroups": [
                {
                    "InstanceCount": 1,
                    "InstanceGroupName": "r",
                    "InstanceType": "ml.p5.48xlarge",
                    "ExecutionRole": "arn:aws:iam::111122223333:role/r",
                    "EnvironmentConfig": {},
                }
            ]
        },
        "Please remove RestrictedInstanceGroups",
    ),
    "autoscaling on Slurm": (slurm(workers(1), AutoScaling={"Mode": "Enable"}), "needs the EKS orchestrator"),
    "tag keys twice": (
        slurm(workers(1), Tags=[{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]),
        "Duplicate tag",
    ),
}


@pytest.mark.parametrize("name", REFUSED_CREATIONS)
def test_create_cluster_refuses(world: TestWorld, name: str) -> None:
    """HP-10, HP-11, HP-14, HP-W3: nothing is made by a refused request."""
    request, says = REFUSED_CREATIONS[name]
    code, message = refusal(world.sagemaker.create_cluster, **request)
    assert code == INVALID
    assert says in message
    assert world.sagemaker.list_clusters()["ClusterSummaries"] == []


def test_names_and_eks_clusters_are_taken_until_they_are_gone(world: TestWorld) -> None:
    """HP-W3: ResourceInUse for a name; an EKS cluster is held by one cluster, also while that is Deleting."""
    world.sagemaker.create_cluster(**eks(group("g")))
    code, message = refusal(world.sagemaker.create_cluster, **eks(group("g")))
    assert code == IN_USE
    assert "already exists" in message
    second = eks(group("g")) | {"ClusterName": "second"}
    code, message = refusal(world.sagemaker.create_cluster, **second)
    assert code == INVALID
    assert message.endswith("already in use")
    world.advance(10)
    world.sagemaker.delete_cluster(ClusterName="demo")
    assert refusal(world.sagemaker.create_cluster, **second)[0] == INVALID
    assert refusal(world.sagemaker.create_cluster, **eks(group("g")))[0] == IN_USE
    world.advance(60)
    world.sagemaker.create_cluster(**second)


def test_quotas_of_the_account(world: TestWorld) -> None:
    """CT-4, HP-W3: ResourceLimitExceeded in AWS's sentence, at creation, update and addition."""
    quota = "ml.p5.48xlarge for cluster usage"
    world.control("POST", "quotas", json={"name": quota, "value": 4})
    code, message = refusal(world.sagemaker.create_cluster, **slurm(workers(5)))
    assert code == LIMIT
    assert message.startswith(
        f"The account-level service limit '{quota}' is 4 Instances, with current utilization of 0 "
    )
    world.sagemaker.create_cluster(**slurm(workers(4)))
    world.advance(60)
    update = {"ClusterName": "demo", "InstanceGroups": [workers(5)]}
    code, message = refusal(world.sagemaker.update_cluster, **update)
    assert code in (LIMIT, INVALID)
    add = {"ClusterName": "demo", "NodesToAdd": [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]}
    assert refusal(world.sagemaker.batch_add_cluster_nodes, **add)[0] == LIMIT
    assert world.group("workers")["TargetCount"] == 4


@pytest.mark.parametrize("name", ["nobody", "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12"])
def test_what_is_not_there(world: TestWorld, name: str) -> None:
    """HP-W3: ResourceNotFound from every operation on a cluster, by name and by ARN."""
    sagemaker = world.sagemaker
    calls: list[tuple[str, dict[str, Any]]] = [
        ("describe_cluster", {}),
        ("update_cluster", {"InstanceGroups": [workers(1)]}),
        ("delete_cluster", {}),
        ("list_cluster_nodes", {}),
        ("describe_cluster_node", {"NodeId": "i-0123456789abcdef0"}),
        ("list_cluster_events", {}),
        ("describe_cluster_event", {"EventId": EVENT}),
        ("batch_add_cluster_nodes", {"NodesToAdd": [{"InstanceGroupName": "g", "IncrementTargetCountBy": 1}]}),
        ("batch_delete_cluster_nodes", {"NodeIds": ["i-0123456789abcdef0"]}),
    ]
    for operation, arguments in calls:
        code, message = refusal(getattr(sagemaker, operation), ClusterName=name, **arguments)
        assert code == NOT_FOUND, operation
        assert name in message


def test_nodes_and_events_that_are_not_there(world: TestWorld) -> None:
    """HP-W3: also another cluster's event id finds nothing."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.sagemaker.create_cluster(**slurm(workers(1), name="other"))
    world.advance(60)
    sagemaker = world.sagemaker
    foreign = world.events("other")[0]["EventId"]
    for operation, arguments in (
        ("describe_cluster_node", {"NodeId": "i-0123456789abcdef0"}),
        ("describe_cluster_node", {"NodeLogicalId": EVENT}),
        ("describe_cluster_node", {"NodeId": world.nodes("other")[0]["InstanceId"]}),
        ("describe_cluster_event", {"EventId": EVENT}),
        ("describe_cluster_event", {"EventId": foreign}),
    ):
        assert refusal(getattr(sagemaker, operation), ClusterName="demo", **arguments)[0] == NOT_FOUND
    node = world.nodes(IncludeNodeLogicalIds=True)[0]
    both = {"NodeId": node["InstanceId"], "NodeLogicalId": node["NodeLogicalId"]}
    for arguments in (both, {}):
        code, message = refusal(sagemaker.describe_cluster_node, ClusterName="demo", **arguments)
        assert (code, message) == (INVALID, "Give exactly one of NodeId and NodeLogicalId.")


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


def test_tags_of_what_is_not_there(world: TestWorld) -> None:
    """HP-W3: another account's or no ARN."""
    arn = world.sagemaker.create_cluster(**slurm(workers(1)))["ClusterArn"]
    other = world.client(account="444455556666")
    for client, name in ((other, arn), (world.sagemaker, arn[:-1] + "~")):
        for call, arguments in (
            (client.add_tags, {"Tags": [{"Key": "a", "Value": "b"}]}),
            (client.list_tags, {}),
            (client.delete_tags, {"TagKeys": ["a"]}),
        ):
            code, message = refusal(call, ResourceArn=name, **arguments)
            assert code in (INVALID, NOT_FOUND)
            assert message
    many = [{"Key": f"k{number}", "Value": "v"} for number in range(30)]
    world.sagemaker.add_tags(ResourceArn=arn, Tags=many)
    more = [{"Key": f"m{number}", "Value": "v"} for number in range(21)]
    assert refusal(world.sagemaker.add_tags, ResourceArn=arn, Tags=more)[0] in (INVALID, LIMIT)
    assert len(world.sagemaker.list_tags(ResourceArn=arn)["Tags"]) == 30


def test_every_broken_constraint_is_named_at_once(world: TestWorld) -> None:
    """HP-W4: what boto3 lets through, in AWS's sentences, before any state is read."""
    request = slurm(workers(7000, SlurmConfig={"NodeType": "Boss"}), name="bad name!!", NodeRecovery="Maybe")
    code, message = refusal(world.sagemaker.create_cluster, **request)
    assert code == INVALID
    assert message.startswith("4 validation errors detected: ")
    for path in ("clusterName", "nodeRecovery", "instanceGroups.2.member.instanceCount", "slurmConfig.nodeType"):
        assert path in message


def test_operations_that_are_not_emulated(world: TestWorld) -> None:
    """HP-W5: 501 and its name, never a made-up success."""
    with pytest.raises(ClientError) as refused:
        world.sagemaker.list_notebook_instances()
    answer = refused.value.response
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 501
    assert answer["Error"]["Code"] == "NotImplemented"
    assert "ListNotebookInstances" in answer["Error"]["Message"]
