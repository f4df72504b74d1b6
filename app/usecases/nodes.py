"""Nodes as requests see them: list, describe, add, delete."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.core.cluster import Cluster, Group, cluster_status
from app.core.cluster_events import Event
from app.core.errors import Invalid, NotFound
from app.core.instance import Instance
from app.core.node import vendor_status
from app.core.scope import Scope
from app.core.updating import addition_problem, begin_update, check_growth, check_may_update, removal_problem, shrink
from app.core.world import World
from app.store import clusters, instances, pages
from app.store.db import Tx
from app.store.pages import NodePage
from app.usecases import limits, once, operations, reserving
from app.usecases.clusters import must_get, must_lock, save_due, scaling, unknown
from app.usecases.provisioning import Policy, add_places, grown

MOST_ADDED = 50
ADD = "BatchAddClusterNodes"
NO_LOGICAL_IDS = "Logical ids of nodes need NodeProvisioningMode Continuous. Use instance ids."


@dataclass(frozen=True, slots=True)
class Addition:
    """An item of BatchAddClusterNodes: `count` more nodes of a group, in some zones, of some types."""

    group: str
    count: int
    zones: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


async def find(
    tx: Tx, scope: Scope, name_or_arn: str, *, instance_id: str | None, logical_id: str | None
) -> tuple[Cluster, Group, Instance]:
    """One node by either of its ids."""
    cluster = await must_get(tx, scope, name_or_arn)
    if logical_id is not None and not cluster.continuous:
        raise Invalid(NO_LOGICAL_IDS)
    by, value = ("instance_id", instance_id) if instance_id is not None else ("logical_id", logical_id)
    nodes = await instances.find(tx, scope, cluster.cluster_id, by=by, values=[value or ""])
    if not nodes:
        raise no_node(value, cluster)
    group = (await clusters.groups(tx, scope, cluster.cluster_id)).get(nodes[0].group)
    if group is None:  # its group went with it between the two statements
        raise no_node(value, cluster)
    return cluster, group, nodes[0]


def no_node(value: str | None, cluster: Cluster) -> NotFound:
    text = f"Node '{value}' not found in cluster '{cluster.name}'. ListClusterNodes shows its nodes."
    return NotFound(text, ("node", str(value), cluster.name))


async def page(tx: Tx, scope: Scope, name_or_arn: str, **question: Any) -> NodePage:
    """A page of ListClusterNodes."""
    found = await pages.nodes(tx, scope, name_or_arn, **question)
    if found is None:
        raise unknown(name_or_arn)
    if question["unlaunched"] and not found.continuous:
        raise Invalid(NO_LOGICAL_IDS)
    return found


async def add(
    tx: Tx, scope: Scope, name_or_arn: str, items: Sequence[Addition], token: str | None, policy: Policy
) -> dict[str, Any]:
    """Raise the targets of groups, item by item; the answer names the new nodes by their logical ids (HP-31)."""
    if sum(item.count for item in items) > MOST_ADDED:
        raise Invalid(f"A call of BatchAddClusterNodes adds at most {MOST_ADDED} nodes in all. Send several calls.")
    world, cluster = await must_lock(tx, scope, name_or_arn, policy)
    if kept := await once.answered(tx, scope, ADD, token, (cluster.cluster_id, items), world.now, Invalid):
        return await _repeat(tx, scope, cluster, kept)
    answer = await _add(tx, scope, world, cluster, items, policy)
    await once.keep(tx, scope, ADD, token, answer)
    return answer


async def _add(
    tx: Tx, scope: Scope, world: World, cluster: Cluster, items: Sequence[Addition], policy: Policy
) -> dict[str, Any]:
    _check_may_add(cluster)
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
    growth: Counter[str] = Counter()
    for item in items:
        growth[item.group] += item.count
    check_growth(cluster, groups, growth)
    changed = dict(groups)
    answer: dict[str, list[Any]] = {"Successful": [], "Failed": []}
    for item in items:
        problem = addition_problem(cluster, changed.get(item.group), item.zones, item.types)
        if problem is not None:
            answer["Failed"].append(_failed_addition(item, problem))
            continue
        group = changed[item.group]
        new = [replace(n, wish=_wish(item)) for n in add_places(cluster, group, item.count, world.now, world.seed)]
        await instances.insert(tx, scope, cluster.cluster_id, new, [world.now] * len(new))
        raised = replace(grown(group, item.count), target=group.target + item.count, operation="update")
        changed[item.group] = raised
        answer["Successful"] += [_added(item, node) for node in new]
    await reserving.check(tx, scope, cluster.cluster_id, groups, list(changed.values()), world.now)
    await limits.check(tx, scope, cluster.cluster_id, list(changed.values()))
    await _save(tx, scope, world, cluster, groups, changed, policy)
    return answer


def _check_may_add(cluster: Cluster) -> None:
    if not cluster.continuous:
        raise Invalid(
            f"BatchAddClusterNodes needs NodeProvisioningMode Continuous, which cluster '{cluster.name}' has not. "
            "Use UpdateCluster with a larger InstanceCount."
        )
    check_may_update(cluster)
    status = cluster_status(cluster)
    if status != "InService":
        raise Invalid(f"Cluster '{cluster.name}' is in {status} state. Add nodes when it is InService.")


def _wish(item: Addition) -> dict[str, tuple[str, ...]] | None:
    wish = {"zones": item.zones, "types": item.types}
    return {key: value for key, value in wish.items() if value} or None


def _added(item: Addition, node: Instance) -> dict[str, Any]:
    return {
        "NodeLogicalId": node.logical_id,
        "InstanceGroupName": node.group,
        "Status": vendor_status(node.status),
        "AvailabilityZones": list(item.zones) or None,
        "InstanceTypes": list(item.types) or None,
    }


_ADDITION_TEXT = {
    "InstanceGroupNotFound": "There is no such instance group in the cluster. DescribeCluster lists its groups.",
    "InvalidInstanceGroupStatus": "The instance group is not InService. Try again when it is.",
    "IncompatibleAvailabilityZones": "The instance group has no subnet in every one of these availability zones.",
    "IncompatibleInstanceTypes": "The instance group does not have every one of these instance types.",
}


def _failed_addition(item: Addition, code: str) -> dict[str, Any]:
    return {
        "InstanceGroupName": item.group,
        "ErrorCode": code,
        "FailedCount": item.count,
        "AvailabilityZones": list(item.zones) or None,
        "InstanceTypes": list(item.types) or None,
        "Message": _ADDITION_TEXT[code],
    }


async def _repeat(tx: Tx, scope: Scope, cluster: Cluster, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer of the first call with this token, with the nodes' present statuses."""
    names = [one["NodeLogicalId"] for one in answer["Successful"]]
    nodes = await instances.find(tx, scope, cluster.cluster_id, by="logical_id", values=names)
    status = {node.logical_id: vendor_status(node.status) for node in nodes}
    for one in answer["Successful"]:
        one["Status"] = status.get(one["NodeLogicalId"], "NotFound")
    return answer


