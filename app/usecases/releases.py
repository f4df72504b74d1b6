"""The releases of a world as its owner changes them; clusters that keep up with releases look at once (HP-30)."""

from app.core.errors import Invalid, NotFound
from app.core.releases import Release, Releases, check_version
from app.store import clusters, software, worlds
from app.store.db import Tx
from app.usecases.clusters import must_lock
from app.usecases.images import known_releases
from app.usecases.provisioning import Policy


async def publish(tx: Tx, world: str, version: str, security: bool, policy: Policy) -> Release:
    """From now on the world has the release; older images are no longer up to date."""
    known = await _lock(tx, world)
    release = Release(check_version(version), security)
    if any(one.version == release.version for one in known):
        raise Invalid(f"Release {release.version} is there already. Give a version that `windtunnel image list` lacks.")
    await _put(tx, world, release, policy)
    return release


async def retire(tx: Tx, world: str, version: str, policy: Policy) -> Release:
    """The release has reached its end of life: what runs it goes on, and nothing can be updated to it."""
    known = {one.version: one for one in await _lock(tx, world)}
    found = known.get(check_version(version))
    if found is None:
        raise NotFound(f"There is no release {version}. `windtunnel image list` shows those that are.")
    if all(one.retired for name, one in known.items() if name != found.version):
        raise Invalid(f"{found.version} is the last release that is alive. Publish another one first.")
    retired = Release(found.version, found.security, retired=True)
    await _put(tx, world, retired, policy)
    return retired


async def _put(tx: Tx, world: str, release: Release, policy: Policy) -> None:
    """The clusters concerned do their past first, in which the release was another; the world is locked."""
    for scope, name in await software.followers(tx, world):
        held, cluster = await must_lock(tx, scope, name, policy)
        await clusters.hurry(tx, scope, cluster.cluster_id, held.now)
    await software.publish(tx, world, release)


async def _lock(tx: Tx, world: str) -> Releases:
    if await worlds.lock(tx, world) is None:
        raise _no_world(world)
    return await known_releases(tx, world)


async def listed(tx: Tx, world: str) -> Releases:
    """The world's releases, oldest first."""
    if await worlds.read(tx, world) is None:
        raise _no_world(world)
    return await known_releases(tx, world)


def _no_world(world: str) -> NotFound:
    return NotFound(f"There is no world '{world}'. Create it with `windtunnel world create {world}`.")
