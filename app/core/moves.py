"""Nodes that change their group, and their cluster with it, without ending: what is refused, and both ends of it.

At the request the node begins to detach, and the target group counts it from then on; a while later it leaves the one
and arrives in the other at the same moment, each cluster seeing to its own end.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from app.core.cluster import Cluster, Group, group_status, is_open
from app.core.errors import Invalid
from app.core.instance import Instance
from app.core.intent import EKS
from app.core.lifecycle import fire
from app.core.metering import Interval
from app.core.node import DETACH, Node
from app.core.times import WorldTime, after
from app.core.timings import Timings
from app.core.values import evolve

Problem = tuple[str, str]
"""An item's error code and message."""
_BUSY = (Node.REBOOTING, Node.EXAMINED, Node.VACATING, Node.DETACHING, Node.ATTACHING)
_ALIKE = ("CapacityRequirements", "TrainingPlanArn")
"""Of the group's members those in which both groups must agree (chosen): a machine keeps how it was bought."""


@dataclass(frozen=True, slots=True)
class Move:
    """A node on its way into the group: the instance that arrives, and when."""

    logical_id: str
    group: str
    ordinal: int
    arrives_at: WorldTime
    created_at: WorldTime
    instance_id: str
    instance_type: str
    zone: str | None
    launched_at: WorldTime | None
    attempt: int
    image: str | None
    patched_at: WorldTime | None


def check_cluster(cluster: Cluster) -> None:
    """EKS with continuous provisioning, both of them."""
    if cluster.orchestrator != EKS or not cluster.continuous:
        raise Invalid(
            f"Nodes of cluster '{cluster.name}' cannot be moved: MoveClusterNodes needs the EKS orchestrator and "
            "NodeProvisioningMode Continuous. Delete nodes here and add others there."
        )


def check_groups(clusters: tuple[Cluster, Cluster], source: Group, target: Group) -> None:
    """Two groups, both open, of machines that were bought in the same way."""
    if (clusters[0].cluster_id, source.name) == (clusters[1].cluster_id, target.name):
        raise Invalid(f"Source and target are the same instance group '{source.name}'. Name two.")
    for cluster, group in zip(clusters, (source, target), strict=True):
        if not is_open(cluster, group):
            status = group_status(cluster, group)
            raise Invalid(f"Instance group '{group.name}' is in {status} state. Move nodes when it is InService.")
        if group.spec.get("restricted"):
            raise Invalid(
                f"Instance group '{group.name}' is restricted: its nodes stay where they are. Name another group."
            )
        if group.training_plan is not None:
            raise Invalid(
                f"Instance group '{group.name}' is on a training plan, and machines do not leave or join one. "
                "Name another group."
            )
    for member in _ALIKE:
        if source.spec["request"].get(member) != target.spec["request"].get(member):
            raise Invalid(f"Instance groups '{source.name}' and '{target.name}' differ in {member}. Choose another.")


def problem(node: Instance | None, source: Group, target: Group, volumes: Collection[str]) -> Problem | None:
    """Why the node cannot be moved, or None. `volumes` are the instances that have any attached."""
    if node is None or node.group != source.name:
        return "NodeIdNotFound", f"There is no such node in instance group '{source.name}'."
    marked = {node.reboot_at, node.replace_at, node.examine_at} != {None}
    if node.status in _BUSY or (marked and node.status is Node.RUNNING):
        return "NodeIdInUse", "The node is being rebooted, replaced, examined or moved. Try again when that is over."
    if node.status is not Node.RUNNING or node.terminate_at is not None:
        return "InvalidNodeStatus", "The node is not Running. Move it when it is."
    if node.instance_type not in target.instance_types:
        return (
            "NodeInstanceTypeMismatch",
            f"Instance group '{target.name}' takes {', '.join(target.instance_types)}, not {node.instance_type}.",
        )
    if node.zone not in target.zones:
        return "InvalidNodeStatus", f"The node is in {node.zone}, where instance group '{target.name}' has no subnet."
    if node.instance_id in volumes:
        return "InvalidNodeStatus", "The node has an EBS volume attached. Detach it first."
    return None


def check_minimum(group: Group, count: int) -> None:
    """Refuse to take so many that MinCount is no longer met."""
    if group.target - count < group.minimum:
        raise Invalid(
            f"Moving {count} nodes would leave instance group '{group.name}' with {group.target - count}, below its "
            f"MinInstanceCount {group.minimum}. Move fewer, or lower it with UpdateCluster."
        )


def detached(node: Instance, now: WorldTime) -> Instance:
    """The node on its way out; nothing of its old cluster's touches it any more."""
    leaving, _ = fire(evolve(node, move_at=now), now, DETACH)
    return evolve(leaving, terminate_at=now, hardware_fault_at=None, degraded_at=None)


def left(group: Group, count: int) -> Group:
    """The source group without so many of its running nodes; their rows stay until they have left."""
    return replace(
        group,
        slots=group.slots - count,
        current=group.current - count,
        target=max(0, group.target - count),
        operation=group.operation or "update",
    )


def joined(group: Group, count: int) -> Group:
    """The target group with places for so many."""
    return replace(
        group,
        rows=group.rows + count,
        slots=group.slots + count,
        target=group.target + count,
        next_ordinal=group.next_ordinal + count,
        operation=group.operation or "update",
    )


def begun(nodes: Sequence[Instance], target: Group, now: WorldTime, timings: Timings) -> list[Move]:
    """The nodes on their way to the group, into its next places."""
    at = after(now, timings.delays["move_out"])
    return [
        Move(
            node.logical_id,
            target.name,
            target.next_ordinal + place,
            at,
            node.created_at,
            node.instance_id or "",
            node.instance_type,
            node.zone,
            node.launched_at,
            node.attempt,
            node.image,
            node.patched_at,
        )
        for place, node in enumerate(nodes)
    ]


def arrived(move: Move, group: Group, cluster: Cluster, billings: int) -> Instance:
    """The node in its new group, whose lifecycle script it will run; one whose group or cluster is going, goes too."""
    at = move.arrives_at
    leaving = cluster.deletion_begun_at is not None or group.deletion_begun_at is not None
    return Instance(
        group=move.group,
        ordinal=move.ordinal,
        logical_id=move.logical_id,
        instance_type=move.instance_type,
        created_at=move.created_at,
        listed_at=move.launched_at or at,
        status=Node.ATTACHING,
        since=at,
        attempt=move.attempt,
        instance_id=move.instance_id,
        zone=move.zone,
        launched_at=move.launched_at,
        script_at=at if group.has_script else None,
        script_returns_at=at if group.has_script else None,
        deep_check_at=at if group.deep_check else None,
        terminate_at=at if leaving else None,
        image=move.image,
        patched_at=move.patched_at,
        billings=billings + 1,
        billed_from=at,
    )


def bill(node: Instance, previous_end: WorldTime | None) -> Interval:
    """What the node costs in its new cluster, from its arrival on; in the old one it has just ended."""
    return Interval(
        node.logical_id,
        node.billings,
        node.instance_id or "",
        node.group,
        node.instance_type,
        node.since,
        None,
        previous_end,
    )
