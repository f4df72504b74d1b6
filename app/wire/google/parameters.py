"""The query parameters that every Google API takes over REST."""

from collections.abc import Mapping

from app.request_log import one_line
from app.wire.google.errors import Violation
from app.wire.google.reading import refusal

STANDARD = frozenset(
    [
        "alt",
        "$alt",
        "access_token",
        "callback",
        "fields",
        "$fields",
        "key",
        "oauth_token",
        "prettyPrint",
        "quotaUser",
        "uploadType",
        "upload_protocol",
        "userIp",
        "$.xgafv",
        "$userProject",
        "trace",
        "$trace",
    ]
)
"""But for `alt` they are of no effect here."""
_INT_ENUMS = "enum-encoding=int"


def wants_numbers(standard: Mapping[str, str]) -> bool:
    """Whether enums of the answer are wanted by number. GoogleError when something else than JSON is wanted."""
    alt = standard.get("$alt") or standard.get("alt") or "json"
    kind, *options = alt.split(";")
    if kind != "json" or any(option not in (_INT_ENUMS, "enum-encoding=string") for option in options):
        told = f"Answers are JSON alone, not '{one_line(alt)}': leave alt out, or send alt=json."
        raise refusal([Violation("alt", told)])
    return _INT_ENUMS in options


def unbound(name: str) -> Violation:
    """What is wrong with a parameter that the request does not have."""
    shown = one_line(name)
    told = (
        f'Invalid JSON payload received. Unknown name "{shown}": Cannot bind query parameter. '
        f"Field '{shown}' could not be found in request message."
    )
    return Violation("", told)
