"""Nodes as requests see them: list, describe, add, delete."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from app.core.cluster import Cluster, Group, cluster_status
from app.core.cluster_events import Event
from app.core.errors import Invalid, NotFound
from app.core.instance import Instance, vendor_status
from app.core.scope import Scope
from app.core.times import after
from app.core.updating import addition_problem, begin_update, check_may_update, removal_problem, shrink
from app.store import clusters, idempotency, instances, pages
from app.store.db import Tx
from app.store.pages import NodePage
from app.usecases import limits
from app.usecases.clusters import must_get, must_lock, save_due, scaling, unknown, world_of
from app.usecases.provisioning import Policy, add_places, grown

TOKEN_LIFE = timedelta(hours=8)
MOST_ADDED = 50


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
    by, value = ("instance_id", instance_id) if instance_id is not None else ("logical_id", logical_id)
    nodes = await instances.find(tx, scope, cluster.cluster_id, by=by, values=[value or ""])
    if not nodes:
        raise NotFound(f"Node '{value}' not found in cluster '{cluster.name}'. ListClusterNodes shows its nodes.")
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
    return cluster, groups[nodes[0].group], nodes[0]


async def page(tx: Tx, scope: Scope, name_or_arn: str, **question: Any) -> NodePage:
    """A page of ListClusterNodes."""
    found = await pages.nodes(tx, scope, name_or_arn, **question)
    if found is None:
        raise unknown(name_or_arn)
    return found


async def add(
    tx: Tx, scope: Scope, name_or_arn: str, items: Sequence[Addition], token: str | None, policy: Policy
) -> dict[str, Any]:
    """Raise the targets of groups, item by item; the answer names the new nodes by their logical ids (HP-31)."""
    if sum(item.count for item in items) > MOST_ADDED:
        raise Invalid(f"A call of BatchAddClusterNodes adds at most {MOST_ADDED} nodes in all. Send several calls.")
    cluster = await must_lock(tx, scope, name_or_arn)
    world = await world_of(tx, scope)
    if token is not None:
        kept = await idempotency.claim(
            tx,
            scope,
            "BatchAddClusterNodes",
            token,
            repr((cluster.cluster_id, items)),
            world.now,
            after(world.now, TOKEN_LIFE),
        )
        if kept is not None:
            return await _repeat(tx, scope, cluster, kept, repr((cluster.cluster_id, items)))
    _check_may_add(cluster)
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
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
    await limits.check(tx, scope, cluster.cluster_id, list(changed.values()))
    await _save(tx, scope, cluster, groups, changed, policy, world.now)
    if token is not None:
        await idempotency.keep(tx, scope, "BatchAddClusterNodes", token, answer)
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
    "InstanceGroupNotFound": "There is no such instance group in the cluster.",
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


async def _repeat(tx: Tx, scope: Scope, cluster: Cluster, kept: idempotency.Kept, request_hash: str) -> dict[str, Any]:
    """The answer of the first call with this token, with the nodes' present statuses."""
    if kept.request_hash != request_hash:
        raise Invalid("ClientToken was used with other parameters within the last 8 hours. Use a new token.")
    answer: dict[str, Any] = kept.answer
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
    cluster = await must_lock(tx, scope, name_or_arn)
    world = await world_of(tx, scope)
    if not cluster.continuous and logical_ids:
        raise Invalid("NodeLogicalIds need NodeProvisioningMode Continuous. Use NodeIds.")
    check_may_update(cluster)
    status = cluster_status(cluster)
    if status != "InService":
        raise Invalid(f"Cluster '{cluster.name}' is in {status} state. Delete nodes when it is InService.")
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
    answer: dict[str, list[Any]] = {}
    taken: dict[str, str] = {}
    for by, asked, member, done, failed in (
        ("instance_id", instance_ids, "NodeId", "Successful", "Failed"),
        ("logical_id", logical_ids, "NodeLogicalId", "SuccessfulNodeLogicalIds", "FailedNodeLogicalIds"),
    ):
        nodes = await instances.find(tx, scope, cluster.cluster_id, by=by, values=asked)
        found = {getattr(node, by): node for node in nodes}
        for one in dict.fromkeys(asked):
            node = found.get(one)
            problem = (
                ("NodeIdNotFound", f"Node '{one}' not found in cluster '{cluster.name}'.")
                if node is None
                else removal_problem(cluster, groups[node.group], node.terminate_at is not None)
            )
            if problem is not None:
                answer.setdefault(failed, []).append({member: one, "Code": problem[0], "Message": problem[1]})
            else:
                assert node is not None
                taken[node.logical_id] = node.group
                answer.setdefault(done, []).append(one)
    await instances.stop_nodes(tx, scope, cluster.cluster_id, world.now, sorted(taken))
    changed = {
        name: shrink(group, lost) if (lost := list(taken.values()).count(name)) else group
        for name, group in groups.items()
    }
    await _save(tx, scope, cluster, groups, changed, policy, world.now)
    return answer


async def _save(
    tx: Tx,
    scope: Scope,
    cluster: Cluster,
    before: dict[str, Group],
    after_: dict[str, Group],
    policy: Policy,
    now: Any,
) -> None:
    touched = [group for name, group in after_.items() if group is not before[name]]
    if not touched:
        return
    await clusters.save_groups(tx, scope, cluster.cluster_id, touched)
    told = [Event("cluster-started", now, params={"operation": "update"})]
    told += [Event("group-started", now, g.name, params={"operation": "update", **scaling(g)}) for g in touched]
    await save_due(tx, scope, begin_update(cluster, {}, busy=True), told, now, policy)
