"""UpdateClusterSoftware, and the alarms that roll it back (HP-30)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.core.cluster import SOFTWARE, Cluster
from app.core.cluster_events import Event
from app.core.errors import NotFound
from app.core.intent import check_unique
from app.core.scope import Scope
from app.core.software import begin, check_may_patch
from app.store import clusters, software, worlds
from app.store.db import Tx
from app.store.software import Alarm
from app.usecases.clusters import must_lock, save_due, scaling
from app.usecases.images import known_releases
from app.usecases.provisioning import Policy, announce


@dataclass(frozen=True, slots=True)
class SoftwareIntent:
    """What UpdateClusterSoftware asks: (group, release or None) each, all groups without any; an AMI; the pace."""

    groups: Sequence[tuple[str, str | None]]
    image_id: str | None
    config: Mapping[str, Any] | None


async def update(tx: Tx, scope: Scope, name_or_arn: str, intent: SoftwareIntent, policy: Policy) -> Cluster:
    """Schedule the update of the groups; it begins at once, and the reconciler carries it out."""
    world, cluster = await must_lock(tx, scope, name_or_arn, policy)
    check_unique([name for name, _ in intent.groups])
    check_may_patch(cluster)
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
    releases = await known_releases(tx, scope.world)
    changed = begin(cluster, groups, dict(intent.groups), intent.image_id, intent.config, releases)
    await clusters.save_groups(tx, scope, cluster.cluster_id, changed.values())
    told = [Event("patching-scheduled", world.now, one.name, params=scaling(one)) for one in changed.values()]
    was = cluster
    if changed and not cluster.continuous:
        cluster = replace(cluster, operation=SOFTWARE)
    await announce(tx, scope, was, cluster, {**groups, **changed}.values(), world.now)
    await save_due(tx, scope, cluster, told, world.now, policy)
    return cluster


async def set_alarm(tx: Tx, scope: Scope, name: str, state: str, policy: Policy) -> Alarm:
    """The alarm is in this state from now on; updates that watch it look at once."""
    world = await worlds.lock(tx, scope.world)
    if world is None:
        raise NotFound(f"There is no world '{scope.world}'.")
    for cluster_name in await software.watchers(tx, scope, name):
        _, cluster = await must_lock(tx, scope, cluster_name, policy)
        await clusters.hurry(tx, scope, cluster.cluster_id, world.now)
    await software.set_alarm(tx, scope, Alarm(name, state, world.now))
    return next(one for one in await software.alarms(tx, scope) if one.name == name)


async def alarms(tx: Tx, scope: Scope) -> list[Alarm]:
    """The alarms that were given a state; any other is OK."""
    return await software.alarms(tx, scope)
