"""What DescribeCluster tells."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from app.core import addons, upkeep
from app.core.releases import Releases
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import descriptions, instances
from app.store.db import Tx
from app.store.descriptions import DescribedCluster, DescribedGroup
from app.usecases import reserving
from app.usecases.clusters import unknown, world_of
from app.usecases.peculiarities import Peculiarities


class Described(NamedTuple):
    """A cluster, its groups, of flexible groups the running nodes by (group, instance type), its autoscaling, the nodes
    by group that run what it wants once its software was updated, the releases that there are, and by group the
    statuses of training plans and the automatic patching."""

    cluster: DescribedCluster
    groups: list[DescribedGroup]
    running: Mapping[tuple[str, str], int]
    auto_scaling: Mapping[str, Any] | None
    updated: Mapping[str, int]
    releases: Releases
    plans: Mapping[str, str]
    patching: Mapping[str, Mapping[str, Any]]


async def describe(tx: Tx, scope: Scope, name_or_arn: str, world_has: Peculiarities) -> Described:
    """The cluster as it is now; NotFound without it."""
    found = await descriptions.describe(tx, scope, name_or_arn, late=world_has.late)
    if found is None:
        raise unknown(name_or_arn)
    cluster, groups = found
    flexible = any("InstanceRequirements" in group.spec["request"] for group in groups)
    running = await instances.running_by_type(tx, scope, cluster.cluster_id) if flexible else {}
    patched = [group for group in groups if upkeep.PATCH in group.spec["request"]]
    scaling_now, patching = None, {}
    if patched or addons.AUTO_SCALING in cluster.spec:
        world = await world_of(tx, scope)
        scaling_now = addons.auto_scaling(cluster.spec, world.now, world.timings.delays["setup"])
        patching = {group.name: _patching(group, world.now) for group in patched}
    ever_updated = any(group.update_status is not None for group in groups)
    updated = await instances.updated(tx, scope, cluster.cluster_id) if ever_updated else {}
    arns = {group.name: group.training_plan for group in groups if group.training_plan is not None}
    plans = await reserving.statuses(tx, scope, arns) if arns else {}
    return Described(cluster, groups, running, scaling_now, updated, world_has.releases, plans, patching)


def _patching(group: DescribedGroup, now: WorldTime) -> dict[str, Any]:
    return upkeep.patching_details(group.spec["request"], group.patch_found_at, group.next_patch_at, now)
