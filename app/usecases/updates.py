"""UpdateCluster: other groups, other counts, other facts of the cluster itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.core import addons
from app.core.cluster import Cluster, Group
from app.core.cluster_events import Event
from app.core.errors import Invalid
from app.core.intent import EKS, SLURM, GroupIntent, check_group, check_slurm, check_strategy, check_unique
from app.core.provisioning import network_events
from app.core.scope import Scope
from app.core.times import WorldTime
from app.core.updating import Revision, begin_update, check_may_update, revise
from app.core.world import World
from app.store import clusters
from app.store.db import Tx
from app.usecases import limits, operations, reserving
from app.usecases.clusters import (
    announce_groups,
    auto_scaling_fault,
    build_groups,
    must_lock,
    network_of,
    save_due,
)
from app.usecases.hardware import cure_the_ill
from app.usecases.images import known_releases
from app.usecases.provisioning import Policy, announce

Groups = Mapping[str, Group]


@dataclass(frozen=True, slots=True)
class UpdateIntent:
    """What UpdateCluster asks; `facts` are members of the cluster itself to write over."""

    groups: Sequence[GroupIntent]
    to_delete: Sequence[str]
    make_continuous: bool
    orchestrator: tuple[str, str | None] | None
    slurm_strategy: str | None
    facts: Mapping[str, Any]


async def update(tx: Tx, scope: Scope, name_or_arn: str, intent: UpdateIntent, policy: Policy) -> Cluster:
    """Change what is wanted; several updates may be under way at once."""
    world, cluster = await must_lock(tx, scope, name_or_arn, policy)
    check_may_update(cluster)
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
    _check(cluster, intent)
    cluster = _turn_continuous(cluster, intent, groups)
    _check_groups(cluster, groups, intent)
    revision = revise(cluster, groups, intent.groups, intent.to_delete, world.now)
    facts = await _facts(tx, scope, world, cluster, intent)
    kept = await _kept(tx, scope, world, cluster, groups, revision)
    added = [kept[one.name] for one in revision.added]
    changing = [g for name, g in revision.changed.items() if g.operation is not None and g != groups[name]]
    await clusters.insert_groups(tx, scope, cluster.cluster_id, added)
    await clusters.save_groups(tx, scope, cluster.cluster_id, [kept[name] for name in revision.changed])
    await operations.record_scaling(tx, scope, world.seed, cluster, groups, kept, world.now)
    was = cluster
    cluster = begin_update(cluster, facts, bool(added or changing))
    if cluster.recovers and not was.recovers:
        await cure_the_ill(tx, scope, world, cluster)
    await announce(tx, scope, was, cluster, kept.values(), world.now)
    told = _tell(cluster, added, changing, world.now)
    await save_due(tx, scope, cluster, told, world.now, policy)
    return cluster


def _check(cluster: Cluster, intent: UpdateIntent) -> None:
    if intent.orchestrator not in (None, (cluster.orchestrator, cluster.eks_arn)):
        raise Invalid(
            f"The orchestrator of cluster '{cluster.name}' cannot be changed. Remove Orchestrator, or repeat it."
        )
    check_unique([group.name for group in intent.groups])


def _turn_continuous(cluster: Cluster, intent: UpdateIntent, groups: Groups) -> Cluster:
    """HP-1: a classic cluster becomes continuous when every group then has SlurmConfig."""
    continuous = cluster.continuous or intent.make_continuous
    check_strategy(continuous and cluster.orchestrator == SLURM, intent.slurm_strategy)
    if continuous == cluster.continuous:
        return cluster
    if cluster.orchestrator == SLURM:
        kinds = {name: group.node_type for name, group in groups.items() if name not in intent.to_delete}
        kinds |= {one.name: one.node_type or kinds.get(one.name) for one in intent.groups}
        if None in kinds.values():
            missing = ", ".join(sorted(name for name, kind in kinds.items() if kind is None))
            raise Invalid(
                f"NodeProvisioningMode Continuous needs SlurmConfig in every instance group. Missing: {missing}."
            )
    spec = {**cluster.spec, "NodeProvisioningMode": "Continuous"}
    return replace(cluster, continuous=True, controller_ready_at=cluster.in_service_at, spec=spec)


def _check_groups(cluster: Cluster, groups: Groups, intent: UpdateIntent) -> None:
    for group in intent.groups:
        if group.name not in groups:
            check_group(group, cluster.continuous, cluster.orchestrator, "VpcConfig" in cluster.spec)
        elif group.minimum is not None and not cluster.continuous:
            raise Invalid(f"Instance group '{group.name}': MinInstanceCount needs NodeProvisioningMode Continuous.")


async def _kept(
    tx: Tx, scope: Scope, world: World, cluster: Cluster, groups: Groups, revision: Revision
) -> dict[str, Group]:
    """The groups that the cluster then has, within the rules of Slurm, training plans and quotas."""
    first = 1 + max((group.position for group in groups.values()), default=-1)
    added: list[Group] = []
    if revision.added:
        images = await known_releases(tx, scope.world)
        eldest = next((group.image for group in groups.values() if cluster.continuous), images.newest)
        network = network_of(cluster.spec.get("VpcConfig"))
        added = build_groups(cluster, revision.added, first, world.now, network, images, eldest)
    kept = [*{**groups, **revision.changed}.values(), *added]
    if cluster.controller_first:
        staying = [group for group in kept if group.delete_requested_at is None]
        check_slurm(cluster.name, [g.node_type for g in staying], [g.target for g in staying])
    checked = await reserving.check(tx, scope, cluster.cluster_id, groups, kept, world.now)
    await limits.check(tx, scope, cluster.cluster_id, checked)
    return {group.name: group for group in checked}


async def _facts(tx: Tx, scope: Scope, world: World, cluster: Cluster, intent: UpdateIntent) -> dict[str, Any]:
    """The cluster's spec with what the request brings."""
    eks = cluster.orchestrator == EKS
    addons.check(cluster.spec, intent.facts, eks=eks, continuous=cluster.continuous)
    fault = await auto_scaling_fault(tx, scope, world, "UpdateCluster", cluster.name, intent.facts)
    return addons.with_facts(cluster.spec, intent.facts, world.now, fault)


def _tell(cluster: Cluster, added: Sequence[Group], changing: Sequence[Group], at: WorldTime) -> list[Event]:
    if not added and not changing:
        return []
    told = [Event("cluster-started", at, params={"operation": "update"}), *announce_groups([*changing, *added], at)]
    if cluster.opened_at is not None:
        told += [event for group in added for event in network_events(group, at)]
    return told
