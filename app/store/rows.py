"""Rows and the core's frozen values: a value's fields, in order, are the columns.

Many rows go in one statement, as JSON: one round trip, however many there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, fields
from datetime import datetime
from operator import attrgetter
from types import NoneType
from typing import Any, get_args, get_origin

from app.core.times import WorldTime
from app.store.db import Tx

_RENAMED = {"group": "group_name"}
_TYPES = {bool: "boolean", int: "bigint", WorldTime: "timestamptz", datetime: "timestamptz"}
_CONTAINERS = {tuple: "text[]", Mapping: "jsonb", Sequence: "jsonb"}


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


def rowset(table: str) -> str:
    """A JSON array of objects, `$1`, as rows of the table."""
    return f"jsonb_populate_recordset(NULL::{table}, $1)"


async def insert_rows(
    tx: Tx, table: str, columns: Sequence[str], records: Iterable[Sequence[Any]], *, on_conflict: str = ""
) -> None:
    """Insert the records, each with one value a column; nothing happens without records."""
    rows = [dict(zip(columns, record, strict=True)) for record in records]
    if rows:
        names = ", ".join(columns)
        await tx.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM {rowset(table)} {on_conflict}", rows)


async def update_rows(
    tx: Tx,
    table: str,
    key: Sequence[str],
    columns: Sequence[str],
    records: Iterable[Sequence[Any]],
    *,
    only: str = "true",
) -> int:
    """Set the columns of the rows with these keys, `only` of those rows `t` of which that holds; how many there were.

    Each record is its key's values and then the columns'.
    """
    names = (*key, *columns)
    rows = [dict(zip(names, record, strict=True)) for record in records]
    if not rows:
        return 0
    done = await tx.execute(
        f"""UPDATE {table} t SET {", ".join(f"{column} = u.{column}" for column in columns)} FROM {rowset(table)} u
        WHERE {" AND ".join(f"t.{column} = u.{column}" for column in key)} AND {only}""",
        rows,
    )
    return int(done.rpartition(" ")[2])


def dollars(first: int, count: int) -> str:
    """`$5, $6 …`"""
    return ", ".join(f"${first + place}" for place in range(count))
