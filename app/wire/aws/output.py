"""Answers projected through the model's output shapes: what a shape does not name never leaves."""

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from app.wire.aws.model import Shape

Writer = Callable[[Any], Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def compile_writer(shape: Shape, made: dict[str, Writer | None] | None = None) -> Writer | None:
    """A function from a handler's value to a JSON value of `shape`, or None where they are the same.

    Absent members and `None` are left out, never `null`; datetimes become epoch seconds with
    milliseconds (HP-W2).
    """
    made = {} if made is None else made
    if shape.name in made:
        return made[shape.name]

    def later(value: Any) -> Any:
        return value if writer is None else writer(value)

    made[shape.name] = later
    writer: Writer | None = None
    match shape.kind:
        case "structure":
            writer = _structure(shape, made)
        case "list":
            writer = _list(shape, made)
        case "map":
            writer = _map(shape, made)
        case "timestamp":
            writer = epoch_seconds
        case "blob":
            writer = _blob
    made[shape.name] = writer
    return writer


def _structure(shape: Shape, made: dict[str, Writer | None]) -> Writer:
    writers = {name: compile_writer(member, made) for name, member in shape.members.items()}

    def write(value: dict[str, Any]) -> dict[str, Any]:
        out = {}
        for name, item in value.items():
            if item is not None and name in writers:
                writer = writers[name]
                out[name] = item if writer is None else writer(item)
        return out

    return write


def _list(shape: Shape, made: dict[str, Writer | None]) -> Writer | None:
    assert shape.element is not None
    writer = compile_writer(shape.element, made)
    return None if writer is None else lambda value: [writer(item) for item in value]


def _map(shape: Shape, made: dict[str, Writer | None]) -> Writer:
    assert shape.value is not None
    writer = compile_writer(shape.value, made)

    def write(value: dict[str, Any]) -> dict[str, Any]:
        return {key: item if writer is None else writer(item) for key, item in value.items() if item is not None}

    return write


def epoch_seconds(instant: datetime) -> float:
    """Seconds since 1970 with three decimals, as every AWS JSON timestamp is written."""
    return (instant - _EPOCH) // _MILLISECOND / 1000


def _blob(value: bytes) -> str:
    return base64.b64encode(value).decode()
