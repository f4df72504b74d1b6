"""Refusals that no service model states: each with its text, which says what to do."""

from typing import Any

import pytest

from app.core.errors import Invalid
from app.core.intent import ClusterIntent, GroupIntent, Network, build_group, check_new, default_minimum
from tests.core.builders import GPU, T0, VPC, asked, at, classic, cluster, living, slurm, wanted


def head(**facts: Any) -> GroupIntent:
    return asked("controller", node_type="Controller", **facts)


def compute(name: str = "workers", count: int = 4, **facts: Any) -> GroupIntent:
    return asked(name, count, **({"node_type": "Compute"} | facts))


def on_slurm(*groups: GroupIntent, **facts: Any) -> ClusterIntent:
    return wanted(*groups, **({"orchestrator": "slurm", "network": None} | facts))


def volume(**facts: Any) -> GroupIntent:
    return asked(request={"InstanceStorageConfigs": [{"EbsVolumeConfig": facts}]})


NEEDS_ONE_TYPE = "Instance group 'workers' needs exactly one of InstanceType and InstanceRequirements."
NO_SLURM_CONFIG = (
    "Cluster demo has no InstanceGroup with SlurmConfig which is required for Continuous Node Provisioning Mode "
    "clusters. Add SlurmConfig to every instance group."
)
HEADS = "Exactly one instance group must have SlurmConfig.NodeType Controller, but {} have it. {}"
MULTI_HEAD = "Several controllers (multi-head) are not supported with NodeProvisioningMode Continuous: keep one."
REFUSED: dict[str, tuple[ClusterIntent, str]] = {
    "group names twice": (
        wanted(asked("a"), asked("b"), asked("a")),
        "Instance group names must be unique within a cluster; given more than once: a.",
    ),
    "HP-11: a strategy": (
        on_slurm(head(), slurm_strategy="Overwrite"),
        "SlurmConfigStrategy 'Overwrite' is not supported with NodeProvisioningMode Continuous. Remove "
        "SlurmConfigStrategy from Orchestrator.Slurm.",
    ),
    "a subnet's form": (
        wanted(network=Network(("subnet-123",), ("sg-12345678",))),
        "VpcConfig: 'subnet-123' has not the form of an id such as subnet-0123456789abcdef0.",
    ),
    "a security group's form": (
        wanted(network=Network(("subnet-12345678",), ("group",))),
        "VpcConfig: 'group' has not the form of an id such as sg-0123456789abcdef0.",
    ),
    "a group's own subnet's form": (
        wanted(asked(network=Network(("subnet-",), ()))),
        "Instance group 'workers': OverrideVpcConfig: 'subnet-' has not the form of an id such as "
        "subnet-0123456789abcdef0.",
    ),
    "EKS without a network": (
        wanted(network=None),
        "A cluster with the EKS orchestrator needs VpcConfig. Add the subnets and security groups.",
    ),
    "Slurm without groups": (
        on_slurm(),
        "InstanceGroups is missing. A cluster with the Slurm orchestrator needs at least one group.",
    ),
    "no type": (wanted(asked(instance_types=())), NEEDS_ONE_TYPE),
    "both kinds of type": (wanted(asked(request={"InstanceRequirements": {"InstanceTypes": [GPU]}})), NEEDS_ONE_TYPE),
    "HP-14: a minimum in classic mode": (
        wanted(asked(minimum=1), continuous=False),
        "Instance group 'workers': MinInstanceCount needs NodeProvisioningMode Continuous. Remove it, or add that "
        "mode.",
    ),
    "HP-14: a minimum of nothing in classic mode": (
        wanted(asked(minimum=0), continuous=False),
        "Instance group 'workers': MinInstanceCount needs NodeProvisioningMode Continuous. Remove it, or add that "
        "mode.",
    ),
    "HP-14: a minimum above the count": (
        wanted(asked(count=2, minimum=3)),
        "Instance group 'workers': MinInstanceCount 3 must not be greater than InstanceCount 2.",
    ),
    "Slurm's configuration on EKS": (
        wanted(asked(node_type="Compute")),
        "Instance group 'workers': SlurmConfig is not supported with the EKS orchestrator. Remove SlurmConfig.",
    ),
    "Kubernetes' configuration on Slurm": (
        on_slurm(head(request={"KubernetesConfig": {}})),
        "Instance group 'controller': KubernetesConfig needs the EKS orchestrator. Remove KubernetesConfig.",
    ),
    "a network of its own on Slurm without the cluster's": (
        on_slurm(head(network=VPC)),
        "Instance group 'controller': OverrideVpcConfig needs VpcConfig on the cluster. Add VpcConfig.",
    ),
    "HP-10: no group has SlurmConfig": (on_slurm(asked("a"), asked("b")), NO_SLURM_CONFIG),
    "HP-10: one group lacks SlurmConfig": (
        on_slurm(head(), asked("b")),
        "Every instance group needs SlurmConfig with NodeProvisioningMode Continuous on Slurm.",
    ),
    "HP-11: no controller": (on_slurm(compute()), HEADS.format(0, "Give it to one of them.")),
    "HP-11: several controllers": (
        on_slurm(head(), compute(), asked("second", node_type="Controller")),
        HEADS.format(2, MULTI_HEAD),
    ),
    "HP-14: a controller of two": (
        on_slurm(head(count=2)),
        "The controller instance group must have InstanceCount 1, not 2.",
    ),
    "HP-14: a controller of none": (
        on_slurm(head(count=0)),
        "The controller instance group must have InstanceCount 1, not 0.",
    ),
    "a root volume with a size": (
        wanted(volume(RootVolume=True, VolumeSizeInGB=100, VolumeKmsKeyId="key")),
        "Instance group 'workers': a root volume takes VolumeKmsKeyId and no VolumeSizeInGB.",
    ),
    "a root volume without a key": (
        wanted(volume(RootVolume=True)),
        "Instance group 'workers': a root volume takes VolumeKmsKeyId and no VolumeSizeInGB.",
    ),
    "a volume without a size": (
        wanted(volume(VolumeKmsKeyId="key")),
        "Instance group 'workers': an additional EBS volume needs VolumeSizeInGB.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    intent, text = REFUSED[name]
    with pytest.raises(Invalid) as refusal:
        check_new(intent)
    assert refusal.value.message == text


ACCEPTED = {
    "EKS without groups": wanted(),
    "Slurm": on_slurm(head(), asked("login", 2, node_type="Login"), compute(), compute("more")),
    "classic Slurm needs no SlurmConfig": on_slurm(asked("a"), asked("b", 3), continuous=False),
    "HP-11: classic Slurm may have a strategy": on_slurm(asked(), continuous=False, slurm_strategy="Merge"),
    "HP-16: all or nothing": wanted(asked(count=3, minimum=3)),
    "a group of none": wanted(asked(count=0, minimum=0)),
    "a network of its own": wanted(asked(network=VPC)),
    "long ids": wanted(network=Network(("subnet-0123456789abcdef0",), ("sg-0123456789abcdef0",))),
    "an additional volume": wanted(volume(VolumeSizeInGB=100)),
    "a root volume with a key": wanted(volume(RootVolume=True, VolumeKmsKeyId="key")),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    check_new(ACCEPTED[name])


MINIMA: dict[str, tuple[GroupIntent, Any, int]] = {
    "what was asked": (asked(count=9, minimum=4), living(), 4),
    "nothing asked": (asked(count=9), cluster(), 0),
    "the controller of a new cluster": (head(), slurm(), 1),
    "login of a new cluster": (asked("login", 3, node_type="Login"), slurm(), 1),
    "login of nothing": (asked("login", 0, node_type="Login"), slurm(), 0),
    "login may be awaited by none": (asked("login", 3, 0, node_type="Login"), slurm(), 0),
    "workers": (compute(), slurm(), 0),
    "login added later": (asked("login", 3, node_type="Login"), slurm(in_service_at=T0), 0),
    "classic": (head(), classic(), 0),
}


@pytest.mark.parametrize("name", MINIMA)
def test_default_minimum(name: str) -> None:
    """HP-14."""
    intent, owner, expected = MINIMA[name]
    assert default_minimum(intent, owner) == expected


def test_a_group_begins_with_its_network_and_its_wait() -> None:
    zones = [("subnet-1", "us-west-2a"), ("subnet-2", "us-west-2b"), ("subnet-3", "us-west-2a")]
    built = build_group(asked(count=4, minimum=2), 3, at(5), VPC, zones, 2, "1.2.0")
    assert (built.target, built.minimum, built.min_since, built.position) == (4, 2, at(5), 3)
    assert (built.zones, built.own_network) == (("us-west-2a", "us-west-2b"), True)
    assert built.spec["subnets"] == [list(pair) for pair in zones]
    assert (built.has_script, built.deep_check) == (True, False)


def test_without_a_vpc_a_group_lies_in_a_zone_of_the_platform() -> None:
    request = {"OnStartDeepHealthChecks": ["InstanceStress"], "LifeCycleConfig": {"SourceS3Uri": "s3://b"}}
    built = build_group(asked(request=request), 0, T0, None, [(None, "us-west-2a")], 0, "1.2.0")
    assert (built.zones, built.own_network, built.min_since) == (("us-west-2a",), False, None)
    assert (built.has_script, built.deep_check) == (False, True)
