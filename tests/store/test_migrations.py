"""The migrations make the schema of the metadata, and can be taken back."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
from alembic import command
from alembic.config import Config

from app.store.embedded import EmbeddedPostgres
from app.store.migrate import ONE_AT_A_TIME, RARE, ensure_schema, migrations_dir, revisions
from app.store.tables import metadata

SCHEMA = """SELECT table_name, column_name, data_type, is_nullable, column_default
    FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2"""
RULES = """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2"""
INDEXES = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"


@pytest.fixture
async def scratch(postgres: EmbeddedPostgres) -> AsyncIterator[str]:
    """An empty database of its own."""
    server = await asyncpg.connect(postgres.dsn)
    await server.execute("CREATE DATABASE scratch")
    yield postgres.dsn.replace("/postgres?", "/scratch?")
    await server.execute("DROP DATABASE scratch WITH (FORCE)")
    await server.close()


def alembic(dsn: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrations_dir()))
    config.attributes["dsn"] = dsn
    return config


async def run(step: str, dsn: str, *args: str) -> None:
    """An Alembic command, in a thread since it has an event loop of its own."""
    with ONE_AT_A_TIME:
        await asyncio.to_thread(getattr(command, step), alembic(dsn), *args)


async def state(dsn: str) -> list[list[tuple[object, ...]]]:
    """Tables, constraints and indexes."""
    connection = await asyncpg.connect(dsn)
    try:
        return [[tuple(row) for row in await connection.fetch(query)] for query in (SCHEMA, RULES, INDEXES)]
    finally:
        await connection.close()


async def test_the_schema_is_that_of_the_metadata(scratch: str) -> None:
    """`alembic check` finds nothing to migrate; every table, index and constraint by name is there."""
    await ensure_schema(scratch)
    await run("check", scratch)
    columns, rules, indexes = await state(scratch)
    assert {str(row[0]) for row in columns} == {*metadata.tables, "alembic_version"}
    made = {str(row[1]) for row in rules}
    wanted = {str(rule.name) for table in metadata.tables.values() for rule in table.constraints if rule.name}
    assert wanted <= made, "Alembic does not compare CHECK constraints"
    assert {str(index.name) for table in metadata.tables.values() for index in table.indexes} <= {
        str(row[0]) for row in indexes
    }


async def test_down_and_up_again(scratch: str) -> None:
    """Each revision can be taken back, down to nothing, and what comes back is the same."""
    await ensure_schema(scratch)
    before = await state(scratch)
    known, _ = revisions()
    for _ in known:
        await run("downgrade", scratch, "-1")
    columns, _, _ = await state(scratch)
    assert {row[0] for row in columns} == {"alembic_version"}
    await run("upgrade", scratch, "head")
    assert await state(scratch) == before


async def test_the_planner_knows_what_is_empty(scratch: str) -> None:
    """What most worlds have nothing of is looked at and found empty; never looked at, it would count as ten pages."""
    await ensure_schema(scratch)
    connection = await asyncpg.connect(scratch)
    try:
        found = await connection.fetch("SELECT relname FROM pg_class WHERE relname = ANY($1) AND reltuples = 0", RARE)
    finally:
        await connection.close()
    assert {row["relname"] for row in found} == set(RARE)
