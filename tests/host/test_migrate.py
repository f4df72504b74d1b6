"""The schema's version, with the real migrations on a real server."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest

from app.store.binaries import DatabaseError
from app.store.embedded import EmbeddedPostgres
from app.store.migrate import ensure_schema, revisions, wait_for_schema


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="wt-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
async def server(directory: Path) -> AsyncIterator[str]:
    postgres = EmbeddedPostgres(directory)
    yield await postgres.start()
    await postgres.stop()


@pytest.fixture
async def dsn(server: str) -> str:
    """An empty database."""
    await execute(server, "DROP DATABASE IF EXISTS fresh WITH (FORCE)")
    await execute(server, "CREATE DATABASE fresh")
    return server.replace("/postgres?", "/fresh?")


async def execute(dsn: str, statement: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(statement)
    await connection.close()


async def version(dsn: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval("SELECT version_num FROM alembic_version")
    finally:
        await connection.close()


def migrate(dsn: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "app.cli", "migrate", "--json"],
        env={**os.environ, "WINDTUNNEL_DATABASE_URL": dsn},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


async def test_many_at_once_migrate_once(dsn: str) -> None:
    """Reliability rule 9: three processes under one lock; none fails, and the schema is the newest."""
    _, head = revisions()
    answers = await asyncio.gather(*(asyncio.to_thread(migrate, dsn) for _ in range(3)))
    assert [json.loads(each) for each in answers] == [{"revision": head}] * 3
    assert await version(dsn) == head
    assert await ensure_schema(dsn) == head


async def test_a_newer_schema_is_refused(dsn: str) -> None:
    """RL-29: both versions are named, and nothing is changed."""
    _, head = revisions()
    await execute(dsn, "CREATE TABLE alembic_version (version_num varchar(32) NOT NULL)")
    await execute(dsn, "INSERT INTO alembic_version VALUES ('9999')")
    for attempt in (ensure_schema(dsn), wait_for_schema(dsn, seconds=30)):
        with pytest.raises(DatabaseError, match=rf"revision 9999.*\(revision {head}\)"):
            await attempt
    assert await version(dsn) == "9999"


async def test_waiting_ends_when_someone_has_migrated(dsn: str) -> None:
    waiting = asyncio.create_task(wait_for_schema(dsn, seconds=30))
    await ensure_schema(dsn)
    await waiting


async def test_waiting_in_vain_says_what_to_do(dsn: str) -> None:
    with pytest.raises(DatabaseError, match="windtunnel migrate"):
        await wait_for_schema(dsn, seconds=0)


@pytest.mark.parametrize(
    "address", ["postgresql://u:canary@127.0.0.1:1/d", "postgresql://u:canary@/d?host=/nonexistent"]
)
async def test_no_answer_is_said_without_the_password(address: str) -> None:
    """RL-28."""
    with pytest.raises(DatabaseError, match=r"no database at (127\.0\.0\.1:1/d|/nonexistent)") as refusal:
        await ensure_schema(address)
    assert "canary" not in str(refusal.value)
