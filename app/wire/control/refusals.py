"""How the control API says no: `{"error": {"code", "message"}}`, whatever the reason."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from app.core.errors import Conflict, DomainError, InUse, LimitExceeded, NotFound
from app.wire.request_log import one_line

_STATUSES: dict[type[DomainError], int] = {NotFound: 404, InUse: 409, Conflict: 409, LimitExceeded: 409}
_HTTP_CODES = {404: "NotFound", 405: "MethodNotAllowed"}
_SHOWN = 5


def install(app: FastAPI) -> None:
    """Give `app` these answers in place of FastAPI's."""
    app.add_exception_handler(DomainError, _domain)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


def _domain(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, DomainError)
    return refusal(_STATUSES.get(type(error), 400), type(error).__name__, error.message)


def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return refusal(400, "Invalid", problems_text(error.errors()))


def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = _HTTP_CODES.get(error.status_code, "Invalid")
    text = "This path does not take this method." if error.status_code == 405 else str(error.detail)
    return refusal(error.status_code, code, text, dict(error.headers or {}))


def problems_text(problems: Any) -> str:
    """One sentence that names each field and what is wrong with it."""
    told = [_sentence(each) for each in problems[:_SHOWN]]
    more = len(problems) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more > 0 else "")


def _sentence(problem: dict[str, Any]) -> str:
    if problem["type"] == "json_invalid":
        return "The body is not JSON."
    return f"{_place(problem['loc'])}: {_reason(problem)}"


def _place(location: tuple[Any, ...]) -> str:
    parts = [one_line(str(part)) for part in location if part not in ("body", "query", "path")]
    return ".".join(parts) or "the body"


def _reason(problem: dict[str, Any]) -> str:
    if problem["type"] == "extra_forbidden":
        return "is not known here"
    return one_line(str(problem["msg"]).removeprefix("Value error, "))


def refusal(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """The answer."""
    text = message.encode("utf-8", "backslashreplace").decode()  # a message may quote half a surrogate pair
    return JSONResponse({"error": {"code": code, "message": text}}, status, headers)
