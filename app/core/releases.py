"""Releases of the HyperPod AMI: their order, what stands of one, and the image that a request asks for (HP-30)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
        release = self._by_version.get(image or "")
        if release is None:
            return None
        if release.retired:
            return END
        newer = [one for one in self if number(one.version) > number(release.version) and not one.retired]
        if any(one.security for one in newer):
            return SECURITY
        return AVAILABLE if newer else UP_TO_DATE


def ami(image: str) -> str:
    """The AMI id of an image: a custom one's own, or what we give a release."""
    return image if is_custom(image) else "ami-" + digest(0, image, "ami", 9).hex()[:17]


def is_custom(image: str) -> bool:
    """True for an AMI of the customer's."""
    return image.startswith("ami-")


def image_members(current: str | None, desired: str | None) -> dict[str, Any]:
    """The image members of descriptions."""
    found: dict[str, Any] = {}
    for when, image in (("Current", current), ("Desired", desired)):
        if image is not None:
            found[f"{when}ImageId"] = ami(image)
            found[f"{when}ImageReleaseVersion"] = None if is_custom(image) else image
    return found
