"""SigV4's canonical forms: what a request claims, and the signature that would prove it.

Source: "Create a signed AWS API request" in the IAM User Guide. The payload is always hashed here: SDKs of AWS
JSON services send no `X-Amz-Content-Sha256`, and a hash that the client states proves nothing.
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote, unquote_to_bytes

from app.wire.aws.errors import AwsError

ALGORITHM = "AWS4-HMAC-SHA256"
_SIGNATURE = "X-Amz-Signature"
_FIELDS = ("Credential", "Signature", "SignedHeaders")


@dataclass(frozen=True, slots=True)
class Signed:
    """A request as it was received: path and query as they stood on the wire, header names in lower case."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of header `name` (lower case)."""
        return next((value for key, value in self.headers if key == name), None)

    def names(self) -> Iterable[str]:
        """The names of all headers."""
        return (name for name, _ in self.headers)

    def query_pairs(self) -> list[tuple[str, str]]:
        """The query's names and values, decoded, in order; `+` is a plus."""
        pairs = (part.partition("=") for part in self.query.split("&") if part)
        return [(_decoded(name), _decoded(value)) for name, _, value in pairs]


@dataclass(frozen=True, slots=True)
class Claim:
    """What a signed request says of itself. `expires` (seconds) is there for presigned ones only."""

    credential: str
    signed_headers: tuple[str, ...]
    signature: str
    date: str
    token: str | None
    expires: str | None
    query: list[tuple[str, str]]


def incomplete(message: str) -> AwsError:
    """The refusal of an authorization that cannot be read."""
    return AwsError("IncompleteSignatureException", message)


def claim_of(request: Signed) -> Claim:
    """The request's claim, from its header or, presigned, its query; AwsError when there is none or a part lacks."""
    pairs = request.query_pairs()
    authorizations = [value for name, value in request.headers if name == "authorization"]
    in_query = any(name in (_SIGNATURE, "X-Amz-Algorithm") for name, _ in pairs)
    if len(authorizations) + in_query > 1:
        raise incomplete("A request must carry one authorization, in its header or in its query.")
    if authorizations:
        return _from_header(request, authorizations[0], pairs)
    if in_query:
        return _from_query(pairs)
    raise AwsError("MissingAuthenticationTokenException", "Missing Authentication Token")


def _from_header(request: Signed, authorization: str, pairs: list[tuple[str, str]]) -> Claim:
    algorithm, _, rest = authorization.strip().partition(" ")
    fields: dict[str, str] = {}
    for part in rest.split(","):
        name, _, value = part.strip().partition("=")
        if name in fields:
            raise incomplete(f"Authorization header has more than one '{name[:40]}' parameter.")
        fields[name] = value
    dates = [value for name, value in request.headers if name == "x-amz-date"]
    lacking = [f"Authorization header requires '{name}' parameter." for name in _FIELDS if not fields.get(name)]
    if not dates:
        lacking.append("Authorization header requires existence of a 'X-Amz-Date' header.")
    if lacking or algorithm != ALGORITHM or len(dates) != 1:
        raise incomplete(" ".join(lacking) or f"Authorization must be {ALGORITHM} with one 'X-Amz-Date'.")
    return Claim(
        credential=fields["Credential"],
        signed_headers=tuple(fields["SignedHeaders"].lower().split(";")),
        signature=fields["Signature"],
        date=dates[0],
        token=request.header("x-amz-security-token"),
        expires=None,
        query=pairs,
    )


def _from_query(pairs: list[tuple[str, str]]) -> Claim:
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name in fields and name.startswith("X-Amz-"):
            raise incomplete(f"The query has more than one '{name[:40]}'.")
        fields[name] = value
    needed = ("Credential", "Date", "Expires", "SignedHeaders", "Signature")
    lacking = [name for name in needed if not fields.get(f"X-Amz-{name}")]
    if lacking or fields.get("X-Amz-Algorithm") != ALGORITHM:
        raise incomplete(" ".join(f"AWS query-string parameters must include 'X-Amz-{name}'." for name in lacking)
                         or f"X-Amz-Algorithm must be {ALGORITHM}.")  # fmt: skip
    return Claim(
        credential=fields["X-Amz-Credential"],
        signed_headers=tuple(fields["X-Amz-SignedHeaders"].lower().split(";")),
        signature=fields[_SIGNATURE],
        date=fields["X-Amz-Date"],
        token=fields.get("X-Amz-Security-Token"),
        expires=fields["X-Amz-Expires"],
        query=[pair for pair in pairs if pair[0] != _SIGNATURE],
    )


def signature(request: Signed, claim: Claim, signing_key: bytes) -> str:
    """The signature that the holder of `signing_key` would have given `request`, in hex."""
    canonical = "\n".join(
        (
            request.method,
            canonical_path(request.path),
            canonical_query(claim.query),
            canonical_headers(request, claim.signed_headers),
            ";".join(claim.signed_headers),
            sha256(request.body).hexdigest(),
        )
    )
    scope = claim.credential.partition("/")[2]
    to_sign = "\n".join(
        (ALGORITHM, claim.date, scope, sha256(canonical.encode("utf-8", "surrogateescape")).hexdigest())
    )
    return hmac.new(signing_key, to_sign.encode("utf-8", "surrogateescape"), sha256).hexdigest()


def canonical_path(path: str) -> str:
    """The path without dot segments and empty ones, encoded once more than on the wire (all but S3)."""
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    normal = "/" + "/".join(kept) + ("/" if kept and path.endswith("/") else "")
    return quote(normal.encode("utf-8", "surrogateescape"), safe="/~")


def canonical_query(pairs: list[tuple[str, str]]) -> str:
    """Names and values encoded and then sorted."""
    return "&".join(f"{name}={value}" for name, value in sorted((_encoded(n), _encoded(v)) for n, v in pairs))


def canonical_headers(request: Signed, names: tuple[str, ...]) -> str:
    """One line for each signed header, runs of white space made one space, several values joined by commas."""
    lines = []
    for name in names:
        values = [" ".join(value.split()) for key, value in request.headers if key == name]
        lines.append(f"{name}:{','.join(values)}\n")
    return "".join(lines)


def _decoded(part: str) -> str:
    return unquote_to_bytes(part).decode("utf-8", "surrogateescape")


def _encoded(part: str) -> str:
    return quote(part.encode("utf-8", "surrogateescape"), safe="-_.~")
