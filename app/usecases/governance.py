"""Task governance: cluster scheduler configs and compute quotas, each on one EKS cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from app import catalog
from app.core import allocation, ids
from app.core.allocation import Allocation, ClusterPolicy, Hardware
from app.core.cluster import Cluster, cluster_status
from app.core.errors import Conflict, Invalid, NotFound
from app.core.faults import Subject
from app.core.governance import (
    ENDINGS,
    Kind,
    Resource,
    check_may_delete,
    check_may_update,
    ending,
    failing,
    in_force,
    is_deleted,
    revised,
)
from app.core.intent import EKS
from app.core.scope import Scope
from app.core.times import WorldTime, after
from app.core.world import World
from app.store import clusters, governance, scheduling, tags, wakes
from app.store.db import Tx
from app.usecases import limits
from app.usecases.clusters import hold_world, must_lock, world_of
from app.usecases.failing import strike
from app.usecases.provisioning import Policy

_TOTAL = {Kind.CONFIG: "scheduler-configs", Kind.QUOTA: "compute-quotas"}
_SIZE = {Kind.CONFIG: "priority-classes", Kind.QUOTA: "compute-quota-resources"}
_REFUSED_STATES = ("Failed", "RollingBack", "Deleting")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a creation asks: `spec` is in the vendor's members, without defaults."""

    kind: Kind
    name: str
    cluster_arn: str
    spec: Mapping[str, Any]
    tags: Mapping[str, str]


class Shown(NamedTuple):
    """A resource as Describe shows it at `now`; `past` is the older version that was asked for."""

    resource: Resource
    now: WorldTime
    number: int
    past: governance.Version | None


class InForce(NamedTuple):
    """What a cluster schedules by; quotas that are not active are among them, marked so."""

    policy: ClusterPolicy | None
    allocations: list[Allocation]


def hardware(spec: Mapping[str, Any]) -> dict[str, Hardware]:
    """The catalogue's figures for every instance type that a quota's spec names."""
    config = spec["ComputeQuotaConfig"]
    named = [
        *config.get("ComputeQuotaResources", ()),
        *config.get("ResourceSharingConfig", {}).get("AbsoluteBorrowLimits", ()),
    ]
    types = {one["InstanceType"]: catalog.instance_type(one["InstanceType"]) for one in named}
    return {name: Hardware(kind.vcpu, kind.memory_mib, kind.accelerators) for name, kind in types.items()}


