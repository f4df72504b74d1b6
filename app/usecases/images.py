"""The releases that a world has, the catalogue's and those that it was given besides, and what a group starts on."""

from collections.abc import Iterable
from dataclasses import replace

from app import catalog
from app.core.cluster import Group
from app.core.releases import DEFAULT, Release, Releases
from app.store import software
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
