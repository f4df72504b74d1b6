"""What UpdateCluster, DeleteCluster and the node batches change, and what they refuse."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.core import upkeep
from app.core.cluster import CONTROLLER, Cluster, Group, cluster_status, group_status
from app.core.errors import Conflict, Invalid
from app.core.intent import GroupIntent, has_script
from app.core.releases import DEFAULT, ami
from app.core.times import WorldTime

LARGEST_GROUP = 6758
"""The service model's largest InstanceCount."""
_SCALABLE = ("InService", "Degraded", "SystemUpdating")
"""Scaling and a software update may go on at once, says the service model of TargetStateCount."""
_LISTED = "DescribeCluster lists its groups."
_LEFT_OUT = (upkeep.SCHEDULE, upkeep.PATCH)
"""Members that a request takes away by leaving them out."""
_IMAGE = ("ImageId", "ImageReleaseVersion")
_FIXED = ("ExecutionRole", "ThreadsPerCore", "OverrideVpcConfig", "CapacityRequirements", "EnvironmentConfig")


@dataclass(frozen=True, slots=True)
class Revision:
    """The groups that change, and the requested ones that are new."""

    changed: Mapping[str, Group]
    added: Sequence[GroupIntent]


def check_may_update(cluster: Cluster) -> None:
    """A continuous cluster takes updates at any time; a classic one only when it rests (HP-7, HP-9, HP-40)."""
    status = cluster_status(cluster)
    if status == "Failed":
        raise Conflict(f"Cluster {cluster.name} is in Failed state. Delete it and create it again.")
    if status == "Deleting" or (not cluster.continuous and status != "InService"):
        raise Conflict(f"Cluster {cluster.name} is in {status} state and cannot be changed now. Try again later.")


def check_may_delete(cluster: Cluster) -> None:
    """HP-19: a continuous cluster may always be deleted; a classic one when it rests or has failed."""
    status = cluster_status(cluster)
    if status == "Deleting" or (not cluster.continuous and status not in ("InService", "Failed")):
        raise Conflict(f"Cluster {cluster.name} is in {status} state and cannot be deleted now. Try again later.")


def revise(
    cluster: Cluster,
    groups: Mapping[str, Group],
    intents: Sequence[GroupIntent],
    to_delete: Sequence[str],
    at: WorldTime,
) -> Revision:
    """Upsert by name; whatever is not named stays as it is."""
    _check_deletions(cluster, groups, intents, to_delete)
    changed = {name: replace(groups[name], delete_requested_at=at, operation="deletion") for name in to_delete}
    added = []
    for intent in intents:
        old = groups.get(intent.name)
        if old is None:
            added.append(intent)
        else:
            changed[intent.name] = _revise_group(cluster, old, intent, at)
    return Revision(changed, added)


def _check_deletions(
    cluster: Cluster, groups: Mapping[str, Group], intents: Sequence[GroupIntent], to_delete: Sequence[str]
) -> None:
    unknown = sorted(set(to_delete) - set(groups))
    if unknown:
        raise Invalid(
            f"InstanceGroupsToDelete names no group of cluster {cluster.name}: {', '.join(unknown)}. {_LISTED}"
        )
    both = sorted({intent.name for intent in intents} & set(to_delete))
    if both:
        raise Invalid(f"Groups are given in InstanceGroups and in InstanceGroupsToDelete: {', '.join(both)}. Choose.")
    if cluster.controller_first and any(groups[name].node_type == CONTROLLER for name in to_delete):
        raise Invalid(f"The controller group of cluster {cluster.name} cannot be deleted. Delete the cluster instead.")
    leaving = [name for name in to_delete if groups[name].delete_requested_at is not None]
    if leaving:
        raise Conflict(f"Instance groups are being deleted already: {', '.join(leaving)}. Leave them out.")


def _revise_group(cluster: Cluster, old: Group, intent: GroupIntent, at: WorldTime) -> Group:
    if old.delete_requested_at is not None:
        raise Conflict(f"Instance group '{old.name}' is being deleted. Add it again when it is gone.")
    _check_fixed(old, intent)
    minimum = old.minimum if intent.minimum is None else intent.minimum
    if minimum > intent.count:
        raise Invalid(
            f"Instance group '{old.name}': InstanceCount {intent.count} must not be below its MinInstanceCount "
            f"{minimum}. Give a smaller MinInstanceCount with it."
        )
    new = _change_minimum(cluster, old, minimum, at)
    request = {**{key: value for key, value in old.spec["request"].items() if key not in _LEFT_OUT}, **intent.request}
    return replace(
        new,
        **upkeep.facts(old, intent, cluster.orchestrator, at),
        instance_types=intent.instance_types or old.instance_types,
        node_type=old.node_type or intent.node_type,
        target=intent.count,
        operation="update" if intent.count != old.target or minimum != old.minimum else old.operation,
        has_script=has_script(request),
        deep_check="OnStartDeepHealthChecks" in request,
        training_plan=request.get("TrainingPlanArn"),
        spec={**old.spec, "request": request},
    )


