"""What a cluster works on: scalings and deep health checks, recorded when they begin and followed to their end."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from app.core import operations as core
from app.core.cluster import Cluster, Group
from app.core.errors import Invalid, NotFound
from app.core.operations import HEALTH_CHECK, SCALING, Operation
from app.core.provisioning import Decision
from app.core.scope import Scope
from app.core.times import WorldTime, after
from app.store import clusters, instances, operations, worlds
from app.store.db import Tx


async def record_scaling(
    tx: Tx,
    scope: Scope,
    seed: int,
    cluster: Cluster,
    before: Mapping[str, Group],
    wanted: Mapping[str, Group],
    at: WorldTime,
) -> None:
    """A request, or a rollback, wants other counts: it supersedes what was under way for the same groups."""
    details = core.rescaled(before, wanted) if cluster.continuous else []
    if not details:
        return
    await _settle(tx, scope, cluster.cluster_id, [detail["group"] for detail in details], core.SUPERSEDED, at)
    await _begin(tx, scope, seed, cluster, SCALING, details, at)


def of_creation(seed: int, cluster: Cluster, groups: Sequence[Group]) -> list[Operation]:
    """The first operation of a continuous cluster, which begins with its creation."""
    details = core.rescaled({}, {group.name: group for group in groups}) if cluster.continuous else []
    return [core.begin(cluster, seed, 1, SCALING, details, cluster.created_at)] if details else []


async def follow(tx: Tx, scope: Scope, seed: int, was: Cluster, before: Mapping[str, Group], made: Decision) -> None:
    """After a pass: scalings that have got there end, and those that a rollback has brought begin."""
    cluster = made.cluster
    if not cluster.continuous or made.gone:
        return
    await record_scaling(tx, scope, seed, cluster, before, made.groups, made.at)
    if was.deletion_begun_at is None and cluster.deletion_begun_at is not None:
        await _settle(tx, scope, cluster.cluster_id, list(before), core.SUPERSEDED, made.at)
    elif was.failed_at is None and cluster.failed_at is not None:
        await _settle(tx, scope, cluster.cluster_id, list(before), core.DONE, made.at)
    elif names := core.finished(before, made.groups):
        await _settle(tx, scope, cluster.cluster_id, names, core.DONE, made.at)


async def _settle(tx: Tx, scope: Scope, cluster_id: str, groups: Sequence[str], outcome: str, at: WorldTime) -> None:
    under_way = await operations.open_ones(tx, scope, cluster_id)
    await operations.save(tx, scope, cluster_id, core.settle(under_way, groups, outcome, at))


async def _begin(
    tx: Tx,
    scope: Scope,
    seed: int,
    cluster: Cluster,
    kind: str,
    details: Sequence[Mapping[str, Any]],
    at: WorldTime,
) -> Operation:
    await operations.forget(tx, scope, cluster.cluster_id, after(at, -core.REMEMBERED))
    number = await operations.next_number(tx, scope, cluster.cluster_id)
    begun = core.begin(cluster, seed, number, kind, details, at)
    await operations.insert(tx, scope, cluster.cluster_id, begun)
    return begun


async def begin_health_check(
    tx: Tx, scope: Scope, seed: int, cluster: Cluster, checks: Sequence[Mapping[str, Any]], at: WorldTime
) -> Operation:
    """Record deep health checks; `checks` are the request's DeepHealthCheckConfigurations. One that shares a group with
    checks under way joins their operation. The caller holds the cluster's lock."""
    names = {check["InstanceGroupName"] for check in checks}
    for running in await health_checks(tx, scope, cluster.cluster_id):
        if names & {check["InstanceGroupName"] for check in running.details}:
            added = [check for check in checks if check not in running.details]
            merged = replace(running, details=[*running.details, *added])
            await operations.save(tx, scope, cluster.cluster_id, [merged])
            return merged
    return await _begin(tx, scope, seed, cluster, HEALTH_CHECK, checks, at)


async def health_checks(tx: Tx, scope: Scope, cluster_id: str) -> list[Operation]:
    """The deep health checks under way."""
    return [one for one in await operations.open_ones(tx, scope, cluster_id) if one.kind == HEALTH_CHECK]


async def end_health_checks(tx: Tx, scope: Scope, cluster_id: str, groups: Set[str], at: WorldTime) -> None:
    """Checks in these groups have ended, whatever they found: so have operations of which no node is examined now."""
    busy = await instances.groups_under_examination(tx, scope, cluster_id)
    ended = []
    for one in await health_checks(tx, scope, cluster_id):
        names = {check["InstanceGroupName"] for check in one.details}
        if names & groups and not names & busy:
            ended.append(replace(one, done_at=at))
    await operations.save(tx, scope, cluster_id, ended)


async def page(tx: Tx, scope: Scope, name_or_arn: str, **question: Any) -> tuple[Cluster, list[Operation]]:
    """The cluster, and a page of what it has worked on in the last 14 days."""
    cluster, since = await _teller(tx, scope, name_or_arn)
    return cluster, await operations.page(tx, scope, cluster.cluster_id, since=since, **question)


async def one(tx: Tx, scope: Scope, name_or_arn: str, operation_id: str) -> tuple[Cluster, Operation]:
    """An operation of the last 14 days by its id."""
    cluster, since = await _teller(tx, scope, name_or_arn)
    found = await operations.get(tx, scope, cluster.cluster_id, operation_id)
    if found is None or found.created_at < since:
        raise NotFound(
            f"Operation '{operation_id}' not found in cluster '{cluster.name}'. ListClusterOperations shows those of "
            f"the last {core.REMEMBERED.days} days."
        )
    return cluster, found


async def _teller(tx: Tx, scope: Scope, name_or_arn: str) -> tuple[Cluster, WorldTime]:
    cluster = await clusters.get(tx, scope, name_or_arn)
    world = await worlds.read(tx, scope.world)
    if cluster is None or world is None:
        raise NotFound(
            f"Cluster '{name_or_arn}' not found. ListClusters shows the clusters of this account and region."
        )
    if not cluster.continuous:
        raise Invalid(
            f"Cluster '{cluster.name}' has no operations: they need NodeProvisioningMode Continuous. "
            "DescribeCluster shows its status."
        )
    return cluster, after(world.now, -core.REMEMBERED)
