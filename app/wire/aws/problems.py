"""AWS's sentences about bad input, and the list in which one request's problems are gathered (HP-W4).

The wordings are those of real answers, with lower-camel paths and lists counted from one:
`Value 'x' at 'a.1.member.b' failed to satisfy constraint: Member must …`. A constraint on a list's or a map's
scalars is told at the list or map, with all constraints of the scalar in brackets. A wrong JSON type is a
`SerializationException`.
"""

from collections.abc import Iterable
from typing import Any

from app.wire.aws.model import Shape

ECHO_LIMIT = 256
"""Characters of a refused value that are told back. AWS tells them all; a long one helps nobody."""
TEXT_LIMIT = 64 * 1024
NOT_NULL = "Member must not be null"
_MAX_DEPTH = 6

_TOKENS = {str: "STRING_VALUE", int: "NUMBER_VALUE", float: "NUMBER_VALUE"}
_TARGETS = {
    "string": "a String",
    "integer": "an Integer",
    "long": "a Long",
    "float": "a Float",
    "double": "a Double",
    "boolean": "a Boolean",
    "timestamp": "a Timestamp",
    "blob": "a Blob",
}


class Problems:
    """What is wrong with one request, and which of its members nobody knows."""

    __slots__ = ("broken", "ignored", "mistyped", "unchecked")

    def __init__(self, unchecked: frozenset[str] = frozenset()) -> None:
        self.unchecked = unchecked
        self.broken: list[str] = []
        self.mistyped: list[str] = []
        self.ignored: list[str] = []

    def breaks(self, value: Any, path: str, constraint: str) -> None:
        """`value` at `path` breaks one constraint, told in AWS's words, unless any value will do there."""
        if value is not None and path.rpartition(".")[2] in self.unchecked:
            return
        shown = "Value null" if value is None else f"Value '{echo(value)}'"
        self.broken.append(f"{shown} at '{path}' failed to satisfy constraint: {constraint}")

    def is_mistyped(self, value: Any, path: str, shape: Shape) -> None:
        """`value` at `path` is of a JSON type that the shape cannot be read from."""
        self.mistyped.append(f"{mistyping(value, shape.kind)} at '{path}'" if path else mistyping(value, shape.kind))


def mistyping(value: Any, kind: str) -> str:
    """What AWS's reader says of a JSON value where `kind` is expected."""
    if isinstance(value, dict):
        return "Start of structure or map found where not expected"
    if kind == "list":
        return "Expected list or null"
    if isinstance(value, list):
        return "Start of list found where not expected"
    if kind in ("structure", "map"):
        return "Expected structure or map or null"
    token = f"{value}_VALUE".upper() if isinstance(value, bool) else _TOKENS.get(type(value), "NULL_VALUE")
    return f"{token} can not be converted to {_TARGETS[kind]}"


def validation_text(sentences: list[str]) -> str:
    """The message of one `ValidationException` that names every problem."""
    count = len(sentences)
    head = "1 validation error detected: " if count == 1 else f"{count} validation errors detected: "
    return head + _joined(sentences)


def serialization_text(sentences: list[str]) -> str:
    """The message of one `SerializationException` that names every member of a wrong type."""
    return _joined(sentences)


def _joined(sentences: list[str]) -> str:
    total = 0
    for count, sentence in enumerate(sentences):
        total += len(sentence)
        if count and total > TEXT_LIMIT:
            return "; ".join(sentences[:count]) + f"; and {len(sentences) - count} more"
    return "; ".join(sentences)


def at_least(shape: Shape) -> str:
    """The sentence of the shape's minimum."""
    return f"Member must have {_measure(shape)} greater than or equal to {shape.minimum}"


def at_most(shape: Shape) -> str:
    """The sentence of the shape's maximum."""
    return f"Member must have {_measure(shape)} less than or equal to {shape.maximum}"


def one_of(choices: Iterable[str]) -> str:
    """The sentence of an enum."""
    return f"Member must satisfy enum value set: [{', '.join(choices)}]"


def like(pattern: str) -> str:
    """The sentence of a pattern."""
    return f"Member must satisfy regular expression pattern: {pattern}"


def exactly_one_of(members: Iterable[str]) -> str:
    """The sentence of a union (chosen: no real text is published)."""
    return f"Exactly one member must be set, of: [{', '.join(lower_camel(member) for member in members)}]"


def every_constraint(shape: Shape) -> str:
    """All that a list's or a map's scalar must satisfy, in brackets and in AWS's order."""
    sentences = []
    if shape.maximum is not None:
        sentences.append(at_most(shape))
    if shape.minimum is not None:
        sentences.append(at_least(shape))
    if shape.pattern is not None:
        sentences.append(like(shape.pattern))
    if shape.choices:
        sentences.append(one_of(shape.choices))
    return f"[{', '.join([*sentences, NOT_NULL])}]"


def lower_camel(member: str) -> str:
    """`InstanceGroups` as `instanceGroups`, the form in which AWS tells paths."""
    return member[:1].lower() + member[1:]


def echo(value: Any) -> str:
    """A value in the form that AWS tells it back: `[a, b]`, `{key=value}`, bounded in length."""
    shown = _shown(value, 0, ECHO_LIMIT + 1)
    return shown if len(shown) <= ECHO_LIMIT else shown[:ECHO_LIMIT] + "…"


def _shown(value: Any, depth: int, room: int) -> str:
    if isinstance(value, str):
        return value[:room]
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if not isinstance(value, list | dict):
        return str(value)
    if depth == _MAX_DEPTH:
        return "…"
    parts: list[str] = []
    for item in value.items() if isinstance(value, dict) else value:
        if room <= 0:
            break
        shown = _pair(item, depth, room) if isinstance(value, dict) else _shown(item, depth + 1, room)
        parts.append(shown)
        room -= len(shown) + 2
    text = ", ".join(parts)
    return f"{{{text}}}" if isinstance(value, dict) else f"[{text}]"


def _pair(item: tuple[str, Any], depth: int, room: int) -> str:
    key, value = item
    return f"{key[:room]}={_shown(value, depth + 1, room)}"


def _measure(shape: Shape) -> str:
    return "value" if shape.kind in ("integer", "long", "float", "double") else "length"
