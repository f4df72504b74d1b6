"""Rows and the core's frozen values: a value's fields, in order, are the columns."""

from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from sqlalchemy import Column, Table
from sqlalchemy.dialects.postgresql.asyncpg import dialect

_RENAMED = {"group": "group_name"}
_DIALECT = dialect()  # type: ignore[no-untyped-call]


class Shape:
    """How a core dataclass lies in a table: `select` lists its columns, `values` reads them from a value."""

    def __init__(self, kind: type, table: Table) -> None:
        names = [field.name for field in fields(kind)]
        self.columns = [_RENAMED.get(name, name) for name in names]
        self.types = {c: sql_type(table.c[c]) for c in self.columns}
        self.select = ", ".join(self.columns)
        self.values = attrgetter(*names)

    def assignments(self, columns: Sequence[str], first: int) -> str:
        """`a = $5, b = $6 …`"""
        return ", ".join(f"{column} = ${first + place}" for place, column in enumerate(columns))

    def getter(self, columns: Sequence[str]) -> Any:
        back = {column: name for name, column in _RENAMED.items()}
        return attrgetter(*(back.get(column, column) for column in columns))


def sql_type(column: Column[Any]) -> str:
    """The column's type as Postgres writes it."""
    return column.type.compile(_DIALECT)


def dollars(first: int, count: int) -> str:
    """`$5, $6 …`"""
    return ", ".join(f"${first + place}" for place in range(count))
