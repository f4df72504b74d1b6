"""Whole worlds as values: export, fork and comparison, over every table that a world owns."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from sqlalchemy import Table

from app.core.times import WorldTime, to_iso
from app.store import tables
from app.store.db import Tx

FORMAT = 1


def _plain(value: Any) -> Any:
    return to_iso(WorldTime(value)) if isinstance(value, datetime) else value


def _wall_free(table: Table) -> list[str]:
    """What a world consists of: wall time and the trouble of our own workers are no part of it."""
    skipped = {"world", "failures", "error"} if table is tables.cluster else {"world"}
    return [str(column.name) for column in table.c if column.name not in skipped and not column.name.endswith("_wall")]


async def export_rows(tx: Tx, world: str) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """Each table's rows, sorted by key, without wall time: equal worlds give equal bytes."""
    for table in sorted(tables.WORLD_TABLES, key=lambda t: t.name):
        columns = _wall_free(table)
        keys = [column.name for column in table.primary_key.columns if column.name != "world"]
        rows = await tx.fetch(
            f"SELECT {', '.join(columns)} FROM {table.name} WHERE world = $1 ORDER BY {', '.join(keys)}", world
        )
        yield table.name, [{column: _plain(row[column]) for column in columns} for row in rows]


async def copy_rows(tx: Tx, source: str, target: str) -> None:
    """Give `target` a copy of all that `source` owns."""
    for table in tables.WORLD_TABLES:
        columns = ", ".join(column.name for column in table.c if column.name != "world")
        await tx.execute(
            f"INSERT INTO {table.name} (world, {columns}) SELECT $2, {columns} FROM {table.name} WHERE world = $1",
            source,
            target,
        )