def _change_minimum(cluster: Cluster, old: Group, minimum: int, at: WorldTime) -> Group:
    """HP-15, HP-17: a new MinCount starts the three hours; what held when the group was last in service is kept."""
    if minimum == old.minimum:
        return old
    if old.in_service_at is not None and old.min_since is None:
        if old.current >= minimum:
            return replace(old, minimum=minimum)
        return replace(old, minimum=minimum, min_since=at, stable_target=old.target, stable_min=old.minimum)
    return replace(old, minimum=minimum, min_since=at if minimum else None)


def _check_fixed(old: Group, intent: GroupIntent) -> None:
    was = old.spec["request"]
    if intent.restricted != old.spec.get("restricted", False):
        raise Invalid(
            f"Instance group '{old.name}' is {'restricted' if not intent.restricted else 'not restricted'}. Give it in "
            f"{'RestrictedInstanceGroups' if not intent.restricted else 'InstanceGroups'}."
        )
    if intent.instance_types and (
        intent.single_type != ("InstanceType" in was)
        or (intent.single_type and intent.instance_types != old.instance_types)
    ):
        _refuse_change("InstanceType", old)
    if intent.node_type is not None and intent.node_type != old.node_type and old.node_type is not None:
        _refuse_change("SlurmConfig.NodeType", old)
    for member in _FIXED:
        if member in intent.request and intent.request[member] != was.get(member):
            _refuse_change(member, old)
    for member in _IMAGE:
        given = intent.request.get(member)
        if given not in (None, DEFAULT, was.get(member), old.image, ami(old.image)):
            raise Invalid(
                f"Instance group '{old.name}': UpdateCluster does not change {member}. Use UpdateClusterSoftware."
            )


def _refuse_change(member: str, old: Group) -> None:
    raise Invalid(
        f"Updating fields {member} on an InstanceGroup not supported: group '{old.name}' keeps what it was made with."
    )


def begin_update(cluster: Cluster, facts: Mapping[str, Any], busy: bool) -> Cluster:
    """The cluster with an update under way; an update during creation belongs to the creation.

    Why the update before was rolled back is told until this one begins.
    """
    begins = busy and cluster.in_service_at is not None
    return replace(
        cluster,
        operation="update" if begins else cluster.operation,
        failure_message=None if begins else cluster.failure_message,
        spec={**cluster.spec, **facts},
    )


def addition_problem(cluster: Cluster, group: Group | None, zones: Sequence[str], types: Sequence[str]) -> str | None:
    """Why BatchAddClusterNodes cannot add to the group: an item's error code, or None (HP-19, HP-31)."""
    if group is None:
        return "InstanceGroupNotFound"
    if group_status(cluster, group) not in _SCALABLE:
        return "InvalidInstanceGroupStatus"
    if not set(zones) <= set(group.zones):
        return "IncompatibleAvailabilityZones"
    return None if set(types) <= set(group.instance_types) else "IncompatibleInstanceTypes"


def check_growth(cluster: Cluster, groups: Mapping[str, Group], growth: Mapping[str, int]) -> None:
    """Refuse what UpdateCluster would refuse of the sum: a second controller (HP-11), a group beyond the limit."""
    for name, count in growth.items():
        group = groups.get(name)
        if group is None:
            continue
        if cluster.controller_first and group.node_type == CONTROLLER:
            raise Invalid(
                f"The controller instance group '{name}' must have InstanceCount 1. Add nodes to other groups."
            )
        if group.target + count > LARGEST_GROUP:
            raise Invalid(
                f"Instance group '{name}' would have {group.target + count} instances; it may have {LARGEST_GROUP}. "
                "Add fewer, or another group."
            )


def removal_problem(cluster: Cluster, group: Group, stopping: bool) -> tuple[str, str] | None:
    """Why BatchDeleteClusterNodes cannot take a node: an item's code and message, or None (HP-19, HP-31)."""
    if group.node_type == CONTROLLER and cluster.orchestrator == "slurm":
        return "NodeIdInUse", "The Slurm controller node cannot be deleted. Delete the cluster instead."
    if stopping:
        return "InvalidNodeStatus", "The node is being terminated already."
    status = group_status(cluster, group)
    if status not in _SCALABLE:
        return (
            "InvalidNodeStatus",
            f"Instance group '{group.name}' is in {status} state. Try again when it is InService.",
        )
    return None


def shrink(group: Group, count: int) -> Group:
    """The group without `count` of its nodes: the target falls with them, and MinCount with the target (HP-14)."""
    target = max(0, group.target - count)  # an update may have lowered it below the nodes that are still there
    return replace(
        group,
        slots=group.slots - count,
        target=target,
        minimum=min(group.minimum, target),
        operation=group.operation or "update",
    )