async def delete(
    tx: Tx, scope: Scope, name_or_arn: str, instance_ids: Sequence[str], logical_ids: Sequence[str], policy: Policy
) -> dict[str, Any]:
    """Take exactly the named nodes; the targets of their groups fall with them (HP-31)."""
    if not instance_ids and not logical_ids:
        raise Invalid("Give NodeIds, NodeLogicalIds or both.")
    world, cluster = await must_lock(tx, scope, name_or_arn, policy)
    _check_may_delete(cluster, logical_ids)
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
    by_id = await _sort_out(tx, scope, cluster, groups, "instance_id", instance_ids)
    by_logical_id = await _sort_out(tx, scope, cluster, groups, "logical_id", logical_ids)
    taken = {node.logical_id: node.group for node in (*by_id.taken.values(), *by_logical_id.taken.values())}
    await instances.stop_nodes(tx, scope, cluster.cluster_id, world.now, sorted(taken))
    lost = Counter(taken.values())
    changed = {name: shrink(group, lost[name]) if lost[name] else group for name, group in groups.items()}
    await _save(tx, scope, world, cluster, groups, changed, policy)
    return {
        "Successful": list(by_id.taken) or None,
        "Failed": [{"NodeId": one, **problem} for one, problem in by_id.problems.items()] or None,
        "SuccessfulNodeLogicalIds": list(by_logical_id.taken) or None,
        "FailedNodeLogicalIds": [{"NodeLogicalId": one, **problem} for one, problem in by_logical_id.problems.items()]
        or None,
    }


def _check_may_delete(cluster: Cluster, logical_ids: Sequence[str]) -> None:
    if not cluster.continuous and logical_ids:
        raise Invalid(NO_LOGICAL_IDS)
    check_may_update(cluster)
    status = cluster_status(cluster)
    if status != "InService":
        raise Invalid(f"Cluster '{cluster.name}' is in {status} state. Delete nodes when it is InService.")


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Which of the asked ids can be taken, and what is wrong with the others."""

    taken: dict[str, Instance]
    problems: dict[str, dict[str, str]]


async def _sort_out(
    tx: Tx, scope: Scope, cluster: Cluster, groups: Mapping[str, Group], by: str, asked: Sequence[str]
) -> _Sorted:
    found = await instances.find(tx, scope, cluster.cluster_id, by=by, values=asked) if asked else []
    nodes = {getattr(node, by): node for node in found}
    result = _Sorted({}, {})
    for one in dict.fromkeys(asked):
        node = nodes.get(one)
        if node is None:
            problem: tuple[str, str] | None = ("NodeIdNotFound", f"Node '{one}' not found in '{cluster.name}'.")
        else:
            problem = removal_problem(cluster, groups[node.group], node.terminate_at is not None)
        if problem is not None:
            result.problems[one] = {"Code": problem[0], "Message": problem[1]}
        elif node is not None:
            result.taken[one] = node
    return result


async def _save(
    tx: Tx,
    scope: Scope,
    world: World,
    cluster: Cluster,
    before: dict[str, Group],
    after_: dict[str, Group],
    policy: Policy,
) -> None:
    touched = [group for name, group in after_.items() if group is not before[name]]
    if not touched:
        return
    now = world.now
    await operations.record_scaling(tx, scope, world.seed, cluster, before, after_, now)
    await clusters.save_groups(tx, scope, cluster.cluster_id, touched)
    told = [Event("cluster-started", now, params={"operation": "update"})]
    told += [Event("group-started", now, g.name, params={"operation": "update", **scaling(g)}) for g in touched]
    await save_due(tx, scope, begin_update(cluster, {}, busy=True), told, now, policy)
