"""A request's JSON as a message, or one refusal that names everything that is wrong with it (VX-19)."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import orjson
from pydantic import ValidationError

from app.wire.google.errors import Code, GoogleError, Violation, bad_request
from app.wire.google.proto import UNKNOWN, Message
from app.wire.google.scalars import INVALID

M = TypeVar("M", bound=Message)

MOST_DEEP = 100
"""Levels of a message; the protobuf libraries' own limit."""
MOST_TOLD = 100
_PAYLOAD = "Invalid JSON payload received. "
NO_MESSAGE = f'{_PAYLOAD}Unknown name "": Root element must be a message.'
_SHOWN = 100


def parsed(body: bytes) -> Any:
    """The JSON of a body; nothing at all stands for an empty message."""
    if not body.strip():
        return {}
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        # orjson counts characters of text that is UTF-8, and bytes of what is not.
        at = error.pos
        text = body.decode("utf-8", "replace")
        begin = max(at - 20, text.rfind("\n", 0, at) + 1)
        line = text[begin : begin + 40].partition("\n")[0]
        raise refusal([Violation("", f"{_PAYLOAD}Unexpected token.\n{line}\n{' ' * (at - begin)}^")]) from None


def read(kind: type[M], value: Any, *, package: str, version: str) -> M:
    """`value` as a message of the API's package and version, output-only fields dropped."""
    if not isinstance(value, Mapping):
        raise refusal([Violation("", NO_MESSAGE)])
    if is_deeper(value, MOST_DEEP):
        raise refusal([Violation("", f"{_PAYLOAD}Message too deep. Max recursion depth reached.")])
    try:
        return kind.model_validate(value, context={"package": package, "version": version})
    except ValidationError as error:
        found = error.errors(include_url=False)
        raise refusal([_violation(dict(each)) for each in found[:MOST_TOLD]], len(found) - MOST_TOLD) from None


def refusal(violations: list[Violation], more: int = 0) -> GoogleError:
    """The refusal of a payload, a line for each violation."""
    text = "\n".join(each.description for each in violations) + (f"\nand {more} more" if more > 0 else "")
    return GoogleError(Code.INVALID_ARGUMENT, text, [bad_request(violations)])


def is_deeper(value: Any, levels: int) -> bool:
    """True when containers are nested in `value` more than `levels` deep."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [inner for outer in layer for inner in _inside(outer) if isinstance(inner, dict | list)]
        if not layer:
            return False
    return True


def _inside(value: Any) -> Iterator[Any]:
    return iter(value.values() if isinstance(value, dict) else value)


def _violation(problem: Mapping[str, Any]) -> Violation:
    place: tuple[Any, ...] = problem["loc"]
    if problem["type"] in ("extra_forbidden", UNKNOWN):
        return _unknown(place, "Cannot find field.")
    if isinstance(problem["input"], list) and not problem["type"].endswith("_type"):
        return _unknown(place, "Proto field is not repeating, cannot start list.")
    path = path_of(place)
    context = problem.get("ctx", {}) if problem["type"] == INVALID else {}
    kind, told = context.get("kind", "map"), context.get("told") or _shown(problem["input"])
    if kind.startswith("type.") and context.get("told"):
        told = f"Field '{path_of(place[-1:])}', {told}"
    return Violation(path, f"Invalid value at '{path}' ({kind}), {told}")


def _unknown(place: tuple[Any, ...], why: str) -> Violation:
    *outer, name = place
    path = path_of(tuple(outer))
    where = f" at '{path}'" if path else ""
    return Violation(path, f'{_PAYLOAD}Unknown name "{_cut(str(name))}"{where}: {why}')


def path_of(place: tuple[Any, ...]) -> str:
    """`("job_spec", "worker_pool_specs", 0)` as `job_spec.worker_pool_specs[0]`."""
    path = ""
    for part in place:
        if part == "[key]":
            continue
        path += f"[{part}]" if isinstance(part, int) else f".{_cut(part.rstrip('_'))}"
    return path.removeprefix(".")


def _shown(value: Any) -> str:
    return _cut(orjson.dumps(value, default=str).decode())


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
