"""What a request asks of a cluster, and the refusals that no service model states.

Sources: AWS's HyperPod pages on continuous provisioning and the AWS CLI, and reports from the field; texts that are
not published are ours and say what to do (docs/fidelity.md).
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.core import addons
from app.core.cluster import CONTROLLER, LOGIN, Cluster, Group
from app.core.errors import Invalid
from app.core.times import WorldTime

SLURM, EKS = "slurm", "eks"
_SUBNET = re.compile(r"subnet-[0-9a-f]{8}(?:[0-9a-f]{9})?")
_SECURITY_GROUP = re.compile(r"sg-[0-9a-f]{8}(?:[0-9a-f]{9})?")


@dataclass(frozen=True, slots=True)
class Network:
    """Subnets and security groups of the customer's VPC."""

    subnets: tuple[str, ...]
    security_groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupIntent:
    """An instance group as a request gives it; `request` is its JSON."""

    name: str
    count: int
    minimum: int | None
    instance_types: tuple[str, ...]
    single_type: bool
    node_type: str | None
    network: Network | None
    request: Mapping[str, Any]
    restricted: bool = False


@dataclass(frozen=True, slots=True)
class ClusterIntent:
    """A cluster as CreateCluster gives it; `request` is the JSON without groups and tags."""

    name: str
    continuous: bool
    orchestrator: str
    eks_arn: str | None
    slurm_strategy: str | None
    network: Network | None
    groups: Sequence[GroupIntent]
    tags: Mapping[str, str] = field(default_factory=dict)
    request: Mapping[str, Any] = field(default_factory=dict)


def check_new(intent: ClusterIntent) -> None:
    """Refuse what CreateCluster would refuse after its model's constraints."""
    check_unique([group.name for group in intent.groups])
    addons.check({}, intent.request, eks=intent.orchestrator == EKS, continuous=intent.continuous)
    check_strategy(intent.continuous, intent.slurm_strategy)
    _check_network(intent.network, "VpcConfig")
    if intent.orchestrator == EKS and intent.network is None:
        raise Invalid("A cluster with the EKS orchestrator needs VpcConfig. Add the subnets and security groups.")
    if intent.orchestrator == SLURM and not intent.groups:
        raise Invalid("InstanceGroups is missing. A cluster with the Slurm orchestrator needs at least one group.")
    for group in intent.groups:
        check_group(group, intent.continuous, intent.orchestrator, intent.network is not None)
    if intent.continuous and intent.orchestrator == SLURM:
        kinds = [group.node_type for group in intent.groups]
        check_slurm(intent.name, kinds, [group.count for group in intent.groups])


def check_unique(names: Sequence[str]) -> None:
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise Invalid(
            f"Instance group names must be unique within a cluster; given more than once: {', '.join(twice)}."
        )


def check_strategy(continuous: bool, strategy: str | None) -> None:
    """HP-11."""
    if continuous and strategy is not None:
        raise Invalid(
            f"SlurmConfigStrategy '{strategy}' is not supported with NodeProvisioningMode Continuous. "
            "Remove SlurmConfigStrategy from Orchestrator.Slurm."
        )


def check_group(group: GroupIntent, continuous: bool, orchestrator: str, has_network: bool) -> None:
    """One group by itself: HP-10, HP-14, and what only fits one orchestrator."""
    where = f"Instance group '{group.name}'"
    if not group.instance_types or {"InstanceType", "InstanceRequirements"} <= set(group.request):
        raise Invalid(f"{where} needs exactly one of InstanceType and InstanceRequirements.")
    if group.minimum is not None and not continuous:
        raise Invalid(f"{where}: MinInstanceCount needs NodeProvisioningMode Continuous. Remove it, or add that mode.")
    if group.minimum is not None and group.minimum > group.count:
        raise Invalid(
            f"{where}: MinInstanceCount {group.minimum} must not be greater than InstanceCount {group.count}."
        )
    if orchestrator == EKS and group.node_type is not None:
        raise Invalid(f"{where}: SlurmConfig is not supported with the EKS orchestrator. Remove SlurmConfig.")
    if orchestrator == SLURM and group.restricted:
        raise Invalid(f"{where}: restricted instance groups need the EKS orchestrator. Give it in InstanceGroups.")
    if orchestrator == SLURM and "KubernetesConfig" in group.request:
        raise Invalid(f"{where}: KubernetesConfig needs the EKS orchestrator. Remove KubernetesConfig.")
    if orchestrator == SLURM and group.network is not None and not has_network:
        raise Invalid(f"{where}: OverrideVpcConfig needs VpcConfig on the cluster. Add VpcConfig.")
    _check_network(group.network, f"{where}: OverrideVpcConfig")
    _check_volumes(group, where)


