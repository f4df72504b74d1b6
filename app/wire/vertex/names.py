"""Names of resources: `projects/P/locations/L/customJobs/ID`. A request names the project by id or number; an answer
by its number (VX-18)."""

import re
from dataclasses import dataclass

from app import catalog
from app.core.projects import number_of
from app.core.scope import Scope
from app.wire.google.errors import GoogleError, wrong_field

_PROJECT = re.compile(r"(?:[a-z0-9.-]{1,63}:)?[a-z0-9][a-z0-9-]{0,62}")
_PART = re.compile(r"[^/\x00]{1,256}")
LOCATIONS = "locations"


@dataclass(frozen=True, slots=True)
class Name:
    """A parsed name. `path` is what comes after the location: collections and ids in turn, perhaps nothing."""

    project: str
    location: str
    path: tuple[str, ...] = ()

    @property
    def collections(self) -> tuple[str, ...]:
        return self.path[::2]

    @property
    def id(self) -> str:
        """The last id; of a name that ends with a collection there is none."""
        return self.path[-1]

    @property
    def local(self) -> str:
        """What comes after the location, as text."""
        return "/".join(self.path)

    def scope(self, world: str) -> Scope:
        """Whose state the name is about: the project's number is the account."""
        return Scope(world, number_of(self.project), self.location)


def parse(text: str, field: str) -> Name:
    """The name that a request's `field` holds. GoogleError for what cannot be one, or is of no known location."""
    parts = text.split("/")
    if len(parts) < 2 or parts[0] != "projects" or not all(map(_PART.fullmatch, parts)):
        raise _malformed(field, text, "projects/PROJECT/locations/LOCATION/…")
    if not _PROJECT.fullmatch(parts[1]):
        raise _malformed(field, text, "a project's id (lower-case letters, digits and hyphens) or number")
    if len(parts) == 2:
        return Name(parts[1], "")
    if len(parts) < 4 or parts[2] != LOCATIONS:
        raise _malformed(field, text, "projects/PROJECT/locations/LOCATION/…")
    if parts[3] not in catalog.vertex_regions():
        told = f"Location '{parts[3][:80]}' is not supported. Use one such as us-central1 or europe-west4."
        raise wrong_field(field, told)
    return Name(parts[1], parts[3], tuple(parts[4:]))


def full(scope: Scope, *path: str) -> str:
    """The name as an answer tells it."""
    return "/".join(("projects", scope.account, LOCATIONS, scope.region, *path))


def _malformed(field: str, text: str, wanted: str) -> GoogleError:
    told = f"'{text[:120]}' is no resource name: it must have {wanted}."
    return wrong_field(field, told)
