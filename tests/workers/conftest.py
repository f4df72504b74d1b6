"""A database of its own for tests that kill processes, since their clocks run and their leases are short."""

import asyncio
from collections.abc import Iterator

import asyncpg
import pytest

from app.settings import Settings
from app.store.embedded import EmbeddedPostgres
from app.store.migrate import ensure_schema
from tests.kit import Running
from tests.workers.forked import Forked


async def _database(admin: str, name: str) -> str:
    connection = await asyncpg.connect(admin)
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    dsn = admin.replace("/postgres?", f"/{name}?")
    await ensure_schema(dsn)
    return dsn


@pytest.fixture(scope="session")
def crashes(postgres: EmbeddedPostgres) -> str:
    """The DSN of the database of these tests."""
    return asyncio.run(_database(postgres.dsn, "crashes"))


@pytest.fixture(scope="session")
def settings(crashes: str) -> Settings:
    """Leases of half a second, so that others take over while a test waits."""
    return Settings(database_url=crashes, lease_seconds=0.5, poll_seconds=0.05)


@pytest.fixture(scope="session")
def api(settings: Settings) -> Iterator[Forked]:
    """An API process behind a listener that outlives it."""
    running = Forked("api", settings)
    try:
        running.wait_alive()
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="session")
def remote(api: Forked) -> Iterator[Running]:
    """The API process, for making worlds."""
    running = Running(api.base)
    yield running
    running.close()
