"""Reboots, replacements and deep health checks as requests ask for them (HP-29, HP-31)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core import repair
from app.core.cluster import Cluster, Group, cluster_status
from app.core.errors import Invalid
from app.core.instance import Instance, next_due
from app.core.repair import Checks, Problem
from app.core.scope import Scope
from app.core.times import WorldTime
from app.core.updating import check_may_update
from app.core.world import World
from app.store import clusters, instances
from app.store.db import Tx
from app.usecases import failing, operations
from app.usecases.clusters import must_lock, save_due
from app.usecases.nodes import NO_LOGICAL_IDS
from app.usecases.provisioning import Policy


@dataclass(frozen=True, slots=True)
class Deed:
    """What a batch operation does to a node, and what keeps it from that."""

    operation: str
    check: Callable[[Cluster, Group, Instance], Problem | None]
    change: Callable[[Instance, WorldTime], Instance]


REBOOT = Deed("BatchRebootClusterNodes", repair.reboot_problem, repair.reboot)
REPLACE = Deed("BatchReplaceClusterNodes", repair.replace_problem, repair.replace)


async def reboot(
    tx: Tx, scope: Scope, name_or_arn: str, instance_ids: Sequence[str], logical_ids: Sequence[str], policy: Policy
) -> dict[str, Any]:
    """BatchRebootClusterNodes, item by item."""
    asked = (instance_ids, logical_ids)
    return await _batch(tx, scope, name_or_arn, asked, policy, REBOOT)


async def replace(
    tx: Tx, scope: Scope, name_or_arn: str, instance_ids: Sequence[str], logical_ids: Sequence[str], policy: Policy
) -> dict[str, Any]:
    """BatchReplaceClusterNodes, item by item."""
    asked = (instance_ids, logical_ids)
    return await _batch(tx, scope, name_or_arn, asked, policy, REPLACE)


async def _batch(
    tx: Tx,
    scope: Scope,
    name_or_arn: str,
    asked: tuple[Sequence[str], Sequence[str]],
    policy: Policy,
    deed: Deed,
) -> dict[str, Any]:
    _check_batch(*asked)
    world, cluster = await must_lock(tx, scope, name_or_arn, policy)
    if asked[1] and not cluster.continuous:
        raise Invalid(NO_LOGICAL_IDS)
    _check_in_service(cluster)
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
    taken: dict[str, Instance] = {}
    answer: dict[str, Any] = {}
    for by, ids, good, bad, key in (
        ("instance_id", asked[0], "Successful", "Failed", "NodeId"),
        ("logical_id", asked[1], "SuccessfulNodeLogicalIds", "FailedNodeLogicalIds", "NodeLogicalId"),
    ):
        found = await instances.find(tx, scope, cluster.cluster_id, by=by, values=ids) if ids else []
        nodes = {getattr(node, by): node for node in found}
        problems = {one: _problem(cluster, groups, nodes.get(one), one, deed) for one in dict.fromkeys(ids)}
        await _strike(tx, world, cluster, deed, nodes, problems)
        taken |= {nodes[one].logical_id: nodes[one] for one, problem in problems.items() if problem is None}
        answer[good] = [one for one, problem in problems.items() if problem is None] or None
        answer[bad] = [{key: one, "ErrorCode": p[0], "Message": p[1]} for one, p in problems.items() if p] or None
    await _save(tx, scope, world, cluster, [deed.change(node, world.now) for node in taken.values()], policy)
    return answer


def _problem(cluster: Cluster, groups: dict[str, Group], node: Instance | None, one: str, deed: Deed) -> Problem | None:
    if node is None:
        return "InstanceIdNotFound", f"Node '{one}' not found in '{cluster.name}'. ListClusterNodes shows its nodes."
    return deed.check(cluster, groups[node.group], node)


async def _strike(
    tx: Tx,
    world: World,
    cluster: Cluster,
    deed: Deed,
    nodes: Mapping[str, Instance],
    problems: dict[str, Problem | None],
) -> None:
    """CT-3: an `internal-error` of the operation strikes items one by one."""
    ready = [one for one, problem in problems.items() if problem is None]
    subjects = [failing.subject(world, cluster, deed.operation, nodes[one]) for one in ready]
    for one, rule in zip(ready, await failing.strike(tx, world, subjects) if subjects else (), strict=True):
        if rule is not None:
            problems[one] = ("InternalServerError", rule.message or "An internal error occurred. Try again.")


def _check_batch(instance_ids: Sequence[str], logical_ids: Sequence[str]) -> None:
    if not instance_ids and not logical_ids:
        raise Invalid("Give NodeIds, NodeLogicalIds or both.")
    count = len(instance_ids) + len(logical_ids)
    if count > repair.MOST_NODES:
        raise Invalid(f"A call takes at most {repair.MOST_NODES} nodes in all, not {count}. Send several calls.")


def _check_in_service(cluster: Cluster) -> None:
    check_may_update(cluster)
    status = cluster_status(cluster)
    if status != "InService":
        raise Invalid(f"Cluster '{cluster.name}' is in {status} state. Try again when it is InService.")


async def start_health_check(
    tx: Tx, scope: Scope, name_or_arn: str, wanted: Sequence[Checks], policy: Policy
) -> Cluster:
    """StartClusterHealthCheck: the nodes are DeepHealthCheckInProgress until the checks are done."""
    world, cluster = await must_lock(tx, scope, name_or_arn, policy)
    _check_in_service(cluster)
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
    repair.check_examination(cluster, groups, wanted)
    nodes: list[Instance] = []
    for one in wanted:
        members = await instances.of_group(tx, scope, cluster.cluster_id, one.group)
        nodes += repair.examine(one, members, world.now)
    asked = [
        {"InstanceGroupName": one.group, "DeepHealthChecks": list(one.kinds)}
        | ({"InstanceIds": list(one.instance_ids)} if one.instance_ids else {})
        for one in wanted
    ]
    if cluster.continuous:
        await operations.begin_health_check(tx, scope, world.seed, cluster, asked, world.now)
    await _save(tx, scope, world, cluster, nodes, policy)
    return cluster


async def _save(
    tx: Tx, scope: Scope, world: World, cluster: Cluster, nodes: Sequence[Instance], policy: Policy
) -> None:
    if nodes:
        dues = [next_due(node, world.timings.delays) for node in nodes]
        await instances.save(tx, scope, cluster.cluster_id, nodes, dues)
        await save_due(tx, scope, cluster, [], world.now, policy)
