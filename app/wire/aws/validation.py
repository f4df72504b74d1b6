"""Input read through the model's shapes: every constraint checked, unknown members set aside (HP-W4).

A reader is made once for each shape and called for each request. It returns the value that a handler sees:
known members only, no nulls, timestamps as UTC datetimes cut to the millisecond. What is wrong goes into
`Problems`; a value with a problem is never used. botocore's own validator is not the service's: it ignores
maximum, pattern and enum.
"""

import base64
import binascii
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from app.wire.aws import problems as said
from app.wire.aws.model import Shape
from app.wire.aws.patterns import matcher
from app.wire.aws.problems import Problems

Reader = Callable[[Any, str, Problems], Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BITS = {"integer": 31, "long": 63}
_LONGEST_PATH = 1024
"""Shapes may recur, so a body may nest as deep as JSON allows; no real path is near this long."""
_IGNORED_LIMIT = 64


def compile_reader(shape: Shape, made: dict[str, Reader] | None = None) -> Reader:
    """A reader of `shape`. `made` holds those already there, by shape name; shapes may recur through it."""
    made = {} if made is None else made
    if shape.name in made:
        return made[shape.name]

    def later(value: Any, path: str, found: Problems) -> Any:
        return reader(value, path, found)

    made[shape.name] = later
    match shape.kind:
        case "structure":
            reader = _structure(shape, made)
        case "list":
            reader = _list(shape, made)
        case "map":
            reader = _map(shape, made)
        case "string":
            reader = _string(shape)
        case kind:
            reader = _SCALARS[kind](shape)
    made[shape.name] = reader
    return reader


def _structure(shape: Shape, made: dict[str, Reader]) -> Reader:
    members = {name: (compile_reader(member, made), said.lower_camel(name)) for name, member in shape.members.items()}
    required = tuple((name, said.lower_camel(name)) for name in shape.required)
    union = said.exactly_one_of(members) if shape.is_union else None

    def read(value: Any, path: str, found: Problems) -> Any:
        if type(value) is not dict:
            return found.is_mistyped(value, path, shape)
        if len(path) > _LONGEST_PATH:
            return found.mistyped.append(f"Nesting is too deep at '{path[:80]}…'")
        prefix = f"{path}." if path else ""
        out = {}
        for name, item in value.items():
            if name not in members:
                if len(found.ignored) < _IGNORED_LIMIT:
                    found.ignored.append(prefix + name[:64])
            elif item is not None:
                reader, wire = members[name]
                out[name] = reader(item, prefix + wire, found)
        for name, wire in required:
            if name not in out:
                found.breaks(None, prefix + wire, said.NOT_NULL)
        if union and len(out) != 1:
            found.breaks(value, path, union)
        return out

    return read


def _list(shape: Shape, made: dict[str, Reader]) -> Reader:
    element = shape.element
    assert element is not None
    reader = compile_reader(element, made)
    is_scalar = element.kind not in ("structure", "list", "map")
    sentence = f"Member must satisfy constraint: {said.every_constraint(element)}"

    def read(value: Any, path: str, found: Problems) -> Any:
        if type(value) is not list:
            return found.is_mistyped(value, path, shape)
        if not _size_holds(value, shape, path, found):
            return value
        if is_scalar:
            return _scalars(value, reader, path, found, sentence)
        return [_part(item, reader, f"{path}.{i}.member", found) for i, item in enumerate(value, 1)]

    return read


def _map(shape: Shape, made: dict[str, Reader]) -> Reader:
    key, item = shape.key, shape.value
    assert key is not None
    assert item is not None
    read_key, read_item = compile_reader(key, made), compile_reader(item, made)
    is_scalar = item.kind not in ("structure", "list", "map")
    key_sentence = f"Map keys must satisfy constraint: {said.every_constraint(key)}"
    item_sentence = f"Map value must satisfy constraint: {said.every_constraint(item)}"

    def read(value: Any, path: str, found: Problems) -> Any:
        if type(value) is not dict:
            return found.is_mistyped(value, path, shape)
        if not _size_holds(value, shape, path, found):
            return value
        _scalars(list(value), read_key, path, found, key_sentence, whole=value)
        if is_scalar:
            items = _scalars(list(value.values()), read_item, path, found, item_sentence, whole=value)
        else:
            items = [_part(v, read_item, f"{path}.{k[:64]}.member", found) for k, v in value.items()]
        return dict(zip(value, items, strict=True))

    return read


def _size_holds(value: list[Any] | dict[str, Any], shape: Shape, path: str, found: Problems) -> bool:
    """False when there are too many: then the members are not looked at, so that work stays bounded."""
    if shape.maximum is not None and len(value) > shape.maximum:
        found.breaks(value, path, said.at_most(shape))
        return False
    if shape.minimum is not None and len(value) < shape.minimum:
        found.breaks(value, path, said.at_least(shape))
    return True


def _part(value: Any, reader: Reader, path: str, found: Problems) -> Any:
    if value is None:
        return found.breaks(None, path, said.NOT_NULL)
    return reader(value, path, found)


def _scalars(
    values: list[Any], reader: Reader, path: str, found: Problems, sentence: str, whole: Any = None
) -> list[Any]:
    """Scalars of a list or map. AWS tells their constraints once, of the whole; a wrong type, of the one."""
    broken, mistyped = len(found.broken), len(found.mistyped)
    out = [_part(value, reader, path, found) for value in values]
    if len(found.mistyped) > mistyped:
        del found.mistyped[mistyped:]
        for i, value in enumerate(values, 1):
            _part(value, reader, f"{path}.{i}.member", found)
    if len(found.broken) > broken:
        del found.broken[broken:]
        found.breaks(values if whole is None else whole, path, sentence)
    return out


def _string(shape: Shape) -> Reader:
    shortest = int(shape.minimum or 0)
    longest = shape.maximum
    matches = matcher(shape.pattern) if shape.pattern is not None else None
    choices = frozenset(shape.choices)

    def read(value: Any, path: str, found: Problems) -> Any:
        if type(value) is not str:
            return found.is_mistyped(value, path, shape)
        if choices:
            if value not in choices:
                found.breaks(value, path, said.one_of(shape.choices))
            return value
        if "\0" in value:  # Postgres has no text with it
            return found.mistyped.append(f"The character U+0000 is not accepted in a String at '{path}'")
        if longest is not None and len(value) > longest:
            found.breaks(value, path, said.at_most(shape))
            return value
        if len(value) < shortest:
            found.breaks(value, path, said.at_least(shape))
        if matches is not None and not matches(value):
            found.breaks(value, path, said.like(shape.pattern or ""))
        return value

    return read


def _integer(shape: Shape) -> Reader:
    bound = 2 ** _BITS[shape.kind]
    smallest, largest = shape.minimum, shape.maximum

    def read(value: Any, path: str, found: Problems) -> Any:
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int or not -bound <= value < bound:
            return found.is_mistyped(value, path, shape)
        if smallest is not None and value < smallest:
            found.breaks(value, path, said.at_least(shape))
        if largest is not None and value > largest:
            found.breaks(value, path, said.at_most(shape))
        return value

    return read


def _real(shape: Shape) -> Reader:
    smallest, largest = shape.minimum, shape.maximum

    def read(value: Any, path: str, found: Problems) -> Any:
        if type(value) is not float and type(value) is not int:
            return found.is_mistyped(value, path, shape)
        if smallest is not None and value < smallest:
            found.breaks(value, path, said.at_least(shape))
        if largest is not None and value > largest:
            found.breaks(value, path, said.at_most(shape))
        return float(value)

    return read


def _boolean(shape: Shape) -> Reader:
    def read(value: Any, path: str, found: Problems) -> Any:
        return value if type(value) is bool else found.is_mistyped(value, path, shape)

    return read


def _timestamp(shape: Shape) -> Reader:
    def read(value: Any, path: str, found: Problems) -> Any:
        instant = _instant(value)
        return found.is_mistyped(value, path, shape) if instant is None else instant

    return read


def _instant(value: Any) -> datetime | None:
    """Epoch seconds or ISO 8601, cut to the millisecond; None when it is neither."""
    try:
        if type(value) is str:
            moment = datetime.fromisoformat(value)
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
            return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
        if type(value) is int or type(value) is float:
            return _EPOCH + timedelta(milliseconds=round(value * 1_000_000) // 1000)
    except (ValueError, OverflowError):
        pass
    return None


def _blob(shape: Shape) -> Reader:
    def read(value: Any, path: str, found: Problems) -> Any:
        if type(value) is not str:
            return found.is_mistyped(value, path, shape)
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return found.is_mistyped(value, path, shape)

    return read


_SCALARS: dict[str, Callable[[Shape], Reader]] = {
    "integer": _integer,
    "long": _integer,
    "float": _real,
    "double": _real,
    "boolean": _boolean,
    "timestamp": _timestamp,
    "blob": _blob,
}
