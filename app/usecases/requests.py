"""Requests as the core's intents. Shapes: botocore's sagemaker model, 2017-07-24."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.core.errors import Invalid
from app.core.intent import EKS, SLURM, ClusterIntent, GroupIntent
from app.settings import Settings
from app.usecases.clusters import network_of
from app.usecases.tagging import check_keys
from app.usecases.updates import UpdateIntent

if TYPE_CHECKING:
    from types_boto3_sagemaker.type_defs import (
        ClusterInstanceGroupSpecificationTypeDef,
        CreateClusterRequestTypeDef,
        UpdateClusterRequestTypeDef,
    )

_RESTRICTED = (
    "Found RestrictedInstanceGroups in the cluster input. Please remove RestrictedInstanceGroups from the request and "
    "try again."
)
"""What the service says to an account that is not entitled to them (seen in the field)."""
_OWN_MEMBERS = ("ClusterName", "InstanceGroups", "RestrictedInstanceGroups", "Tags")
_UPDATE_FACTS = (
    "NodeRecovery",
    "TieredStorageConfig",
    "ClusterRole",
    "AutoScaling",
    "RestrictedInstanceGroupsConfig",
)


def group_intent(given: "ClusterInstanceGroupSpecificationTypeDef") -> GroupIntent:
    types = given.get("InstanceRequirements", {"InstanceTypes": ()})["InstanceTypes"]
    single = given.get("InstanceType")
    return GroupIntent(
        name=given["InstanceGroupName"],
        count=given["InstanceCount"],
        minimum=given.get("MinInstanceCount"),
        instance_types=(single,) if single else tuple(types),
        single_type=single is not None,
        node_type=given["SlurmConfig"]["NodeType"] if "SlurmConfig" in given else None,
        network=network_of(given.get("OverrideVpcConfig")),
        request={key: value for key, value in given.items() if key not in ("InstanceCount", "MinInstanceCount")},
    )


def cluster_intent(req: "CreateClusterRequestTypeDef", settings: Settings) -> ClusterIntent:
    _check_entitled(req, settings)
    kind, eks_arn, strategy = _orchestrator(req.get("Orchestrator"))
    continuous = "NodeProvisioningMode" in req or (kind == SLURM and settings.slurm_default_mode == "continuous")
    facts: dict[str, Any] = {key: value for key, value in req.items() if key not in _OWN_MEMBERS}
    if continuous:
        facts["NodeProvisioningMode"] = "Continuous"
    return ClusterIntent(
        name=req["ClusterName"],
        continuous=continuous,
        orchestrator=kind,
        eks_arn=eks_arn,
        slurm_strategy=strategy,
        network=network_of(req.get("VpcConfig")),
        groups=_groups(req),
        tags=tags_of(req.get("Tags", ())),
        request=facts,
    )


def update_intent(req: "UpdateClusterRequestTypeDef", settings: Settings) -> UpdateIntent:
    _check_entitled(req, settings)
    kind, eks_arn, strategy = _orchestrator(req.get("Orchestrator"))
    return UpdateIntent(
        groups=_groups(req),
        to_delete=list(dict.fromkeys(req.get("InstanceGroupsToDelete", ()))),
        make_continuous="NodeProvisioningMode" in req,
        orchestrator=(kind, eks_arn) if "Orchestrator" in req else None,
        slurm_strategy=strategy,
        facts={key: req[key] for key in _UPDATE_FACTS if key in req},  # type: ignore[literal-required]
    )


def _groups(req: Mapping[str, Any]) -> list[GroupIntent]:
    """Both kinds: they share names and whatever else a group has."""
    restricted = [replace(group_intent(one), restricted=True) for one in req.get("RestrictedInstanceGroups", ())]
    return [*(group_intent(one) for one in req.get("InstanceGroups", ())), *restricted]


def _check_entitled(req: Mapping[str, Any], settings: Settings) -> None:
    if settings.restricted_groups == "allow":
        return
    if "RestrictedInstanceGroups" in req or "RestrictedInstanceGroupsConfig" in req:
        raise Invalid(_RESTRICTED)


def _orchestrator(given: Mapping[str, Any] | None) -> tuple[str, str | None, str | None]:
    """Kind, EKS cluster ARN, and SlurmConfigStrategy. Without a word a cluster is Slurm (HP-1)."""
    if given is None:
        return SLURM, None, None
    if len(given) != 1:
        raise Invalid("Orchestrator needs exactly one of Eks and Slurm.")
    if "Eks" in given:
        return EKS, given["Eks"]["ClusterArn"], None
    return SLURM, None, given["Slurm"].get("SlurmConfigStrategy")


def tags_of(given: Any) -> dict[str, str]:
    """Tags by key; refused are a key given twice and keys that AWS keeps to itself."""
    tags = {tag["Key"]: tag["Value"] for tag in given}
    if len(tags) < len(given):
        raise Invalid("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
    check_keys(tags)
    return tags
