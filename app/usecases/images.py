"""The releases that a world has, the catalogue's and those that it was given besides, and what a group starts on."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from app import catalog
from app.core.releases import DEFAULT, Release, Releases
from app.store import software
from app.store.db import Tx


def releases_of(found: Iterable[Release]) -> Releases:
    """The catalogue's releases and these; what is said of one here counts."""
    return _releases(tuple(found))


@lru_cache(64)
def _releases(found: tuple[Release, ...]) -> Releases:
    """Worlds have the same ones, and those are asked for by each description."""
    by_version = {version: Release(version) for version in catalog.image_releases()}
    return Releases({**by_version, **{one.version: one for one in found}}.values())


async def known_releases(tx: Tx, world: str) -> Releases:
    return releases_of(await software.releases(tx, world))


def image_asked(request: Mapping[str, Any], images: Releases, otherwise: str) -> str:
    """The image that a group's request asks for. A new group of a continuous cluster inherits the earliest group's
    (service model)."""
    image = request.get("ImageId")
    return images.image(None if image == DEFAULT else image, request.get("ImageReleaseVersion"), otherwise)
