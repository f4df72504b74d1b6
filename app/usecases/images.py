"""Releases of the AMI that HyperPod manages: the catalogue's, and those that a world was given besides."""

from collections.abc import Iterable
from dataclasses import replace

from app import catalog
from app.core.cluster import Group
from app.core.errors import Invalid, NotFound
from app.core.releases import DEFAULT, Release, Releases, check_version
from app.store import software, worlds
from app.store.db import Tx


def releases_of(found: Iterable[Release]) -> Releases:
    """The catalogue's releases and these; what is said of one here counts."""
    by_version = {version: Release(version) for version in catalog.image_releases()}
    return Releases({**by_version, **{one.version: one for one in found}}.values())


async def known_releases(tx: Tx, world: str) -> Releases:
    return releases_of(await software.releases(tx, world))


def on_image(group: Group, images: Releases, otherwise: str) -> Group:
    """On what it asks for. A new group of a continuous cluster inherits the earliest group's image (service model)."""
    request = group.spec["request"]
    image = request.get("ImageId")
    return replace(
        group, image=images.image(None if image == DEFAULT else image, request.get("ImageReleaseVersion"), otherwise)
    )


async def publish(tx: Tx, world: str, version: str, security: bool) -> Release:
    """From now on the world has the release; older images are no longer up to date."""
    known = await _lock(tx, world)
    release = Release(check_version(version), security)
    if any(one.version == release.version for one in known):
        raise Invalid(f"Release {release.version} is there already. Give a version that `windtunnel image list` lacks.")
    await software.publish(tx, world, release)
    return release


async def retire(tx: Tx, world: str, version: str) -> Release:
    """The release has reached its end of life: what runs it goes on, and nothing can be updated to it."""
    known = {one.version: one for one in await _lock(tx, world)}
    found = known.get(check_version(version))
    if found is None:
        raise NotFound(f"There is no release {version}. `windtunnel image list` shows those that are.")
    if all(one.retired for name, one in known.items() if name != found.version):
        raise Invalid(f"{found.version} is the last release that is alive. Publish another one first.")
    retired = Release(found.version, found.security, retired=True)
    await software.publish(tx, world, retired)
    return retired


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
