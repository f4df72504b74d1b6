"""Updates that begin by the clock: scheduled ones and automatic patches (HP-30)."""

from collections.abc import Iterable

from app.core.cluster import Group
from app.core.provisioning import Decision
from app.core.releases import Releases
from app.core.scope import Scope
from app.core.times import WorldTime
from app.core.upkeep import begin_due, is_due, keeps_time, next_occurrence
from app.store import instances
from app.store.db import Tx
from app.usecases.images import known_releases


async def begin_updates(tx: Tx, scope: Scope, made: Decision) -> WorldTime | None:
    """Begin those that are due at this instant; the instant if there are any, for another pass to roll them out."""
    if not (groups := _kept(made)):
        return None
    releases = await known_releases(tx, scope.world)
    due = [group for group in groups if is_due(group, made.at)]
    return made.at if begin_due(made, releases, await _behind(tx, scope, made, releases, due)) else None


async def wake_for_updates(tx: Tx, scope: Scope, made: Decision, due_at: WorldTime | None) -> WorldTime | None:
    """When the cluster needs looking at that is due at `due_at` otherwise: at an earlier occurrence of a schedule if
    there is anything to update. So years in which no release is published cost nothing."""
    times = {group.name: next_occurrence(group, made.at) for group in _kept(made)}
    sooner = {name: time for name, time in times.items() if time is not None and (due_at is None or time < due_at)}
    if not sooner:
        return due_at
    releases = await known_releases(tx, scope.world)
    behind = await _behind(tx, scope, made, releases, [made.groups[name] for name in sooner])
    return min((sooner[name] for name in behind), default=due_at)


def _kept(made: Decision) -> list[Group]:
    if made.cluster.delete_requested_at is not None or made.cluster.failed_at is not None:
        return []
    return [group for group in made.groups.values() if keeps_time(group)]


async def _behind(tx: Tx, scope: Scope, made: Decision, releases: Releases, groups: Iterable[Group]) -> set[str]:
    """The groups that are not on the newest release, or have nodes that are not on their group's image."""
    images = {group.name: group.image for group in groups}
    old = {name for name, image in images.items() if image != releases.newest}
    same = {name: image for name, image in images.items() if name not in old}
    return old | (await instances.on_other_images(tx, scope, made.cluster.cluster_id, same) if same else set())
