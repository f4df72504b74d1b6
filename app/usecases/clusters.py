"""Clusters as requests see them: create, list, delete. Requests write what is wanted, no more."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app import catalog
from app.core import addons, upkeep
from app.core.announcements import state_change
from app.core.chance import below
from app.core.cluster import Cluster, Group
from app.core.cluster_events import Event
from app.core.errors import InUse, Invalid, NotFound
from app.core.faults import Subject
from app.core.intent import (
    ClusterIntent,
    GroupIntent,
    Network,
    build_group,
    check_new,
    default_minimum,
)
from app.core.releases import Releases
from app.core.scope import Scope
from app.core.times import WorldTime, after
from app.core.updating import check_may_delete
from app.core.world import World
from app.store import clusters, creation, events, pages, worlds
from app.store.clusters import Claimed
from app.store.creation import Survey
from app.store.db import Database, Tx
from app.usecases import failing, guests, limits, operations, reserving
from app.usecases.images import image_asked, releases_of
from app.usecases.provisioning import Policy, announce, handle


async def world_of(tx: Tx, scope: Scope) -> World:
    world = await worlds.read(tx, scope.world)
    if world is None:
        raise no_world(scope)
    return world


def no_world(scope: Scope) -> NotFound:
    return NotFound(f"There is no world '{scope.world}'. Create it with `windtunnel world create {scope.world}`.")


async def hold_world(tx: Tx, scope: Scope) -> World:
    """The world, which nobody may copy or drop until this transaction ends: first of all locks of a write."""
    world = await worlds.keep(tx, scope.world)
    if world is None:
        raise no_world(scope)
    return world


async def must_lock(tx: Tx, scope: Scope, name_or_arn: str, policy: Policy) -> tuple[World, Cluster]:
    """The world and the locked cluster, with all of its past done: a worker that lags must not see the change in it."""
    world, held = await must_lock_all(tx, scope, [name_or_arn], policy)
    return world, held[name_or_arn]


async def must_lock_all(
    tx: Tx, scope: Scope, names_or_arns: Iterable[str], policy: Policy
) -> tuple[World, dict[str, Cluster]]:
    """The same of several clusters, as of one moment. All are locked, in one order, and the jobs on them, before the
    past of any is done: that locks fault rules and pools, which nobody waits for a cluster or a job with."""
    world = await hold_world(tx, scope)
    found = {one: await _lock(tx, scope, one) for one in sorted(set(names_or_arns))}
    late = [one.cluster for one in found.values() if one.due_at is not None and one.due_at < world.now]
    await guests.hold_all(tx, scope, late)
    for one in found:
        while (due_at := found[one].due_at) is not None and due_at < world.now:
            await handle(tx, world, found[one], policy)
            found[one] = await _lock(tx, scope, one)
    return world, {one: claimed.cluster for one, claimed in found.items()}


async def _lock(tx: Tx, scope: Scope, name_or_arn: str) -> Claimed:
    found = await clusters.lock(tx, scope, name_or_arn)
    if found is None:
        raise unknown(name_or_arn)
    return found


async def must_get(tx: Tx, scope: Scope, name_or_arn: str) -> Cluster:
    cluster = await clusters.get(tx, scope, name_or_arn)
    if cluster is None:
        raise unknown(name_or_arn)
    return cluster


def unknown(name_or_arn: str) -> NotFound:
    text = f"Cluster '{name_or_arn}' not found. ListClusters shows the clusters of this account and region."
    return NotFound(text, ("cluster", name_or_arn))


async def create(db: Database, scope: Scope, intent: ClusterIntent) -> Cluster:
    """Write down what is wanted; the reconciler provides it. The cluster is due at once."""
    check_new(intent)
    async with db.connection() as tx:
        survey = await _survey(tx, scope, intent)
        planned = any("TrainingPlanArn" in group.request for group in intent.groups)
        if not (survey.has_quotas or planned or addons.AUTO_SCALING in intent.request):
            return await _create(tx, scope, intent, survey.world, *_design(scope, intent, survey, None))
    return await db.run(_create_within_limits, scope, intent, survey)


async def _survey(tx: Tx, scope: Scope, intent: ClusterIntent) -> Survey:
    """What a new cluster has to know; refused is a name, or an EKS cluster, that another has."""
    survey = await creation.survey(tx, scope, intent.name, intent.eks_arn)
    if survey is None:
        raise no_world(scope)
    if survey.taken:
        raise _taken(intent.name)
    if survey.eks_taken:
        raise _eks_taken(intent)
    return survey


async def _create_within_limits(tx: Tx, scope: Scope, intent: ClusterIntent, survey: Survey) -> Cluster:
    """Where fault rules, training plans or quotas have a say."""
    await hold_world(tx, scope)
    fault = await auto_scaling_fault(tx, scope, survey.world, "CreateCluster", intent.name, intent.request)
    cluster, groups = _design(scope, intent, survey, fault)
    groups = await reserving.check(tx, scope, None, {}, groups, cluster.created_at)
    await limits.check(tx, scope, None, groups)
    return await _create(tx, scope, intent, survey.world, cluster, groups)


async def _create(
    tx: Tx, scope: Scope, intent: ClusterIntent, world: World, cluster: Cluster, groups: Sequence[Group]
) -> Cluster:
    at = cluster.created_at
    told: list[Event] = []
    if cluster.continuous:
        told = [Event("cluster-started", at, params={"operation": "creation"}), *announce_groups(groups, at)]
        cluster = replace(cluster, event_seq=len(told))
    begun = operations.of_creation(world.seed, cluster, groups)
    change = state_change(cluster, groups)
    if await creation.create(tx, scope.world, cluster, groups, told, intent.tags, at, change, begun):
        return cluster
    await _survey(tx, scope, intent)  # another was quicker: at what?
    raise _taken(intent.name)  # and gone again


def _eks_taken(intent: ClusterIntent) -> Invalid:
    """One HyperPod cluster per EKS cluster, held until the old one is gone (seen in the field)."""
    return Invalid(f"Specified cluster external resource id {intent.eks_arn} already in use")


def _taken(name: str) -> InUse:
    return InUse(
        f"Cluster '{name}' already exists in this account and region. Choose another name, or delete it first.",
        ("cluster", name),
    )


async def auto_scaling_fault(
    tx: Tx, scope: Scope, world: World, operation: str, name: str, given: Mapping[str, Any]
) -> str | None:
    """What keeps the autoscaling that the operation turns on from working, by a fault rule."""
    if given.get(addons.AUTO_SCALING, {}).get("Mode") != "Enable":
        return None
    [rule] = await failing.strike(tx, world, [Subject(scope.account, scope.region, name, operation=operation)])
    return None if rule is None else rule.message or "an internal error occurred"


def _design(scope: Scope, intent: ClusterIntent, survey: Survey, failure: str | None) -> tuple[Cluster, list[Group]]:
    """The cluster and its groups as they begin."""
    world, images = survey.world, releases_of(survey.releases)
    cluster = Cluster(
        account=scope.account,
        region=scope.region,
        cluster_id=world.naming.cluster_id(world.seed, scope.account, scope.region, intent.name, survey.generation),
        name=intent.name,
        continuous=intent.continuous,
        orchestrator=intent.orchestrator,
        created_at=world.now,
        opens_at=after(world.now, world.timings.delays["setup"]),
        eks_arn=intent.eks_arn,
        spec=addons.with_facts({}, intent.request, world.now, failure),
    )
    return cluster, build_groups(cluster, intent.groups, 0, world.now, intent.network, images, images.newest)


def build_groups(
    cluster: Cluster,
    intents: Sequence[GroupIntent],
    first: int,
    at: WorldTime,
    network: Network | None,
    images: Releases,
    otherwise: str,
) -> list[Group]:
    """The groups as they begin, the first of them at the place `first`, on `otherwise` if they ask for no image."""
    groups = []
    for place, one in enumerate(intents, first):
        used = one.network or network
        zones = _zones(cluster.region, used)
        image = image_asked(one.request, images, otherwise)
        group = build_group(one, place, at, used, zones, default_minimum(one, cluster), image)
        kept = upkeep.facts(None, one, cluster.orchestrator, at)
        changes = {name: fact for name, fact in kept.items() if fact is not None}
        if one.name in cluster.past_ordinals:
            changes["next_ordinal"] = cluster.past_ordinals[one.name]
        groups.append(replace(group, **changes) if changes else group)
    return groups


def _zones(region: str, network: Network | None) -> list[tuple[str | None, str]]:
    """Each subnet with its zone. Which zone a subnet lies in is drawn from its id (chosen)."""
    names = [zone.name for zone in catalog.zones(region)]
    if network is None:
        return [(None, names[0])]
    return [(subnet, names[below(0, subnet, "subnet-zone", len(names))]) for subnet in network.subnets]


def announce_groups(groups: Sequence[Group], at: WorldTime) -> list[Event]:
    """The events with which the groups' operations begin."""
    return [
        Event("group-started", at, group.name, params={"operation": group.operation, **scaling(group)})
        for group in groups
    ]


