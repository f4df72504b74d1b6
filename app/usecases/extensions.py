"""Extensions of Slurm clusters as requests see them: create, describe, list, update, delete."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app import catalog
from app.catalog.extensions import ExtensionOffer, number
from app.core import extensions as core
from app.core import ids
from app.core.cluster import Cluster
from app.core.configuration import merged
from app.core.errors import InUse, Invalid, NotFound
from app.core.extensions import CREATE, Extension, View
from app.core.node import Node
from app.core.scope import Scope
from app.core.times import WorldTime, after
from app.core.world import World
from app.store import clusters, extensions, instances, tags
from app.store.db import Tx
from app.usecases import failing, once
from app.usecases.clusters import must_get, must_lock, world_of
from app.usecases.provisioning import Policy

MAKE, CHANGE, REMOVE = "CreateClusterExtension", "UpdateClusterExtension", "DeleteClusterExtension"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a request asks; `settings` is the parsed ConfigurationValues, None without any."""

    cluster_arn: str
    which: str
    version: str | None
    settings: Any
    token: str | None
    tags: Mapping[str, str]


async def create(tx: Tx, scope: Scope, wish: Wish, policy: Policy) -> str:
    """The ARN of the extension that is being installed on every running node."""
    world, cluster = await must_lock(tx, scope, wish.cluster_arn, policy)
    if kept := await once.answered(tx, scope, MAKE, wish.token, wish, world.now):
        return str(kept)
    core.check_cluster(cluster)
    offer = _offer(wish.which)
    version = wish.version or offer.versions[0]
    _check_offered(offer, version)
    settings = merged(offer.settings_of(version), {}, {} if wish.settings is None else wish.settings)
    past = {one.name: one for one in await extensions.of_cluster(tx, scope, cluster.cluster_id)}.get(wish.which)
    if past is not None and (await _view(tx, scope, world, cluster, past)).status is not None:
        raise InUse(f"Cluster '{cluster.name}' has an extension '{wish.which}' already. Update it, or delete it first.")
    made = _made(scope, world, cluster, wish.which, version, settings, past.generation + 1 if past else 1)
    made = replace(made, failures=await _strike(tx, scope, world, cluster, MAKE))
    await extensions.put(tx, scope, cluster.cluster_id, made)
    await tags.put(tx, scope, made.arn, wish.tags)
    await once.keep(tx, scope, MAKE, wish.token, made.arn)
    return made.arn


def _made(
    scope: Scope,
    world: World,
    cluster: Cluster,
    name: str,
    version: str,
    settings: Mapping[str, Any],
    generation: int,
) -> Extension:
    now = world.now
    return Extension(
        name=name,
        generation=generation,
        arn=ids.extension_arn(world.seed, scope.region, scope.account, cluster.cluster_id, name, generation),
        version=version,
        settings=settings,
        created_at=now,
        modified_at=now,
        changed_at=now,
        tried_at=now,
        attempt=CREATE,
        delete_requested_at=None,
        failures={},
        earlier={},
        settles_at=after(now, world.timings.delays["extension"]),
    )


def _offer(name: str) -> ExtensionOffer:
    offer = catalog.extensions().get(name)
    if offer is None:
        raise NotFound(f"There is no extension '{name}'. Known are: {', '.join(catalog.extensions())}.")
    return offer


def _check_offered(offer: ExtensionOffer, version: str) -> None:
    if version not in offer.versions:
        raise Invalid(
            f"Version {version} of extension '{offer.name}' is not offered. ListClusterExtensionVersions shows those "
            f"that are: {', '.join(offer.versions)}."
        )


async def update(tx: Tx, scope: Scope, wish: Wish, policy: Policy) -> None:
    """Change version, settings or both; a request that changes nothing retries where something failed."""
    world, cluster = await must_lock(tx, scope, wish.cluster_arn, policy)
    if await once.answered(tx, scope, CHANGE, wish.token, wish, world.now):
        return
    seen = await _must_see(tx, scope, world, cluster, wish.which)
    core.check_cluster(cluster)
    core.check_may_update(seen)
    old = seen.extension
    offer, version = _offer(old.name), wish.version or old.version
    if version != old.version:
        _check_offered(offer, version)
        if number(version) < number(old.version):
            raise Invalid(
                f"Extension '{old.name}' has version {old.version}, and {version} is not later. To go back, delete "
                "the extension and create it again with that version."
            )
    settings = merged(offer.settings_of(version), old.settings, {} if wish.settings is None else wish.settings)
    changes = (version, settings) != (old.version, old.settings)
    ill = set(core.failing(old, world.now))
    if changes or ill:
        new = core.updated(seen, version, settings, world.now, world.timings)
        struck = await _strike(tx, scope, world, cluster, CHANGE, None if changes else ill)
        await extensions.put(tx, scope, cluster.cluster_id, replace(new, failures=struck))
    await once.keep(tx, scope, CHANGE, wish.token, old.arn)


