"""The columns that an export has, and rows of one put back in (CT-2)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import asyncpg

from app.core.errors import Invalid
from app.store import copies
from app.store.db import Tx

REFUSED = (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError)


class ColumnType(NamedTuple):
    """A column's type as Postgres names it, and whether a row needs a value for it."""

    kind: str
    nullable: bool
    defaulted: bool


async def columns(tx: Tx) -> dict[str, dict[str, ColumnType]]:
    """Of each table that an export has, the columns that it has."""
    rows = await tx.fetch(
        """SELECT c.relname, a.attname, format_type(a.atttypid, NULL), NOT a.attnotnull, a.atthasdef
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace"""
    )
    types = {(table, column): ColumnType(*facts) for table, column, *facts in rows}
    return {
        table.name: {column: types[table.name, column] for column in copies.exported_columns(table)}
        for table in await copies.exported(tx)
    }


async def insert(tx: Tx, world: str, table: str, names: Sequence[str], rows: list[dict[str, Any]]) -> None:
    """Insert rows of the table, whose columns `names` are known ones. Invalid: Postgres refuses a value or a row."""
    given = ", ".join(names)
    try:
        await tx.execute(
            f"""INSERT INTO {table} (world, {given})
            SELECT $2, {given} FROM jsonb_populate_recordset(NULL::{table}, $1)""",
            rows,
            world,
        )
    except REFUSED as error:
        told = f"{error} ({error.detail})" if getattr(error, "detail", None) else str(error)
        raise Invalid(f"Table '{table}' of the export: {told.replace(world, 'the world')[:500]}.") from error
