"""Which world a call is for, and whether its authority is a name of ours (CT-0, CT-14)."""

import re
from collections.abc import Collection, Iterable

from app.core.scope import DEFAULT_WORLD
from app.wire.google.errors import Code, GoogleError
from app.wire.safety import LOOPBACK_NAMES

HEADER = "x-windtunnel-world"
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")
_NAMED = (".w.localhost", ".localhost")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def world_of(authority: str, metadata: Iterable[tuple[str, str | bytes]], allowed_hosts: Collection[str]) -> str:
    """The world that metadata or authority name (`NAME.localhost:4601`, `NAME.w.localhost:4602`); without, `main`."""
    found = _AUTHORITY.fullmatch(authority.lower())
    host = found[1].strip("[]") if found else ""
    given = [value for key, value in metadata if key == HEADER]
    named = next((host.removesuffix(each) for each in _NAMED if host.endswith(each)), "")
    if not named and host not in (*LOOPBACK_NAMES, *allowed_hosts):
        raise GoogleError(
            Code.PERMISSION_DENIED,
            "The authority must be a name of this service: localhost, NAME.localhost, 127.0.0.1, [::1], or one listed "
            "in WINDTUNNEL_ALLOWED_HOSTS.",
        )
    world = str(given[-1]) if given else named or DEFAULT_WORLD
    if not _NAME.fullmatch(world):
        raise GoogleError(
            Code.NOT_FOUND, f"There is no such world. A name in {HEADER} has lower-case letters, digits and dashes."
        )
    return world
