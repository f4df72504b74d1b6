"""Volumes and network interfaces of the customer's that hang on nodes. A status is computed from facts and `now`."""

from collections.abc import Collection
from dataclasses import dataclass
from string import ascii_lowercase

from app.core.cluster import Cluster, cluster_status
from app.core.errors import Conflict, Invalid, LimitExceeded
from app.core.instance import Instance
from app.core.lifecycle import Delays
from app.core.node import Node
from app.core.times import WorldTime, after

ATTACHING, ATTACHED, DETACHING, DETACHED, BUSY = "attaching", "attached", "detaching", "detached", "busy"
DEVICES = tuple(f"/dev/xvd{letter}" for letter in ascii_lowercase[1:])
"""The names that a node gives to volumes, in this order (chosen): so it takes 25."""
_OWN_INTERFACES = 2
"""Of a node's interfaces HyperPod has two itself: its own and the one in the customer's VPC (chosen)."""


@dataclass(frozen=True, slots=True)
class Volume:
    """An EBS volume and the node that it was last attached to. `held` says that this instance still exists."""

    volume_id: str
    cluster_id: str
    instance_id: str
    device: str
    attach_requested_at: WorldTime
    detach_requested_at: WorldTime | None
    busy_at: WorldTime | None
    settles_at: WorldTime | None
    held: bool = True


@dataclass(frozen=True, slots=True)
class Interface:
    """An elastic network interface and the node that it is attached to. `held` as of a volume."""

    interface_id: str
    cluster_id: str
    instance_id: str
    attachment_id: str
    attached_at: WorldTime
    held: bool = True


def volume_status(volume: Volume, now: WorldTime, delays: Delays) -> str:
    """The value of `VolumeAttachmentStatus`. What its instance took with it is detached."""
    if not volume.held:
        return DETACHED
    if volume.detach_requested_at is not None:
        if now < after(volume.detach_requested_at, delays["detach"]):
            return DETACHING
        return DETACHED if volume.busy_at is None else BUSY
    return ATTACHING if now < after(volume.attach_requested_at, delays["attach"]) else ATTACHED


def check_cluster(cluster: Cluster, verb: str) -> None:
    """The refusals that the cluster is a reason for."""
    status = cluster_status(cluster)
    if status in ("Failed", "Deleting"):
        raise Conflict(
            f"Cluster '{cluster.name}' is in {status} state: nothing can be {verb}ed. Use a cluster that is InService."
        )
    if status != "InService":
        raise Invalid(f"Cluster '{cluster.name}' is in {status} state. {verb.capitalize()} when it is InService.")


def check_node(node: Instance, verb: str) -> None:
    """Only a running node takes anything."""
    if node.status is not Node.RUNNING or node.terminate_at is not None:
        raise Invalid(f"Node '{node.instance_id}' is not Running. {verb.capitalize()} when it is.")


def free_device(used: Collection[str]) -> str:
    """The first name that no volume of the node has."""
    device = next((one for one in DEVICES if one not in used), None)
    if device is None:
        raise Invalid(f"The node has {len(DEVICES)} volumes, and no device name is left. Detach one first.")
    return device


def interface_limit(vcpu: int, efa: int) -> int:
    """How many interfaces a user may attach to a node: by EC2's usual steps, less HyperPod's own (chosen)."""
    usual = 3 if vcpu <= 2 else 4 if vcpu <= 8 else 8 if vcpu <= 48 else 15
    return max(usual, 2 * efa) - _OWN_INTERFACES


def check_room(node: Instance, attached: int, limit: int) -> None:
    """LimitExceeded if the node has all that its type takes."""
    if attached >= limit:
        raise LimitExceeded(
            f"Node '{node.instance_id}' ({node.instance_type}) has {attached} network interfaces attached, and its "
            f"instance type takes {limit} beside HyperPod's own. Use another node or a larger instance type."
        )
