"""How the control API says no: `{"error": {"code", "message"}}`, whatever the reason."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from app.core.errors import Conflict, DomainError, InUse, LimitExceeded, NotFound
from app.request_log import one_line
from app.wire.control.vocabulary import ACCOUNT, REGION, TEXT, VISIBLE

_STATUSES: dict[type[DomainError], int] = {NotFound: 404, InUse: 409, Conflict: 409, LimitExceeded: 409}
_HTTP_CODES = {404: "NotFound", 405: "MethodNotAllowed", 408: "BodyTooSlow", 413: "BodyTooLarge"}
_SHOWN = 5
_BOUNDS = {
    "greater_than": "too small; give more than {gt}",
    "greater_than_equal": "too small; give at least {ge}",
    "less_than": "too large; give less than {lt}",
    "less_than_equal": "too large; give at most {le}",
}
_REASONS = _BOUNDS | {
    "extra_forbidden": "is not known here; leave it out, or look for its name in openapi/control.json",
    "missing": "is missing; give it",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "finite_number": "must be a finite number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "too large; give a smaller whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text",
    "string_unicode": "must be text that UTF-8 can hold; leave out halves of surrogate pairs",
    "string_too_short": "too short; give {min_length} or more characters",
    "string_too_long": "too long; give {max_length} or fewer characters",
    "too_long": "too many; give at most {max_length}",
    "list_type": "must be a list",
    "model_attributes_type": "must be an object such as {{}}",
    "model_type": "must be an object such as {{}}",
    "dict_type": "must be an object such as {{}}",
}
_FORMS = {
    REGION: "must be a region's name such as us-west-2 or us-central1",
    ACCOUNT: "must be an account's 12 digits, such as 111122223333",
    VISIBLE: "must be visible ASCII without blanks",
    TEXT: "must not hold the character NUL; leave it out",
}
"""What a text must look like, by its pattern."""
_MEANINGS = {
    "by": "virtual seconds; the clock ends in the year 9000",
    "rate": "virtual seconds in a second of the wall",
    "max_wall_seconds": "seconds of the wall",
    "micro_usd_per_hour": "millionths of a dollar",
}


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
    headers = dict(error.headers or {})
    text = str(error.detail)
    if error.status_code == 405:
        text = f"This path does not take {request.method}; it takes {headers.get('Allow', 'another method')}."
    return refusal(error.status_code, code, text, headers)


def problems_text(problems: Any) -> str:
    """One sentence that names each field and what is wrong with it."""
    told = [_sentence(each) for each in problems[:_SHOWN]]
    more = len(problems) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more > 0 else "")


def _sentence(problem: dict[str, Any]) -> str:
    if problem["type"] == "json_invalid":
        return "The body is not JSON. Send an object such as {}."
    return f"{_place(problem['loc'])}: {_reason(problem)}"


def _place(location: tuple[Any, ...]) -> str:
    parts = [one_line(str(part)) for part in location if part not in ("body", "query", "path")]
    return ".".join(parts) or "the body"


def _reason(problem: dict[str, Any]) -> str:
    """What is wrong and what to give, in our words where we have some."""
    kind, facts = problem["type"], problem.get("ctx", {})
    if kind == "string_pattern_mismatch" and facts["pattern"] in _FORMS:
        return _FORMS[facts["pattern"]]
    if kind not in _REASONS:
        return one_line(str(problem["msg"]).removeprefix("Value error, "))
    told = _REASONS[kind].format(**{name: _plain(fact) for name, fact in facts.items()})
    meaning = _MEANINGS.get(str(problem["loc"][-1])) if kind in _BOUNDS else None
    return f"{told} ({meaning})" if meaning else told


def _plain(fact: Any) -> str:
    return f"{fact:,.15g}" if isinstance(fact, int | float) else str(fact)


def refusal(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """The answer."""
    text = message.encode("utf-8", "backslashreplace").decode()  # a message may quote half a surrogate pair
    return JSONResponse({"error": {"code": code, "message": text}}, status, headers)
