"""From a path of REST to the RPC and the fields that it sets (VX-18). The paths are too regular for a table of routes.

`/v1/projects/P/locations/L/customJobs/ID:cancel`: ids are replaced by `*`, and what is left is looked up. Operations
may be asked for under any resource; they and locations also under `/ui/`, where the SDK looks for them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from app.wire.google.errors import Code, GoogleError
from app.wire.vertex.rpc import LOCATIONS, OPERATIONS, RPCS, Rpc

_NOT_EMULATED = {
    "persistentResources": ("POST",),
    "persistentResources/*": ("PATCH", "DELETE"),
    "tensorboards/*": ("PATCH",),
}
"""What the service takes at paths that are served here for other methods."""
VERSIONS = {"v1": "v1", "v1beta1": "v1beta1", "ui": "v1"}


@dataclass(frozen=True, slots=True)
class Route:
    """The RPC that a request is for, in which version of the API, and the name that its path has."""

    rpc: Rpc
    version: str
    name: str


def route(method: str, path: str) -> Route:
    """Where a request goes. GoogleError 404, 405 or 501 says that it goes nowhere."""
    _, prefix, *parts = path.split("/")
    version = VERSIONS.get(prefix)
    if version is None or len(parts) < 3 or parts[0] != "projects" or parts[2] != "locations":
        raise GoogleError(Code.NOT_FOUND, f"Nothing is served at {path[:200]}. docs/coverage.md lists what is.")
    parts[-1], colon, verb = parts[-1].partition(":")
    pattern = _pattern(parts) + colon + verb
    methods = _table(mixins_only=prefix == "ui").get(pattern)
    if methods is None or method in _NOT_EMULATED.get(pattern, ()):
        raise GoogleError(
            Code.UNIMPLEMENTED,
            f"{method} {path[:200]} is not emulated: of Vertex AI this service has custom jobs, hyperparameter tuning "
            "jobs, training pipelines and what their clients ask beside. docs/coverage.md lists all of it.",
        )
    if method not in methods:
        allowed = ", ".join(sorted(methods))
        text = f"{method} is not served at {path[:200]}; it takes {allowed}."
        raise GoogleError(Code.UNIMPLEMENTED, text, http=405)
    found = methods[method]
    return Route(found, version, "/".join(parts if found.path.partition(":")[0].endswith("*") else parts[:-1]))


def _pattern(parts: list[str]) -> str:
    """`customJobs/*` of what comes after the location; operations and locations are known by their end."""
    if len(parts) <= 4:
        return "locations/*" if len(parts) == 4 else "locations"
    path = ["*" if place % 2 else part for place, part in enumerate(parts[4:])]
    if len(path) > 2 and path[-2:] == ["operations", "*"]:
        path = path[-2:]
    elif len(path) > 2 and path[-1] == "operations":
        path = path[-1:]
    return "/".join(path)


@cache
def _table(*, mixins_only: bool) -> Mapping[str, Mapping[str, Rpc]]:
    """Pattern -> method -> RPC."""
    table: dict[str, dict[str, Rpc]] = {}
    for each in RPCS.values():
        if each.service in (OPERATIONS, LOCATIONS) or not mixins_only:
            table.setdefault(each.path, {})[each.method] = each
    return table
