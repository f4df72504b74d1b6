"""Rows and the core's frozen values: a value's fields, in order, are the columns."""

from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from datetime import datetime
from operator import attrgetter
from types import NoneType
from typing import Any, get_args, get_origin

from app.core.times import WorldTime

_RENAMED = {"group": "group_name"}
_TYPES = {bool: "boolean", int: "bigint", WorldTime: "timestamptz", datetime: "timestamptz"}
_CONTAINERS = {tuple: "text[]", Mapping: "jsonb"}


class Shape:
    """How a core dataclass lies in a table: `select` lists its columns, `values` reads them from a value.

    `types` gives each column's type as a statement may cast to it; the table itself is made by `app.store.tables`.
    """

    def __init__(self, kind: type) -> None:
        names = [field.name for field in fields(kind)]
        self.columns = [_RENAMED.get(name, name) for name in names]
        self.types = dict(zip(self.columns, map(_sql_type, fields(kind)), strict=True))
        self.select = ", ".join(self.columns)
        self.values = attrgetter(*names)

    def assignments(self, columns: Sequence[str], first: int) -> str:
        """`a = $5, b = $6 …`"""
        return ", ".join(f"{column} = ${first + place}" for place, column in enumerate(columns))

    def getter(self, columns: Sequence[str]) -> Any:
        back = {column: name for name, column in _RENAMED.items()}
        return attrgetter(*(back.get(column, column) for column in columns))


def _sql_type(field: Field[Any]) -> str:
    """From the annotation, where `X | None` is as `X`; what is no number, moment or container is text."""
    hint: Any = field.type
    named = [each for each in get_args(hint) if each is not NoneType] if NoneType in get_args(hint) else [hint]
    return _TYPES.get(named[0]) or _CONTAINERS.get(get_origin(named[0]) or named[0], "text")


def dollars(first: int, count: int) -> str:
    """`$5, $6 …`"""
    return ", ".join(f"${first + place}" for place in range(count))
