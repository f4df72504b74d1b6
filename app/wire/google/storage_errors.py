"""Refusals of Cloud Storage, whatever the reason."""

from typing import Any

from fastapi import Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from app.core.errors import Conflict, DomainError, InUse, LimitExceeded, NotFound
from app.core.objects import OutOfRange, Unchanged, Unmet
from app.wire.google.storage_dialect import MEDIA_TYPE, body

_STATUSES: dict[type[DomainError], int] = {
    NotFound: 404,
    InUse: 409,
    Conflict: 409,
    Unmet: 412,
    Unchanged: 304,
    OutOfRange: 416,
    LimitExceeded: 413,
}


def refused(method: str, error: Exception) -> Response:
    """The answer that tells `error`."""
    headers: dict[str, str] = {}
    if isinstance(error, DomainError):
        status, text = _STATUSES.get(type(error), 400), error.message
        if isinstance(error, OutOfRange):
            headers["content-range"] = f"bytes */{error.size}"
    elif isinstance(error, RequestValidationError):
        status, text = 400, "; ".join(map(_problem, error.errors()[:5]))
    else:
        assert isinstance(error, HTTPException)
        status, text = error.status_code, str(error.detail)
        headers |= error.headers or {}
        if status == 405:
            text = f"This path does not take {method}."
    if status == 304:
        return Response(status_code=304)
    return Response(body(status, text), status, headers, media_type=MEDIA_TYPE)


def _problem(problem: Any) -> str:
    if problem["type"] == "json_invalid":
        return "Parse Error: the body is no JSON."
    place = ".".join(str(part) for part in problem["loc"] if part not in ("body", "query", "path"))
    return f"Invalid value at '{place or 'the body'}': {problem['msg']}"
