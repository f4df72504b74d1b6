"""Refusals and failures in Google's words: canonical code, HTTP status, and the envelope that carries them (VX-19)."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple

import orjson

from app.core.errors import Conflict, DomainError, FailedPrecondition, InUse, Invalid, LimitExceeded, NotFound
from app.failures import is_database_away

_TYPE = "type.googleapis.com/google.rpc."
TEXT_LIMIT = 16 * 1024
MOST_VIOLATIONS = 100


class Code(Enum):
    """A canonical code: its number in gRPC and its status in HTTP, as google/rpc/code.proto maps them."""

    CANCELLED = (1, 499)
    UNKNOWN = (2, 500)
    INVALID_ARGUMENT = (3, 400)
    DEADLINE_EXCEEDED = (4, 504)
    NOT_FOUND = (5, 404)
    ALREADY_EXISTS = (6, 409)
    PERMISSION_DENIED = (7, 403)
    RESOURCE_EXHAUSTED = (8, 429)
    FAILED_PRECONDITION = (9, 400)
    ABORTED = (10, 409)
    OUT_OF_RANGE = (11, 400)
    UNIMPLEMENTED = (12, 501)
    INTERNAL = (13, 500)
    UNAVAILABLE = (14, 503)
    DATA_LOSS = (15, 500)
    UNAUTHENTICATED = (16, 401)

    @property
    def number(self) -> int:
        return self.value[0]

    @property
    def http(self) -> int:
        return self.value[1]


class Violation(NamedTuple):
    """One thing wrong with a request: the field's path in its message, in snake case, and why."""

    field: str
    description: str


class GoogleError(Exception):
    """An answer that is not a success. `http` is its status where HTTP knows better than the canonical code."""

    def __init__(self, code: Code, message: str, details: Iterable[Mapping[str, Any]] = (), http: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.message = message if len(message) <= TEXT_LIMIT else message[:TEXT_LIMIT] + "…"
        self.details = list(details)
        self.http = http or code.http


def bad_request(violations: Iterable[Violation]) -> dict[str, Any]:
    """The detail that names fields; a violation of the whole request has no field."""
    told = [
        {"field": each.field, "description": each.description} if each.field else {"description": each.description}
        for each in list(violations)[:MOST_VIOLATIONS]
    ]
    return {"@type": f"{_TYPE}BadRequest", "fieldViolations": told}


def wrong_field(field: str, told: str) -> GoogleError:
    """The refusal of a request for one of its fields."""
    return GoogleError(Code.INVALID_ARGUMENT, told, [bad_request([Violation(field, told)])])


def error_info(reason: str, **metadata: str) -> dict[str, Any]:
    """The detail whose reason the SDK shows as `.reason`."""
    return {"@type": f"{_TYPE}ErrorInfo", "reason": reason, "domain": "googleapis.com", "metadata": metadata}


def envelope(error: GoogleError) -> bytes:
    """The body of an answer that tells `error`."""
    text = error.message.encode("utf-8", "backslashreplace").decode()  # it may quote half a surrogate pair
    told: dict[str, Any] = {"code": error.http, "message": text, "status": error.code.name}
    if error.details:
        told["details"] = error.details
    return orjson.dumps({"error": told}, option=orjson.OPT_INDENT_2)


_CODES: dict[type[DomainError], Code] = {
    Invalid: Code.INVALID_ARGUMENT,
    NotFound: Code.NOT_FOUND,
    InUse: Code.ALREADY_EXISTS,
    LimitExceeded: Code.RESOURCE_EXHAUSTED,
    Conflict: Code.ABORTED,
    FailedPrecondition: Code.FAILED_PRECONDITION,
}


def of_domain(error: DomainError) -> GoogleError:
    """The domain's refusal."""
    return GoogleError(_CODES.get(type(error), Code.INVALID_ARGUMENT), error.message)


def of_failure(error: Exception, request_id: str) -> GoogleError:
    """A failure of ours: 503 when the database is away or slow, else 500. Never tells how it came about."""
    if is_database_away(error):
        text = f"The database did not answer in time; nothing was acknowledged, so retry. Request {request_id}."
        return GoogleError(Code.UNAVAILABLE, text)
    text = f"The emulator failed on this request; its log names the cause under request {request_id}."
    return GoogleError(Code.INTERNAL, text)


def code_of_http(status: int) -> Code:
    """The canonical code that goes with an HTTP status that no canonical code chose."""
    by_status = {413: Code.INVALID_ARGUMENT, 421: Code.PERMISSION_DENIED, 405: Code.UNIMPLEMENTED}
    by_status |= {code.http: code for code in reversed(Code)}  # of several, the first
    return by_status.get(status, Code.INTERNAL if status >= 500 else Code.INVALID_ARGUMENT)
