"""Releases of the HyperPod AMI: their order, what stands of one, and the image that a request asks for (HP-30)."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from app.core.chance import digest
from app.core.errors import Invalid

_VERSION = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}")
DEFAULT = "default"
UP_TO_DATE, AVAILABLE, SECURITY, END = "UpToDate", "UpdateAvailable", "SecurityUpdateRequired", "EndOfLife"


@dataclass(frozen=True, slots=True)
class Release:
    """A release of the AMI that HyperPod manages. `security` says that it mends what older ones must not keep."""

    version: str
    security: bool = False
    retired: bool = False


def number(version: str) -> tuple[int, ...]:
    """What versions are ordered by."""
    return tuple(map(int, version.split(".")))


def check_version(version: str) -> str:
    """The version without leading zeros; Invalid if it is none."""
    if not _VERSION.fullmatch(version):
        raise Invalid(f"'{version[:80]}' is no version. Give MAJOR.MINOR.PATCH, such as 1.2.0.")
    return ".".join(map(str, number(version)))


class Releases:
    """The releases that a world has."""

    def __init__(self, found: Iterable[Release]) -> None:
        self._by_version: Mapping[str, Release] = {
            one.version: one for one in sorted(found, key=lambda one: number(one.version))
        }
        self._by_ami = {ami(version): version for version in self._by_version}
        self._standing = dict(_standings(self._by_version.values()))

    def __iter__(self) -> Any:
        return iter(self._by_version.values())

    @property
    def newest(self) -> str:
        """The version that new clusters start on: the highest that is not retired."""
        living = [one.version for one in self._by_version.values() if not one.retired]
        return living[-1] if living else list(self._by_version)[-1]

    def patch_of(self, image: str) -> str | None:
        """The newest living patch of the image's MAJOR.MINOR that is newer than it; a custom AMI has none."""
        if is_custom(image):
            return None
        *line, patch = number(image)
        living = [number(one.version) for one in self if not one.retired]
        newest = max((of for *its, of in living if its == line), default=patch)
        return ".".join(map(str, (*line, newest))) if newest > patch else None

    def image(self, ami_id: str | None, version: str | None, otherwise: str) -> str:
        """The image that `ImageId` and `ImageReleaseVersion` ask for; without either it is `otherwise`."""
        if version is not None:
            if ami_id not in (None, DEFAULT) and self._by_ami.get(ami_id or "") != version:
                raise Invalid("Give ImageId or ImageReleaseVersion, not both.")
            return self._known(version)
        if ami_id is None:
            return otherwise
        return self.newest if ami_id == DEFAULT else self._by_ami.get(ami_id, ami_id)

    def _known(self, version: str) -> str:
        release = self._by_version.get(check_version(version))
        if release is None or release.retired:
            versions = ", ".join(one.version for one in self._by_version.values() if not one.retired)
            why = "is not known" if release is None else "has reached its end of life"
            raise Invalid(f"ImageReleaseVersion {version} {why}. Choose one of: {versions}.")
        return release.version

    def standing(self, image: str | None) -> str | None:
        """The value of `ImageVersionStatus`; nothing is known of a custom AMI."""
        return self._standing.get(image or "")


def _standings(oldest_first: Collection[Release]) -> Iterator[tuple[str, str]]:
    """What stands of each version, by those that are newer and not retired."""
    living = UP_TO_DATE
    for one in reversed(list(oldest_first)):
        yield one.version, END if one.retired else living
        if not one.retired:
            living = SECURITY if one.security or living == SECURITY else AVAILABLE


def ami(image: str) -> str:
    """The AMI id of an image: a custom one's own, or what we give a release."""
    return image if is_custom(image) else _ami_of(image)


@lru_cache(1024)
def _ami_of(version: str) -> str:
    return "ami-" + digest(0, version, "ami", 9).hex()[:17]


def is_custom(image: str) -> bool:
    """True for an AMI of the customer's."""
    return image.startswith("ami-")


def release_of(image: str | None) -> str | None:
    """The release that an image is; None for a custom AMI, and where nothing is known."""
    return None if image is None or is_custom(image) else image


def image_members(current: str | None, desired: str | None) -> dict[str, Any]:
    """The image members of descriptions."""
    found: dict[str, Any] = {}
    for when, image in (("Current", current), ("Desired", desired)):
        if image is not None:
            found[f"{when}ImageId"] = ami(image)
            found[f"{when}ImageReleaseVersion"] = release_of(image)
    return found
