"""The scalar types of proto3 JSON (VX-19): what Google's parser reads as each, and its one canonical form."""

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

Reader = Callable[[Any], Any]

INVALID = "invalid_value"
"""The type of an error; its context has the `kind` that was wanted and, where Google gives a reason, what is `told`."""
DURATION = "type.googleapis.com/google.protobuf.Duration"
TIMESTAMP = "type.googleapis.com/google.protobuf.Timestamp"
FIELD_MASK = "type.googleapis.com/google.protobuf.FieldMask"
MOST_SECONDS = 315_576_000_000
"""Of a Duration; google/protobuf/duration.proto."""
_DURATION = re.compile(r"(-?)([0-9]{1,12})(?:\.([0-9]{1,9}))?s")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def invalid(kind: str, told: str = "") -> PydanticCustomError:
    """The value is none of the type; `told` is the reason where Google gives one in place of the value."""
    return PydanticCustomError(INVALID, "{kind}", {"kind": kind, "told": told})


def _reading(kind: str, read: Reader) -> Reader:
    def checked(value: Any) -> Any:
        try:
            return read(value)
        except (ValueError, TypeError, OverflowError) as error:
            raise invalid(kind, str(error) if kind.startswith("type.") else "") from None

    return checked


def _or_unset(read: Reader, default: Any) -> Reader:
    """Without presence: null, and what equals the default, is unset."""

    def singular(value: Any) -> Any:
        made = None if value is None else read(value)
        return None if made == default else made

    return singular


def _or_null(read: Reader) -> Reader:
    """With presence: only null is unset."""
    return lambda value: None if value is None else read(value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or "\x00" in value:  # Postgres cannot keep NUL
        raise ValueError("no text")
    return value


def _flag(value: Any) -> bool:
    if value in ("true", "false"):
        return bool(value == "true")
    if not isinstance(value, bool):
        raise ValueError("no flag")
    return value


def whole(bits: int) -> Callable[[Any], int]:
    """A reader of integers of so many bits: numbers or texts, whole whichever way they are written."""
    limit = 2 ** (bits - 1)

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise TypeError("no number")
        if isinstance(value, str):
            if len(value) > 40 or not _NUMBER.fullmatch(value):
                raise ValueError("no number")
            value = int(value) if value.lstrip("-").isdecimal() else float(value)
        if value != int(value) or not -limit <= value < limit:
            raise ValueError("not whole, or out of range")
        return int(value)

    return read


def _long(value: Any) -> str:
    return str(whole(64)(value))


def _number(value: Any) -> float | str:
    if value in ("NaN", "Infinity", "-Infinity"):
        return str(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError("no number")
    if isinstance(value, str) and (len(value) > 400 or not _NUMBER.fullmatch(value)):
        raise ValueError("no number")
    made = float(value)
    if not math.isfinite(made):
        raise ValueError("out of range")
    return made


def _duration(value: Any) -> str:
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("Illegal duration format; duration must end with 's'")
    if int(found[2]) > MOST_SECONDS:
        raise ValueError("Duration value exceeds limits")
    fraction = (found[3] or "").rstrip("0")
    if fraction:
        fraction = "." + fraction.ljust(3 * math.ceil(len(fraction) / 3), "0")
    amount = f"{int(found[2])}{fraction}"
    return f"{found[1] if amount.strip('0.') else ''}{amount}s"


def _timestamp(value: Any) -> str:
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        raise ValueError("Illegal timestamp format; timestamps must end with 'Z' or have a valid timezone offset")
    return rfc3339(datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", value)))


def rfc3339(instant: datetime) -> str:
    """The instant in UTC with `Z` and microseconds, as the service writes it."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").zfill(27)


def _mask(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9_.,*]{0,1000}", value):
        raise ValueError("paths are names of fields with commas between")
    return value


def _value(value: Any) -> Any:
    """Any JSON that Postgres can keep. How deep it is has been checked (`app.wire.google.reading`)."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [_value(item) for item in value]
    if isinstance(value, Mapping):
        return {_text(key): _value(item) for key, item in value.items()}
    return value


def _struct(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise TypeError("must be an object")
    return _value(value)


_STRING = _reading("TYPE_STRING", _text)
_INT32 = _reading("TYPE_INT32", whole(32))
_INT64 = _reading("TYPE_INT64", _long)
_DOUBLE = _reading("TYPE_DOUBLE", _number)
_BOOL = _reading("TYPE_BOOL", _flag)
_ANY = _reading("type.googleapis.com/google.protobuf.Value", _value)
_S: dict[str, Any] = {"type": "string"}
_I32: dict[str, Any] = {"type": "integer", "format": "int32"}
_I64: dict[str, Any] = {"type": "string", "format": "int64"}
_D: dict[str, Any] = {"type": "number", "format": "double"}
_B: dict[str, Any] = {"type": "boolean"}

String = Annotated[str | None, PlainValidator(_or_unset(_STRING, "")), WithJsonSchema(_S)]
Int32 = Annotated[int | None, PlainValidator(_or_unset(_INT32, 0)), WithJsonSchema(_I32)]
Int64 = Annotated[str | None, PlainValidator(_or_unset(_INT64, "0")), WithJsonSchema(_I64)]
Double = Annotated[float | str | None, PlainValidator(_or_unset(_DOUBLE, 0.0)), WithJsonSchema(_D)]
Bool = Annotated[bool | None, PlainValidator(_or_unset(_BOOL, False)), WithJsonSchema(_B)]

OptionalString = Annotated[str | None, PlainValidator(_or_null(_STRING)), WithJsonSchema(_S)]
OptionalInt32 = Annotated[int | None, PlainValidator(_or_null(_INT32)), WithJsonSchema(_I32)]
OptionalInt64 = Annotated[str | None, PlainValidator(_or_null(_INT64)), WithJsonSchema(_I64)]
OptionalDouble = Annotated[float | str | None, PlainValidator(_or_null(_DOUBLE)), WithJsonSchema(_D)]
OptionalBool = Annotated[bool | None, PlainValidator(_or_null(_BOOL)), WithJsonSchema(_B)]

Duration = Annotated[
    str | None,
    PlainValidator(_or_null(_reading(DURATION, _duration))),
    WithJsonSchema(_S | {"format": "google-duration", "examples": ["3600s"]}),
]
Timestamp = Annotated[
    str | None,
    PlainValidator(_or_null(_reading(TIMESTAMP, _timestamp))),
    WithJsonSchema(_S | {"format": "date-time"}),
]
FieldMask = Annotated[str | None, PlainValidator(_or_unset(_reading(FIELD_MASK, _mask), "")), WithJsonSchema(_S)]
Value = Annotated[Any, PlainValidator(_ANY), WithJsonSchema({})]
Struct = Annotated[
    dict[str, Any] | None,
    PlainValidator(_or_null(_reading("type.googleapis.com/google.protobuf.Struct", _struct))),
    WithJsonSchema({"type": "object"}),
]

Text = Annotated[str, PlainValidator(_STRING), WithJsonSchema(_S)]
"""A string in a list or a map, where an empty one is there."""
Long = Annotated[str, PlainValidator(_INT64), WithJsonSchema(_I64)]
Number = Annotated[float | str, PlainValidator(_DOUBLE), WithJsonSchema(_D)]
