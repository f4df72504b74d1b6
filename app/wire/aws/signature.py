"""SigV4: who asks and for which region, and, when it is to be verified, whether they hold the secret (HP-W6).

The two modes are two classes with one method. `Trusting` reads account and region and looks at nothing else;
`Verifying` answers AWS's codes. The canonical forms are in `canonical.py`.
"""

import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256

from app.clock import wall_now
from app.wire.aws import canonical
from app.wire.aws.canonical import Signed
from app.wire.aws.errors import AwsError

SKEW = timedelta(minutes=15)
LONGEST_EXPIRY_S = 604_800

_ACCOUNT = re.compile(r"[0-9]{12}")
_REGION = re.compile(r"[a-z]{2}(-[a-z]+){1,3}-[0-9]{1,2}")
_CREDENTIAL = re.compile(r"Credential=([^/,\s]*)/[^/,\s]*/([^/,\s]*)/")
_DATE = re.compile(r"[0-9]{8}T[0-9]{6}Z")
_EXAMPLE = "AKID/20260131/us-west-2/sagemaker/aws4_request"

_UNKNOWN = "The security token included in the request is invalid."
_MISMATCH = (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
    "Access Key and signing method. Consult the service documentation for details."
)


@dataclass(frozen=True, slots=True)
class Key:
    """A secret, and for a temporary key its session token and when that ends (wall time)."""

    secret: str
    token: str | None = None
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose state the request is about."""

    account: str
    region: str


def keys_from(settings: Iterable[str]) -> dict[str, Key]:
    """`AKID:SECRET`, or `AKID:SECRET:TOKEN:2026-01-31T00:00:00Z` for a temporary key; ValueError on other forms."""
    keys = {}
    for entry in settings:
        access_key, secret, *rest = entry.split(":", 3)
        expires = datetime.fromisoformat(rest[1]) if len(rest) > 1 else None
        if expires is not None and expires.tzinfo is None:
            expires = expires.replace(tzinfo=UTC)
        keys[access_key] = Key(secret, rest[0] if rest else None, expires)
    return keys


class Trusting:
    """No signature is needed; one that is there is read for account and region only."""

    def __init__(self, default_account: str = "111122223333", default_region: str = "us-west-2") -> None:
        self._nobody = Caller(default_account, default_region)
        self._of_credential = lru_cache(1024)(self._read)

    def caller(self, request: Signed, service: str, account: str | None = None) -> Caller:
        """The account and region that the request names, or `account` and the defaults."""
        authorization = request.header("authorization")
        if authorization is None:
            credential = dict(request.query_pairs()).get("X-Amz-Credential") if request.query else None
            authorization = f"Credential={credential}"
        return self._of_credential(authorization[:512], account)

    def _read(self, authorization: str, otherwise: str | None) -> Caller:
        nobody = Caller(otherwise or self._nobody.account, self._nobody.region)
        found = _CREDENTIAL.search(authorization)
        if found is None:
            return nobody
        account, region = found.groups()
        return Caller(
            account if _ACCOUNT.fullmatch(account) else nobody.account,
            region if _REGION.fullmatch(region) else self._nobody.region,
        )


class Verifying:
    """Only requests signed with one of `keys`, within fifteen minutes of the wall clock."""

    def __init__(self, keys: Mapping[str, Key], default_account: str = "111122223333") -> None:
        self._keys = keys
        self._default_account = default_account

    def caller(self, request: Signed, service: str, account: str | None = None) -> Caller:
        """Who signed; AwsError with AWS's code when that cannot be told."""
        claim = canonical.claim_of(request)
        access_key, day, region, scope_service, terminator = _scope_of(claim.credential)
        key = self._keys.get(access_key)
        if key is None:
            raise AwsError("UnrecognizedClientException", _UNKNOWN)
        if scope_service != service:
            raise _invalid(f"Credential should be scoped to correct service: '{service}'.")
        if not _REGION.fullmatch(region):
            raise _invalid("Credential should be scoped to a valid region.")
        if terminator != "aws4_request":
            raise _invalid("Credential should be scoped with a valid terminator: 'aws4_request'.")
        now = wall_now()
        _check_age(claim, day, now)
        _check_signed_headers(request, claim.signed_headers)
        expected = canonical.signature(request, claim, _signing_key(key.secret, day, region, service))
        if not hmac.compare_digest(expected.encode(), claim.signature.encode("utf-8", "replace")):
            raise _invalid(_MISMATCH)
        _check_token(key, claim.token, now)
        return Caller(access_key if _ACCOUNT.fullmatch(access_key) else account or self._default_account, region)


def _scope_of(credential: str) -> list[str]:
    parts = credential.split("/")
    if len(parts) != 5:
        raise canonical.incomplete(
            f"Credential must have exactly 5 slash-delimited elements, e.g. {_EXAMPLE}, got {len(parts)}."
        )
    return parts


def _check_age(claim: canonical.Claim, day: str, now: datetime) -> None:
    if not _DATE.fullmatch(claim.date):
        raise canonical.incomplete("Date must be in ISO-8601 'basic format', e.g. 20260131T235959Z.")
    if claim.date[:8] != day:
        raise _invalid("Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP.")
    try:
        signed_at = datetime.strptime(claim.date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise canonical.incomplete("Date must be a moment that exists.") from None
    life = SKEW if claim.expires is None else timedelta(seconds=_expiry(claim.expires))
    if signed_at + life < now:
        limit = now - life
        raise _invalid(f"Signature expired: {claim.date} is now earlier than {limit:%Y%m%dT%H%M%SZ}.")
    if signed_at > now + SKEW:
        limit = now + SKEW
        raise _invalid(f"Signature not yet current: {claim.date} is still later than {limit:%Y%m%dT%H%M%SZ}.")


def _expiry(value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", value) or not 1 <= int(value) <= LONGEST_EXPIRY_S:
        raise canonical.incomplete(f"X-Amz-Expires must be between 1 and {LONGEST_EXPIRY_S} seconds.")
    return int(value)


def _check_signed_headers(request: Signed, signed: tuple[str, ...]) -> None:
    """`Host` and all of AWS's own headers must be covered, or another target could be slipped in."""
    if "host" not in signed:
        raise _invalid("'Host' must be a 'SignedHeader' in the AWS Authorization.")
    for name in request.names():
        if name.startswith("x-amz-") and name not in signed:
            raise _invalid("There were X-Amz headers present in the request which were not signed.")


def _check_token(key: Key, token: str | None, now: datetime) -> None:
    if not hmac.compare_digest((key.token or "").encode(), (token or "").encode("utf-8", "replace")):
        raise AwsError("UnrecognizedClientException", _UNKNOWN)
    if key.expires is not None and key.expires <= now:
        raise AwsError("ExpiredTokenException", "The security token included in the request is expired.")


def _invalid(message: str) -> AwsError:
    return AwsError("InvalidSignatureException", message)


@lru_cache(64)
def _signing_key(secret: str, day: str, region: str, service: str) -> bytes:
    key = ("AWS4" + secret).encode()
    for part in (day, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), sha256).digest()
    return key