def check_slurm(cluster: str, node_types: Sequence[str | None], counts: Sequence[int]) -> None:
    """HP-10, HP-11, HP-14: every group has SlurmConfig, one group is the controller, with one instance."""
    if all(kind is None for kind in node_types):
        raise Invalid(
            f"Cluster {cluster} has no InstanceGroup with SlurmConfig which is required for Continuous Node "
            "Provisioning Mode clusters. Add SlurmConfig to every instance group."
        )
    if None in node_types:
        raise Invalid("Every instance group needs SlurmConfig with NodeProvisioningMode Continuous on Slurm.")
    controllers = [count for kind, count in zip(node_types, counts, strict=True) if kind == CONTROLLER]
    if len(controllers) != 1:
        raise Invalid(
            f"Exactly one instance group must have SlurmConfig.NodeType Controller, but {len(controllers)} have it. "
            + (
                "Several controllers (multi-head) are not supported with NodeProvisioningMode Continuous: keep one."
                if controllers
                else "Give it to one of them."
            )
        )
    if controllers[0] != 1:
        raise Invalid(f"The controller instance group must have InstanceCount 1, not {controllers[0]}.")


def _check_network(network: Network | None, where: str) -> None:
    if network is None:
        return
    for pattern, ids, form in (
        (_SUBNET, network.subnets, "subnet-0123456789abcdef0"),
        (_SECURITY_GROUP, network.security_groups, "sg-0123456789abcdef0"),
    ):
        wrong = [one for one in ids if not pattern.fullmatch(one)]
        if wrong:
            raise Invalid(f"{where}: '{wrong[0]}' has not the form of an id such as {form}.")


def _check_volumes(group: GroupIntent, where: str) -> None:
    for storage in group.request.get("InstanceStorageConfigs", ()):
        volume = storage.get("EbsVolumeConfig")
        if volume is None:
            continue
        if volume.get("RootVolume") and ("VolumeSizeInGB" in volume or "VolumeKmsKeyId" not in volume):
            raise Invalid(f"{where}: a root volume takes VolumeKmsKeyId and no VolumeSizeInGB.")
        if not volume.get("RootVolume") and "VolumeSizeInGB" not in volume:
            raise Invalid(f"{where}: an additional EBS volume needs VolumeSizeInGB.")


def build_group(
    intent: GroupIntent,
    position: int,
    at: WorldTime,
    network: Network | None,
    zones: Sequence[tuple[str | None, str]],
    minimum: int,
    image: str,
) -> Group:
    """The group as it begins, in its own network or the cluster's. `zones` gives each subnet with its zone, or
    (None, zone) without a VPC."""
    subnets = [[subnet, zone] for subnet, zone in zones if subnet is not None]
    security = list(network.security_groups) if network else []
    return Group(
        name=intent.name,
        position=position,
        instance_types=intent.instance_types,
        node_type=intent.node_type,
        target=intent.count,
        minimum=minimum,
        created_at=at,
        has_script=has_script(intent.request),
        deep_check="OnStartDeepHealthChecks" in intent.request,
        zones=tuple(dict.fromkeys(zone for _, zone in zones)),
        own_network=bool(subnets),
        min_since=at if minimum else None,
        training_plan=intent.request.get("TrainingPlanArn"),
        image=image,
        spec={
            "request": intent.request,
            "subnets": subnets,
            "security_groups": security,
            "restricted": intent.restricted,
        },
    )


def has_script(request: Mapping[str, Any]) -> bool:
    """True when the group's instances run a lifecycle script."""
    life = request.get("LifeCycleConfig", {})
    return "OnCreate" in life or "OnInitComplete" in life


def default_minimum(intent: GroupIntent, cluster: Cluster) -> int:
    """HP-14: without a MinInstanceCount it is 1 for controller and login groups of a new cluster, else 0."""
    if intent.minimum is not None:
        return intent.minimum
    gates = cluster.controller_first and cluster.in_service_at is None and intent.node_type in (CONTROLLER, LOGIN)
    return min(1, intent.count) if gates else 0
