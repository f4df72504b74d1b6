"""Clusters that cannot be made: what no model states, each with the service's code and what to do."""

from typing import Any

import pytest

from tests.kit import TestWorld, classic, controller, eks, group, slurm, workers
from tests.wire.sagemaker.refused import IN_USE, INVALID, VPC, refusal, without


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