async def delete(tx: Tx, scope: Scope, cluster_arn: str, arn: str, policy: Policy) -> None:
    """Ask for its removal from every node; with the last node it is gone."""
    world, cluster = await must_lock(tx, scope, cluster_arn, policy)
    seen = await _must_see(tx, scope, world, cluster, arn)
    core.check_cluster(cluster)
    core.check_may_delete(seen)
    struck = await _strike(tx, scope, world, cluster, REMOVE)
    leaving = replace(core.deleted(seen, world.now, world.timings), failures=struck)
    await extensions.put(tx, scope, cluster.cluster_id, leaving)


async def describe(tx: Tx, scope: Scope, cluster_arn: str, arn: str) -> View:
    """One extension as it is now."""
    world = await world_of(tx, scope)
    cluster = await must_get(tx, scope, cluster_arn)
    return await _must_see(tx, scope, world, cluster, arn)


async def listed(
    tx: Tx, scope: Scope, cluster_arn: str, not_before: WorldTime | None, not_after: WorldTime | None
) -> list[View]:
    """The cluster's extensions that were created in the range, both ends included, oldest first."""
    world = await world_of(tx, scope)
    cluster = await must_get(tx, scope, cluster_arn)
    found = await extensions.of_cluster(tx, scope, cluster.cluster_id)
    views = [await _view(tx, scope, world, cluster, one) for one in found]
    return [
        one
        for one in views
        if one.status is not None
        and (not_before is None or one.extension.created_at >= not_before)
        and (not_after is None or one.extension.created_at <= not_after)
    ]


def versions(name: str) -> tuple[str, ...]:
    """Those that can be installed, the highest first; none of an extension that is not offered."""
    offer = catalog.extensions().get(name)
    return offer.versions if offer else ()


async def by_arn(tx: Tx, scope: Scope, arn: str, *, lock: bool) -> Extension | None:
    """The extension with this ARN, for those who tag it; with its cluster locked, if that is asked."""
    cluster_arn = ids.cluster_arn(scope.region, scope.account, arn.partition("/sagemaker-")[2].partition("/")[0])
    claimed = await clusters.lock(tx, scope, cluster_arn) if lock else None
    cluster = claimed.cluster if claimed else await clusters.get(tx, scope, cluster_arn)
    if cluster is None:
        return None
    seen = await _see(tx, scope, await world_of(tx, scope), cluster, arn)
    return seen.extension if seen else None


async def _must_see(tx: Tx, scope: Scope, world: World, cluster: Cluster, arn: str) -> View:
    seen = await _see(tx, scope, world, cluster, arn)
    if seen is None:
        raise NotFound(
            f"Extension '{arn}' not found on cluster '{cluster.name}'. ListClusterExtensions shows its extensions."
        )
    return seen


async def _see(tx: Tx, scope: Scope, world: World, cluster: Cluster, arn: str) -> View | None:
    found = next((one for one in await extensions.of_cluster(tx, scope, cluster.cluster_id) if one.arn == arn), None)
    if found is None:
        return None
    seen = await _view(tx, scope, world, cluster, found)
    return None if seen.status is None else seen


async def _view(tx: Tx, scope: Scope, world: World, cluster: Cluster, one: Extension) -> View:
    suspects = list(core.failing(one, world.now))
    ready = core.ready_before(world.now, world.timings)
    census = await extensions.census(tx, scope, cluster.cluster_id, ready, suspects)
    return core.view(one, census, world.now, world.timings)


async def _strike(
    tx: Tx, scope: Scope, world: World, cluster: Cluster, operation: str, only: set[str] | None = None
) -> dict[str, list[str]]:
    """On which of the running nodes the operation fails, by the fault rules (CT-3): each node is a chance itself."""
    if not await failing.is_armed(tx, world, operation):
        return {}
    nodes = [
        node
        for node in await instances.standing(tx, scope, cluster.cluster_id, Node.RUNNING)
        if node.instance_id is not None and (only is None or node.instance_id in only)
    ]
    rules = await failing.strike(tx, world, [failing.subject(world, cluster, operation, node) for node in nodes])
    return {
        node.instance_id or "": core.issue_of(rule.code, rule.message)
        for node, rule in zip(nodes, rules, strict=True)
        if rule is not None
    }
