"""Whole worlds as values: export, fork and comparison, over every table that a world owns."""

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Any, NamedTuple

from app.core.times import WorldTime, to_iso
from app.store.db import Tx

FORMAT = 1


def _in_hex(value: bytes) -> str:
    """As Postgres reads them back."""
    return "\\x" + value.hex()


class Owned(NamedTuple):
    """A table of what a world owns: its columns but `world`, and its key."""

    name: str
    columns: list[str]
    key: list[str]


async def owned(tx: Tx) -> list[Owned]:
    """Every table that has a world, by name, as the database itself tells."""
    rows = await tx.fetch(
        """SELECT c.relname, array_agg(a.attname ORDER BY a.attnum), k.key FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'world'
        JOIN LATERAL (SELECT array_agg(b.attname ORDER BY p.place) AS key FROM pg_index i
            CROSS JOIN LATERAL unnest(i.indkey::int[]) WITH ORDINALITY AS p(attnum, place)
            JOIN pg_attribute b ON b.attrelid = c.oid AND b.attnum = p.attnum AND b.attname <> 'world'
            WHERE i.indrelid = c.oid AND i.indisprimary) k ON true
        WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND EXISTS (
            SELECT 1 FROM pg_attribute w WHERE w.attrelid = c.oid AND w.attname = 'world' AND NOT w.attisdropped)
        GROUP BY c.relname, k.key ORDER BY c.relname"""
    )
    return [Owned(*row) for row in rows]


OF_THE_WALL = ("feed", "webhook", "webhook_attempt", "webhook_lane")
"""What a world's readers are told, when and where: neither an export nor a copy of the world has it."""
_TROUBLE = ("failures", "error")
UNSHOWN = ("idempotency", *OF_THE_WALL)
_SKIPPED = {
    "cluster": _TROUBLE,
    "custom_job": _TROUBLE,
    "tuning_job": _TROUBLE,
    "fleet": _TROUBLE,
    "outbox": ("position",),
}


async def exported(tx: Tx) -> list[Owned]:
    """The tables of an export. Client tokens are left out: an SDK draws them at random."""
    return [table for table in await owned(tx) if table.name not in UNSHOWN]


def exported_columns(table: Owned) -> list[str]:
    """What a world consists of: wall time and the trouble of our own workers are no part of it."""
    skipped = _SKIPPED.get(table.name, ())
    return [column for column in table.columns if column not in skipped and not column.endswith("_wall")]


async def export_rows(
    tx: Tx, world: str, of_bytes: Callable[[bytes], str] = _in_hex
) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """Each table's rows, sorted by key, without wall time and client tokens: equal worlds give equal bytes."""

    def plain(value: Any) -> Any:
        if isinstance(value, datetime):
            return to_iso(WorldTime(value))
        return of_bytes(value) if isinstance(value, bytes) else value

    for table in await exported(tx):
        columns = exported_columns(table)
        rows = tx.cursor(
            f"SELECT {', '.join(columns)} FROM {table.name} WHERE world = $1 ORDER BY {', '.join(table.key)}", world
        )
        yield table.name, [{column: plain(row[column]) for column in columns} async for row in rows]


async def copied(tx: Tx) -> list[Owned]:
    """The tables of a fork and of a snapshot."""
    return [table for table in await owned(tx) if table.name not in OF_THE_WALL]


async def copy_rows(tx: Tx, source: str, target: str) -> None:
    """Give `target` a copy of all that `source` owns."""
    for table in await copied(tx):
        columns = ", ".join(table.columns)
        await tx.execute(
            f"INSERT INTO {table.name} (world, {columns}) SELECT $2, {columns} FROM {table.name} WHERE world = $1",
            source,
            target,
        )


async def remove_rows(tx: Tx, world: str) -> None:
    """Delete all that the world owns."""
    for table in await owned(tx):
        await tx.execute(f"DELETE FROM {table.name} WHERE world = $1", world)


async def empty_rows(tx: Tx, world: str) -> None:
    """Delete what a copy can bring back: webhooks, and how far their receivers are, stay."""
    for table in await copied(tx):
        await tx.execute(f"DELETE FROM {table.name} WHERE world = $1", world)