def _complete(kind: Kind, spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec with its defaults; Invalid for what contradicts itself."""
    if kind is Kind.CONFIG:
        return {**spec, "SchedulerConfig": allocation.scheduler_config(spec["SchedulerConfig"])}
    return {
        "ActivationState": "Enabled",
        **spec,
        "ComputeQuotaConfig": allocation.quota_config(spec["ComputeQuotaConfig"], hardware(spec)),
        "ComputeQuotaTarget": allocation.target(spec["ComputeQuotaTarget"]),
    }


def _team(kind: Kind, spec: Mapping[str, Any]) -> str | None:
    return spec["ComputeQuotaTarget"]["TeamName"] if kind is Kind.QUOTA else None


async def create(tx: Tx, scope: Scope, wanted: Wanted, policy: Policy) -> Resource:
    """Begin to create it on its cluster; Conflict when its place, name or team is taken there."""
    spec = _complete(wanted.kind, wanted.spec)
    world, cluster = await must_lock(tx, scope, wanted.cluster_arn, policy)
    _check_cluster(cluster)
    others = await governance.living(tx, scope, wanted.kind, cluster.cluster_id, world.now)
    _check_free(wanted.kind, wanted.name, _team(wanted.kind, spec), others)
    if wanted.kind is Kind.QUOTA:
        await _check_unsplit(tx, scope, cluster)
    generation = await governance.generations(tx, scope, wanted.kind, cluster.cluster_id, wanted.name)
    resource = Resource(
        account=scope.account,
        region=scope.region,
        kind=wanted.kind,
        resource_id=ids.governance_id(world.seed, cluster.cluster_id, wanted.kind, wanted.name, generation),
        cluster_id=cluster.cluster_id,
        name=wanted.name,
        team=_team(wanted.kind, spec),
        created_at=world.now,
        begun_at=world.now,
        settles_at=after(world.now, world.timings.delays["governance"]),
        spec=spec,
    )
    resource = await _struck(tx, world, resource, cluster.name)
    await _check_limits(tx, scope, wanted.kind, spec, world.now, new=1)
    await governance.insert(tx, scope, resource)
    await tags.put(tx, scope, resource.arn, wanted.tags)
    await _tell_scheduler(tx, scope, cluster, resource)
    return resource


async def update(
    tx: Tx,
    scope: Scope,
    kind: Kind,
    resource_id: str,
    target_version: int,
    changes: Mapping[str, Any],
    policy: Policy,
) -> Resource:
    """Begin to replace the members that `changes` gives; the version it will be is the next."""
    world, resource, cluster = await _held(tx, scope, kind, resource_id, policy)
    check_may_update(resource, target_version, world.now)
    if cluster is not None:
        _check_cluster(cluster)
    spec = _complete(kind, {**resource.spec, **changes})
    team = _team(kind, spec)
    if kind is Kind.QUOTA:
        living = await governance.living(tx, scope, kind, resource.cluster_id, world.now)
        _check_free(kind, resource.name, team, [one for one in living if one.resource_id != resource_id])
    changed = revised(resource, spec, team, world.now, world.timings.delays["governance"])
    changed = await _struck(tx, world, changed, cluster.name if cluster else "")
    await _check_limits(tx, scope, kind, spec, world.now, new=0)
    await governance.save(tx, scope, changed)
    await governance.insert_version(tx, scope, changed)
    await _tell_scheduler(tx, scope, cluster, changed)
    return changed


async def delete(tx: Tx, scope: Scope, kind: Kind, resource_id: str, policy: Policy) -> None:
    """Begin to delete it; its name is free as soon as it is Deleted."""
    world, resource, cluster = await _held(tx, scope, kind, resource_id, policy)
    check_may_delete(resource, world.now)
    changed = ending(resource, world.now, world.timings.delays["governance"])
    changed = await _struck(tx, world, changed, cluster.name if cluster else "")
    await governance.save(tx, scope, changed)
    await _tell_scheduler(tx, scope, cluster, changed)


async def _check_unsplit(tx: Tx, scope: Scope, cluster: Cluster) -> None:
    """FS-17: a fleet has compute quotas, or the budgets of its world."""
    fleet = await scheduling.read(tx, scope, cluster.cluster_id)
    if fleet is not None and fleet.state.get("applied"):
        raise Conflict(
            f"Work on cluster '{cluster.name}' is scheduled by this world's tree of budgets, and a cluster cannot have "
            "compute quotas besides. Create the quotas on a cluster that has had no work yet, or do without them."
        )


async def _tell_scheduler(tx: Tx, scope: Scope, cluster: Cluster | None, resource: Resource) -> None:
    """The fleet is looked at now, and when the change is in force; last of all, since it leaves wakes."""
    if cluster is not None and cluster.hosts:
        for at in (resource.begun_at, resource.settles_at):
            await wakes.leave(tx, scope, wakes.FLEET, cluster.cluster_id, at)


async def describe(tx: Tx, scope: Scope, kind: Kind, resource_id: str, version: int | None) -> Shown:
    """The resource, in its current version or in an older one."""
    now = (await world_of(tx, scope)).now
    resource = await governance.find(tx, scope, kind, resource_id, now)
    if resource is None:
        raise _unknown(kind, resource_id)
    if version is None or version == resource.version:
        return Shown(resource, now, resource.version, None)
    past = await governance.version(tx, scope, kind, resource_id, version)
    if past is None:
        raise NotFound(
            f"{kind.words.capitalize()} '{resource_id}' has no version {version}. Its versions are 1 to "
            f"{resource.version}."
        )
    return Shown(resource, now, version, past)


async def page(tx: Tx, scope: Scope, kind: Kind, **question: Any) -> tuple[list[Resource], WorldTime]:
    """A page of a list, and the moment for which it holds."""
    now = (await world_of(tx, scope)).now
    arn = question.pop("cluster_arn")
    cluster_id = None if arn is None else clusters.reference(scope, arn)[1]
    return await governance.page(tx, scope, kind, now, cluster_id=cluster_id, **question), now


async def active(tx: Tx, scope: Scope, cluster_id: str, now: WorldTime) -> InForce:
    """What the cluster schedules by at `now`: of each resource the version in force, none where there is none."""
    current: ClusterPolicy | None = None
    allocations = []
    for resource, stable in await governance.with_stable_specs(tx, scope, cluster_id):
        version = in_force(resource, now)
        spec = resource.spec if version == resource.version else stable
        if version is None or spec is None:
            continue
        if resource.kind is Kind.CONFIG:
            current = allocation.policy(resource.resource_id, resource.name, spec)
        else:
            allocations.append(allocation.allocation(resource.resource_id, resource.name, spec))
    return InForce(current, allocations)


async def _held(
    tx: Tx, scope: Scope, kind: Kind, resource_id: str, policy: Policy
) -> tuple[World, Resource, Cluster | None]:
    """The resource, locked behind its cluster, whose past is done: the cluster's end may have ended the resource."""
    world = await hold_world(tx, scope)
    cluster = None
    found = await governance.find(tx, scope, kind, resource_id, world.now)
    if found is not None:
        try:
            world, cluster = await must_lock(tx, scope, found.cluster_arn, policy)
        except NotFound:
            cluster = None
    resource = await governance.lock(tx, scope, kind, resource_id, world.now)
    if resource is None or is_deleted(resource, world.now):
        raise _unknown(kind, resource_id)
    return world, resource, cluster


def _unknown(kind: Kind, resource_id: str) -> NotFound:
    return NotFound(
        f"{kind.words.capitalize()} '{resource_id}' not found. "
        f"List{kind.shape}s shows those of this account and region."
    )


def _check_cluster(cluster: Cluster) -> None:
    if cluster.orchestrator != EKS:
        raise Invalid(
            f"Cluster '{cluster.name}' is orchestrated by Slurm; task governance needs a cluster with the EKS "
            "orchestrator. Give the ARN of such a cluster."
        )
    state = cluster_status(cluster)
    if state in _REFUSED_STATES:
        raise Conflict(f"Cluster '{cluster.name}' is {state}: task governance on it cannot be changed. Use another.")


def _check_free(kind: Kind, name: str, team: str | None, others: list[Resource]) -> None:
    """One scheduler config a cluster; of quotas one a name and one a team."""
    for other in others:
        if kind is Kind.CONFIG:
            raise Conflict(
                f"The cluster already has a cluster scheduler config, '{other.resource_id}'. Update it, or delete it "
                "first."
            )
        if other.name == name:
            raise Conflict(
                f"The cluster already has a compute quota named '{name}', '{other.resource_id}'. Choose another name."
            )
        if other.team == team:
            raise Conflict(
                f"Team '{team}' already has a compute quota on the cluster, '{other.resource_id}'. Update that one, or "
                "choose another team."
            )


async def _check_limits(tx: Tx, scope: Scope, kind: Kind, spec: Mapping[str, Any], now: WorldTime, *, new: int) -> None:
    """The account's quotas: how many there may be, and how much one may name."""
    quotas = await limits.locked(tx, scope)
    if new:
        limits.check_count(quotas, _TOTAL[kind], await governance.count(tx, scope, kind, now), new)
    if kind is Kind.CONFIG:
        size = len(spec["SchedulerConfig"].get("PriorityClasses", ()))
    else:
        size = len(spec["ComputeQuotaConfig"].get("ComputeQuotaResources", ()))
    limits.check_count(quotas, _SIZE[kind], 0, size)


async def _struck(tx: Tx, world: World, resource: Resource, cluster: str) -> Resource:
    """The resource whose operation a fault rule may make fail (CT-3)."""
    subject = Subject(
        account=resource.account,
        region=resource.region,
        cluster=cluster,
        cluster_id=resource.cluster_id,
        logical_id=resource.resource_id,
        attempt=resource.operations,
        operation=ENDINGS[resource.doing].operation + resource.kind.shape,
    )
    [rule] = await strike(tx, world, [subject])
    return resource if rule is None else failing(resource, rule)
