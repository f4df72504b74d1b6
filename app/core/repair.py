"""What reboots, replacements and deep health checks ask of nodes, and what is refused (HP-19, HP-29, HP-31)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.core.cluster import CONTROLLER, Cluster, Group, group_status, is_open
from app.core.errors import Invalid
from app.core.instance import Instance
from app.core.node import Node
from app.core.times import WorldTime
from app.core.values import evolve

MOST_NODES = 25
_READY = (Node.RUNNING, Node.ILL, Node.UNPATCHED)
_BETWEEN_NODES = ("InstanceConnectivity", "MultiNodeTrainingValidation")
FEWEST_CONNECTED = 2
"""A check of the connections between nodes needs at least two."""

Problem = tuple[str, str]
"""An item's error code and message."""


@dataclass(frozen=True, slots=True)
class Checks:
    """The deep health checks wanted of a group: of some of its instances, or of all that run."""

    group: str
    instance_ids: Sequence[str]
    kinds: Sequence[str]


def reboot(node: Instance, at: WorldTime) -> Instance:
    """The node is to reboot at `at`; it keeps its instance, and no lifecycle script runs."""
    return evolve(node, reboot_at=at)


def replace(node: Instance, at: WorldTime) -> Instance:
    """The node is to leave its instance for another at `at`."""
    return evolve(node, replace_at=at)


def reboot_problem(cluster: Cluster, group: Group, node: Instance) -> Problem | None:
    """Why BatchRebootClusterNodes cannot take the node."""
    if not is_open(cluster, group):
        status = group_status(cluster, group)
        return "InvalidInstanceStatus", f"Instance group '{group.name}' is {status}. Try again when it is InService."
    if node.replace_at is not None or node.reboot_at is not None:
        return "InstanceIdInUse", "The node is being rebooted or replaced already."
    if node.status not in _READY or node.terminate_at is not None:
        return (
            "InvalidInstanceStatus",
            "The node is neither Running nor in Failure while it runs. DescribeClusterNode shows its status.",
        )
    return None


def replace_problem(cluster: Cluster, group: Group, node: Instance) -> Problem | None:
    """Why BatchReplaceClusterNodes cannot take the node."""
    if group.node_type == CONTROLLER and cluster.orchestrator == "slurm":
        return "InstanceIdInUse", "The Slurm controller node cannot be replaced. Reboot it instead."
    return reboot_problem(cluster, group, node)


def check_examination(cluster: Cluster, groups: Mapping[str, Group], wanted: Sequence[Checks]) -> None:
    """Refuse deep health checks of groups that are not there or not InService (HP-19)."""
    for one in wanted:
        group = groups.get(one.group)
        if group is None:
            raise Invalid(
                f"Instance group '{one.group}' is not in cluster '{cluster.name}'. DescribeCluster lists them."
            )
        if not is_open(cluster, group):
            status = group_status(cluster, group)
            raise Invalid(f"Instance group '{one.group}' is in {status} state. Start checks when it is InService.")
    names = [one.group for one in wanted]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Invalid(f"DeepHealthCheckConfigurations names groups more than once: {', '.join(twice)}.")


def examine(one: Checks, nodes: Sequence[Instance], at: WorldTime) -> list[Instance]:
    """The nodes of the group that are to be checked at `at`. Invalid for a named one that cannot be, or for too few."""
    named = {node.instance_id: node for node in nodes}
    missing = [instance for instance in one.instance_ids if instance not in named]
    if missing:
        raise Invalid(
            f"Instance group '{one.group}' has no instance {', '.join(missing)}. ListClusterNodes shows them."
        )
    asked = [named[instance] for instance in one.instance_ids] or list(nodes)
    ready = [node for node in asked if node.status is Node.RUNNING and node.terminate_at is None]
    if one.instance_ids and len(ready) < len(asked):
        busy = sorted(str(node.instance_id) for node in asked if node not in ready)
        raise Invalid(f"Not Running, so that no deep health check can start: {', '.join(busy)}. Wait until they run.")
    if not ready:
        raise Invalid(f"Instance group '{one.group}' has no running instance to check. Wait until one runs.")
    between = sorted(set(one.kinds) & set(_BETWEEN_NODES))
    if between and len(ready) < FEWEST_CONNECTED:
        raise Invalid(
            f"{', '.join(between)} needs at least {FEWEST_CONNECTED} running instances of group '{one.group}'; "
            f"there is {len(ready)}. Use InstanceStress alone."
        )
    return [evolve(node, examine_at=at) for node in ready]
