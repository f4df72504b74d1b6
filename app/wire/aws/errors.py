"""Refusals and failures in AWS's words: which code, which status, and the body that carries them (HP-W3)."""

from dataclasses import dataclass

import orjson

from app.core.errors import Conflict, DomainError, InUse, LimitExceeded, NotFound
from app.failures import is_database_away

CONTENT_TYPE = b"application/x-amz-json-1.1"

INVALID = "ValidationException"
_CODES: dict[type[DomainError], tuple[str, ...]] = {
    NotFound: ("ResourceNotFound", "ResourceNotFoundException"),
    InUse: ("ResourceInUse", "ResourceAlreadyExists", "ConflictException"),
    LimitExceeded: ("ResourceLimitExceeded", "LimitExceededException"),
    Conflict: ("ConflictException", "ResourceInUse"),
}
"""Codes that say it, best first. An operation answers the first that its model declares, else it is invalid input."""
_UNDECLARED: dict[type[DomainError], str] = {Conflict: "ConflictException"}
"""Told even where the model does not declare it: a failed cluster refuses every change in the same way (HP-9)."""


class AwsError(Exception):
    """An answer that is not a success, whoever decided on it: code, text for the user, HTTP status."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: status, AWS's error code or None, body, and headers beyond those of every answer."""

    status: int
    code: str | None
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def all_headers(self, request_id: str) -> list[tuple[bytes, bytes]]:
        """The headers to send, with those that every answer has (HP-W1)."""
        return [
            (b"content-type", CONTENT_TYPE),
            (b"content-length", str(len(self.body)).encode()),
            (b"x-amzn-requestid", request_id.encode()),
            *self.headers,
        ]


def refusal(error: AwsError, *headers: tuple[bytes, bytes]) -> Answer:
    """The answer that tells `error`. Both spellings of the text: SDKs and the model's shapes differ in it.

    Python's SDK reads the code from the body alone, Java's and Go's from the header.
    """
    body = {"__type": error.code, "message": error.message, "Message": error.message}
    named = (b"x-amzn-errortype", error.code.encode())
    return Answer(error.status, error.code, orjson.dumps(body), (named, *headers))


def of_domain(error: DomainError, declared: frozenset[str]) -> AwsError:
    """The domain's refusal under the code that the operation declares for it."""
    codes = _CODES.get(type(error), ())
    otherwise = _UNDECLARED.get(type(error), INVALID)
    return AwsError(next((code for code in codes if code in declared), otherwise), error.message)


def of_failure(error: Exception, request_id: str) -> AwsError:
    """A failure of ours: 503 when the database is away or slow, else 500. Never tells how it came about."""
    if is_database_away(error):
        text = f"The database did not answer in time; nothing was acknowledged, so retry. Request {request_id}."
        return AwsError("ServiceUnavailable", text, 503)
    text = f"The emulator failed on this request; its log names the cause under request {request_id}."
    return AwsError("InternalFailure", text, 500)
