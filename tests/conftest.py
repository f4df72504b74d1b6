"""One embedded Postgres and one service for the whole session; each test takes a world of its own (CT-0)."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from app.settings import Settings
from app.store.db import Database
from app.store.embedded import EmbeddedPostgres
from app.store.migrate import ensure_schema
from tests import census
from tests.kit import Running, TestWorld, serving

NOT_FOR_LONG = (
    "ALTER SYSTEM SET fsync = off",
    "ALTER SYSTEM SET full_page_writes = off",
    "SELECT pg_reload_conf()",
)
"""Nothing of a test's database has to outlive the machine. Tests of killed servers start servers of their own."""


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    """A server without our schema, for tests that need databases of their own."""
    directory = Path(tempfile.mkdtemp(prefix="wt-test-"))
    directory.chmod(0o755)  # as root the server runs as another user, who must get in
    server = EmbeddedPostgres(directory)
    asyncio.run(server.start())
    asyncio.run(_run(server.dsn, *NOT_FOR_LONG))
    yield server
    asyncio.run(server.stop())
    shutil.rmtree(directory, ignore_errors=True)


async def _run(dsn: str, *statements: str) -> None:
    connection = await asyncpg.connect(dsn)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


@pytest.fixture(scope="session")
def dsn(postgres: EmbeddedPostgres) -> str:
    """A database with the current schema."""
    asyncio.run(ensure_schema(postgres.dsn))
    return postgres.dsn


@pytest.fixture
def fresh(postgres: EmbeddedPostgres) -> Iterator[str]:
    """The DSN of a database of its own, with the schema and no world: one that no service has seen."""
    asyncio.run(_run(postgres.dsn, "CREATE DATABASE fresh"))
    dsn = postgres.dsn.replace("/postgres?", "/fresh?")
    asyncio.run(ensure_schema(dsn))
    yield dsn
    asyncio.run(_run(postgres.dsn, "DROP DATABASE fresh WITH (FORCE)"))


@pytest_asyncio.fixture(scope="session")
async def database(dsn: str) -> AsyncIterator[Database]:
    opened = await Database.connect(dsn, size=5, name="tests")
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def service(dsn: str) -> Iterator[Running]:
    """The real application on loopback, without workers: worlds are frozen and moved by advancing."""
    with serving(Settings(database_url=dsn, frozen=True)) as running:
        yield running


@pytest.fixture
def world(service: Running) -> Iterator[TestWorld]:
    """A frozen world with the `fast` profile, seed 7, at 2026-01-01."""
    made = service.world()
    yield made
    made.close()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker has ended: what it has seen counts."""
    census.seen.update(census.Sight(*sight) for sight in getattr(node, "workeroutput", {}).get("census", ()))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """After all tests passed, what the service's model declares must have been seen (tests/census.py)."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["census"] = [tuple(sight) for sight in census.seen]
        return
    config = session.config
    everything = {config.rootpath / arg for arg in config.args} == {config.rootpath / "tests"}
    whole = everything and not (config.option.keyword or config.option.markexpr or config.option.collectonly)
    if whole and session.exitstatus == 0 and (missing := census.missing(census.seen)):
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        reporter.write_line(f"census: {len(missing)} not seen by any test: {'; '.join(missing)}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