def scaling(group: Group) -> dict[str, int]:
    """What the event of a group's operation tells of its counts."""
    return {"current": group.current, "target": group.target, "min": group.minimum}


async def page(tx: Tx, scope: Scope, **question: Any) -> list[pages.ListedCluster]:
    """A page of ListClusters; an unknown world is no empty one."""
    found = await pages.clusters(tx, scope, **question)
    if not found:
        await world_of(tx, scope)
    return found


async def save_due(
    tx: Tx, scope: Scope, cluster: Cluster, told: Sequence[Event], now: WorldTime, policy: Policy
) -> None:
    """Save a cluster that a request has changed: it is due now, and its events are written."""
    events_told = told if cluster.continuous else []
    seq = await events.append(tx, scope, cluster.cluster_id, events_told, cluster.event_seq, policy.events_per_cluster)
    await clusters.save(tx, scope, replace(cluster, event_seq=seq), now)


async def delete(tx: Tx, scope: Scope, name_or_arn: str, policy: Policy) -> Cluster:
    """Ask for the cluster's end; its instances stop being billed as soon as they begin to terminate."""
    world, cluster = await must_lock(tx, scope, name_or_arn, policy)
    check_may_delete(cluster)
    was, cluster = cluster, replace(cluster, delete_requested_at=world.now, operation="deletion")
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
    await announce(tx, scope, was, cluster, groups.values(), world.now)
    told = [Event("cluster-started", world.now, params={"operation": "deletion"})]
    await save_due(tx, scope, cluster, told, world.now, policy)
    return cluster


def network_of(vpc: Mapping[str, Any] | None) -> Network | None:
    """`VpcConfig` or `OverrideVpcConfig` as the core sees it."""
    return None if vpc is None else Network(tuple(vpc["Subnets"]), tuple(vpc["SecurityGroupIds"]))
