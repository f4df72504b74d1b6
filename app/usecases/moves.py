"""MoveClusterNodes: running nodes change their group, in one cluster or between two."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.core import moves as core
from app.core.cluster import Cluster, Group, cluster_status
from app.core.cluster_events import Event
from app.core.errors import Invalid, NotFound
from app.core.instance import Instance, next_due
from app.core.node import Node
from app.core.scope import Scope
from app.core.updating import begin_update, check_may_update
from app.core.world import World
from app.store import attachments, clusters, instances, moves
from app.store.db import Tx
from app.usecases import guests, limits, once, operations
from app.usecases.clusters import must_lock_all, save_due, scaling
from app.usecases.provisioning import Policy

MOVE = "MoveClusterNodes"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a request asks: nodes by one of their ids, or so many of the group's."""

    source: tuple[str, str]
    target: tuple[str, str]
    """The ARN of the cluster and the name of the group."""
    instance_ids: Sequence[str]
    logical_ids: Sequence[str]
    count: int | None


@dataclass(frozen=True, slots=True)
class _Ends:
    """The locked clusters and their groups, which are the same ones when a node stays in its cluster."""

    clusters: tuple[Cluster, Cluster]
    groups: tuple[dict[str, Group], dict[str, Group]]
    source: Group
    target: Group


async def move(tx: Tx, scope: Scope, wish: Wish, token: str | None, policy: Policy) -> dict[str, Any]:
    """Accept the nodes for the move; the answer names them, and those that cannot be moved with the reason."""
    if sum((bool(wish.instance_ids), bool(wish.logical_ids), wish.count is not None)) != 1:
        raise Invalid("Give exactly one of NodeIds, NodeLogicalIds and InstanceCount.")
    world, ends = await _locked(tx, scope, wish, policy)
    if kept := await once.answered(tx, scope, MOVE, token, wish, world.now, Invalid):
        return dict(kept)
    for cluster in ends.clusters:
        _check_in_service(cluster)
    core.check_groups(ends.clusters, ends.source, ends.target)
    taken, answer = await _choose(tx, scope, world, wish, ends)
    core.check_minimum(ends.source, len(taken))
    await _carry_out(tx, scope, world, ends, taken, policy)
    await once.keep(tx, scope, MOVE, token, answer)
    return answer


async def _locked(tx: Tx, scope: Scope, wish: Wish, policy: Policy) -> tuple[World, _Ends]:
    """Both clusters, which may be one."""
    world, held = await must_lock_all(tx, scope, (wish.source[0], wish.target[0]), policy)
    for cluster in held.values():
        core.check_cluster(cluster)
    both = held[wish.source[0]], held[wish.target[0]]
    found = [await clusters.groups(tx, scope, cluster.cluster_id) for cluster in both]
    source, target = (
        _group(groups, name, cluster)
        for groups, name, cluster in zip(found, (wish.source[1], wish.target[1]), both, strict=True)
    )
    return world, _Ends(both, (found[0], found[1]), source, target)


def _group(groups: dict[str, Group], name: str, cluster: Cluster) -> Group:
    if name not in groups:
        raise NotFound(f"Instance group '{name}' not found in cluster '{cluster.name}'. DescribeCluster lists them.")
    return groups[name]


def _check_in_service(cluster: Cluster) -> None:
    check_may_update(cluster)
    status = cluster_status(cluster)
    if status != "InService":
        raise Invalid(f"Cluster '{cluster.name}' is in {status} state. Move nodes when it is InService.")


async def _choose(tx: Tx, scope: Scope, world: World, wish: Wish, ends: _Ends) -> tuple[list[Instance], dict[str, Any]]:
    """The nodes that move, and the answer."""
    cluster_id = ends.clusters[0].cluster_id
    loaded = await attachments.loaded(tx, scope, cluster_id, world.now, world.timings.delays["detach"])
    if wish.count is not None:
        running = await instances.standing(tx, scope, cluster_id, Node.RUNNING, ends.source.name)
        fit = [node for node in running if core.problem(node, ends.source, ends.target, loaded) is None]
        if len(fit) < wish.count:
            raise Invalid(f"Only {len(fit)} nodes of instance group '{ends.source.name}' can be moved. Ask for fewer.")
        taken = fit[: wish.count]
        return taken, {"Successful": [node.instance_id for node in taken]}
    by, asked, good, bad, key = (
        ("instance_id", wish.instance_ids, "Successful", "Failed", "NodeId")
        if wish.instance_ids
        else ("logical_id", wish.logical_ids, "SuccessfulNodeLogicalIds", "FailedNodeLogicalIds", "NodeLogicalId")
    )
    nodes = {getattr(n, by): n for n in await instances.find(tx, scope, cluster_id, by=by, values=asked)}
    problems = {one: core.problem(nodes.get(one), ends.source, ends.target, loaded) for one in dict.fromkeys(asked)}
    failed = [{key: one, "Code": p[0], "Message": p[1]} for one, p in problems.items() if p is not None]
    taken = [nodes[one] for one, found in problems.items() if found is None]
    if not taken:
        raise Invalid(f"None of the nodes can be moved. {failed[0][key]}: {failed[0]['Code']}, {failed[0]['Message']}")
    return taken, {good: [getattr(node, by) for node in taken], bad: failed or None}


async def _carry_out(
    tx: Tx, scope: Scope, world: World, ends: _Ends, taken: Sequence[Instance], policy: Policy
) -> None:
    """The nodes begin to detach, and the target counts on them."""
    now, source, target = world.now, ends.clusters[0], ends.clusters[1]
    leaving = [core.detached(node, now) for node in taken]
    dues = [next_due(node, world.timings.delays) for node in leaving]
    await instances.save(tx, scope, source.cluster_id, leaving, dues)
    if source.hosts:
        await guests.taken_away(tx, scope, source.cluster_id, [node.logical_id for node in leaving], now)
    await moves.insert(tx, scope, target.cluster_id, core.begun(taken, ends.target, now, world.timings))
    less, more = core.left(ends.source, len(taken)), core.joined(ends.target, len(taken))
    if source.cluster_id == target.cluster_id:
        await _save(tx, scope, world, source, ends.groups[0], [less, more], policy)
        return
    await _save(tx, scope, world, source, ends.groups[0], [less], policy)
    await limits.check(tx, scope, target.cluster_id, [*_others(ends.groups[1], more), more])
    await _save(tx, scope, world, target, ends.groups[1], [more], policy)


def _others(groups: dict[str, Group], changed: Group) -> list[Group]:
    return [group for name, group in groups.items() if name != changed.name]


async def _save(
    tx: Tx,
    scope: Scope,
    world: World,
    cluster: Cluster,
    before: dict[str, Group],
    changed: Sequence[Group],
    policy: Policy,
) -> None:
    """The groups, the operation that this is, and its events."""
    now = world.now
    await clusters.save_groups(tx, scope, cluster.cluster_id, changed)
    wanted = {**before, **{group.name: group for group in changed}}
    await operations.record_scaling(tx, scope, world.seed, cluster, before, wanted, now)
    told = [Event("cluster-started", now, params={"operation": "update"})]
    told += [Event("group-started", now, g.name, params={"operation": "update", **scaling(g)}) for g in changed]
    await save_due(tx, scope, begin_update(cluster, {}, busy=True), told, now, policy)
