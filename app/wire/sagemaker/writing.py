"""The core's values as answers. The output shape drops what it does not have, so a dict may say more."""

from collections.abc import Mapping
from typing import Any

from app import catalog
from app.core import addons, ids
from app.core.cluster import UNDER_UPDATE, Cluster, Group, cluster_status, group_status
from app.core.instance import Instance
from app.core.node import vendor_status
from app.core.plans import NOT_APPLICABLE, server_id
from app.core.releases import Releases, image_members, release_of
from app.core.scope import Scope
from app.core.software import STRATEGY
from app.usecases.descriptions import Described
from app.usecases.listed import DescribedGroup, ListedCluster, ListedNode

_ECHOED = (
    "LifeCycleConfig",
    "ExecutionRole",
    "ThreadsPerCore",
    "InstanceStorageConfigs",
    "OnStartDeepHealthChecks",
    "TrainingPlanArn",
    "OverrideVpcConfig",
    "ScheduledUpdateConfig",
    "CapacityRequirements",
    "SlurmConfig",
    "NetworkInterface",
    "EnvironmentConfig",
)


def cluster_details(found: Described, scope: Scope) -> dict[str, Any]:
    """The answer of DescribeCluster."""
    cluster = found.cluster
    spec = cluster.spec
    kinds: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    for group in found.groups:
        kinds[group.spec.get("restricted", False)].append(group_details(found, group))
    return {
        **spec,
        "ClusterArn": ids.cluster_arn(scope.region, scope.account, cluster.cluster_id),
        "ClusterName": cluster.name,
        "ClusterStatus": cluster_status(cluster),
        "CreationTime": cluster.created_at,
        "FailureMessage": cluster.failure_message,
        "InstanceGroups": kinds[False],
        "RestrictedInstanceGroups": kinds[True] or None,
        "RestrictedInstanceGroupsConfig": addons.restricted_environment(spec),
        "TieredStorageConfig": addons.tiered_storage(spec, cluster.opened_at),
        "AutoScaling": found.auto_scaling,
    }


def group_details(found: Described, group: DescribedGroup) -> dict[str, Any]:
    """A member of DescribeCluster's InstanceGroups."""
    cluster, running = found.cluster, found.running
    request: Mapping[str, Any] = group.spec["request"]
    details: dict[str, Any] = {key: request[key] for key in _ECHOED if key in request}
    details |= {
        "CurrentCount": group.current,
        "TargetCount": group.target,
        "MinCount": group.minimum if cluster.continuous else None,
        "InstanceGroupName": group.name,
        "Status": group_status(cluster, group),
        "AutoPatchConfig": found.patching.get(group.name),
        "TrainingPlanStatus": found.plans.get(group.name, NOT_APPLICABLE),
        "ActiveOperations": {"Scaling": 1} if cluster.continuous and group.current != group.target else None,
        **_software(found, group),
    }
    if "InstanceType" in request:
        details["InstanceType"] = request["InstanceType"]
    else:
        types = group.instance_types
        details["InstanceRequirements"] = {"CurrentInstanceTypes": types, "DesiredInstanceTypes": types}
        threads = request.get("ThreadsPerCore")
        details["InstanceTypeDetails"] = [
            {"InstanceType": kind, "CurrentCount": running.get((group.name, kind), 0), "ThreadsPerCore": threads}
            for kind in types
        ]
    if "KubernetesConfig" in request:
        details["KubernetesConfig"] = _kubernetes(request)
    return details


def _kubernetes(request: Mapping[str, Any]) -> dict[str, Any]:
    given = request.get("KubernetesConfig", {})
    return {f"{when}{key}": value for when in ("Current", "Desired") for key, value in given.items()}


def _software(found: Described, group: DescribedGroup) -> dict[str, Any]:
    """What a group runs, and how far its update is. Without any update all of its nodes run what it wants."""
    current = group.former_image or group.image
    never = group.update_status is None
    config = {key: value for key, value in (group.update_config or {}).items() if key != STRATEGY}
    return {
        **image_members(current, group.image),
        "ImageVersionStatus": found.releases.standing(current),
        "TargetStateCount": group.current if never else found.updated.get(group.name, 0),
        "SoftwareUpdateStatus": group.update_status,
        "ActiveSoftwareUpdateConfig": (config or None) if group.update_status in UNDER_UPDATE else None,
    }


def cluster_summary(cluster: ListedCluster, scope: Scope) -> dict[str, Any]:
    """A member of ListClusters' ClusterSummaries."""
    return {
        "ClusterArn": ids.cluster_arn(scope.region, scope.account, cluster.cluster_id),
        "ClusterName": cluster.name,
        "CreationTime": cluster.created_at,
        "ClusterStatus": cluster_status(cluster),
        "TrainingPlanArns": cluster.plans or None,
    }


def _status(node: Instance | ListedNode) -> dict[str, Any]:
    return {"Status": vendor_status(node.status), "Message": node.message}


def node_summary(node: ListedNode, seed: int, region: str, with_logical_id: bool, releases: Releases) -> dict[str, Any]:
    """A member of ListClusterNodes' ClusterNodeSummaries. A node without an instance has an empty InstanceId."""
    return {
        "InstanceGroupName": node.group,
        "InstanceId": node.instance_id or "",
        "NodeLogicalId": node.logical_id if with_logical_id else None,
        "InstanceType": node.instance_type,
        "LaunchTime": node.listed_at,
        "InstanceStatus": _status(node),
        "PrivateDnsHostname": _hostname(node, seed, region),
        "LastSoftwareUpdateTime": node.patched_at,
        "CurrentImageReleaseVersion": release_of(node.image),
        "ImageVersionStatus": releases.standing(node.image),
    }


def node_details(cluster: Cluster, group: Group, node: Instance, seed: int, releases: Releases) -> dict[str, Any]:
    """The answer of DescribeClusterNode."""
    request: Mapping[str, Any] = group.spec["request"]
    details: dict[str, Any] = {
        key: request[key]
        for key in (
            "LifeCycleConfig",
            "OverrideVpcConfig",
            "ThreadsPerCore",
            "InstanceStorageConfigs",
            "NetworkInterface",
        )
        if key in request
    }
    details |= {
        "InstanceGroupName": node.group,
        "InstanceId": node.instance_id,
        "NodeLogicalId": node.logical_id if cluster.continuous else None,
        "InstanceStatus": _status(node),
        "InstanceType": node.instance_type,
        "LaunchTime": node.listed_at,
        "CapacityType": "Spot" if "Spot" in request.get("CapacityRequirements", {}) else "OnDemand",
        **image_members(node.image, group.image),
        "ImageVersionStatus": releases.standing(node.image),
        "LastSoftwareUpdateTime": node.patched_at,
    }
    if "KubernetesConfig" in request:
        details["KubernetesConfig"] = _kubernetes(request)
    if node.instance_id is not None and node.zone is not None:
        details["PrivatePrimaryIp"] = ids.private_ip(seed, node.instance_id)
        details["PrivateDnsHostname"] = _hostname(node, seed, cluster.region)
        zone = next(zone for zone in catalog.zones(cluster.region) if zone.name == node.zone)
        details["Placement"] = {"AvailabilityZone": zone.name, "AvailabilityZoneId": zone.id}
        if node.reservation is not None and node.server is not None:
            details["UltraServerInfo"] = {"Id": server_id(seed, node.reservation, node.server)}
    return details


def _hostname(node: Instance | ListedNode, seed: int, region: str) -> str | None:
    if node.instance_id is None or node.zone is None:
        return None
    return f"{ids.host_name(seed, node.instance_id)}.{region}.compute.internal"
