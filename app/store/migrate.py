"""The schema's version: found without Alembic when it is current, raised by Alembic when it is not."""

import asyncio
import contextlib
import re
import threading
from pathlib import Path

import asyncpg

import app
from app import clock
from app.store.binaries import DatabaseError
from app.store.dsn import displayed

OLDEST_SERVER = 15
POLL_SECONDS = 0.02
# As Alembic itself would make it; made here so that two processes can lock it before either migrates.
VERSION_TABLE = """CREATE TABLE IF NOT EXISTS alembic_version (
    version_num varchar(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"""
# Readers pass, a second migration waits; it ends with the migration's own transaction (RL design rule 9).
LOCK = "LOCK TABLE alembic_version IN EXCLUSIVE MODE"
RARE = ("image_release", "quota", "read_lag")
"""Tables that hot statements ask and in which most worlds have nothing. One that was never analyzed is planned for as
if it had ten pages, and one that stays empty never is of itself."""
ONE_AT_A_TIME = threading.Lock()  # Alembic's context is one a process
REVISION = re.compile(r'^revision(?:\s*:[^=]+)?\s*=\s*["\']([^"\']+)["\']', re.MULTILINE)
DOWN = re.compile(r'^down_revision(?:\s*:[^=]+)?\s*=\s*["\']([^"\']+)["\']', re.MULTILINE)


def migrations_dir() -> Path:
    """Beside `app` in a checkout, inside it in an installed wheel."""
    package = Path(app.__file__).parent
    inside = package / "migrations"
    return inside if inside.exists() else package.parent / "migrations"


def revisions() -> tuple[frozenset[str], str]:
    """Every revision of this version and the newest, read from the files: importing Alembic takes 0.3 s."""
    texts = [path.read_text(encoding="utf-8") for path in (migrations_dir() / "versions").glob("*.py")]
    known = {match.group(1) for text in texts if (match := REVISION.search(text))}
    heads = known - {match.group(1) for text in texts if (match := DOWN.search(text))}
    if len(heads) != 1:
        raise DatabaseError(f"{migrations_dir()} must have one newest revision, not {sorted(heads) or 'none'}")
    return frozenset(known), heads.pop()


async def ensure_schema(dsn: str) -> str:
    """Bring the database to this version's schema and answer its revision; safe to call from many at once.

    Raises DatabaseError: no answer, a server too old, or a schema newer than this program.
    """
    known, head = revisions()
    connection = await connect(dsn)
    try:
        current = await _current(connection)
        if current == head:
            return head
        if current is not None and current not in known:
            raise DatabaseError(_too_new(dsn, current, head))
        if connection.get_server_version().major < OLDEST_SERVER:
            raise DatabaseError(
                f"{displayed(dsn)} is PostgreSQL {connection.get_server_version().major}: "
                f"version {OLDEST_SERVER} or newer is needed"
            )
        # Two that create it at once: the loser meets a unique violation in the catalogue, and it is there.
        with contextlib.suppress(asyncpg.UniqueViolationError, asyncpg.DuplicateTableError):
            await connection.execute(VERSION_TABLE)
    finally:
        await connection.close()
    await asyncio.to_thread(upgrade, dsn)
    connection = await connect(dsn)
    try:
        await connection.execute(f"ANALYZE {', '.join(RARE)}")
    finally:
        await connection.close()
    return head


async def wait_for_schema(dsn: str, *, seconds: float) -> None:
    """Return once the schema is this version's: what a process does that someone else migrates for.

    Raises DatabaseError after `seconds` of wall time, or at once if the schema is newer than this program.
    """
    known, head = revisions()
    deadline = clock.monotonic() + seconds
    while True:
        problem = f"the schema is not at {head} yet: run `windtunnel migrate`"
        with contextlib.suppress(OSError):
            try:
                connection = await connect(dsn)
                try:
                    current = await _current(connection)
                finally:
                    await connection.close()
            except DatabaseError as error:
                problem = str(error)
            else:
                if current == head:
                    return
                if current is not None and current not in known:
                    raise DatabaseError(_too_new(dsn, current, head))
        if clock.monotonic() > deadline:
            raise DatabaseError(problem)
        await clock.sleep(POLL_SECONDS)


def upgrade(dsn: str, revision: str = "head") -> None:
    """Run Alembic's migrations, all in one transaction. Blocks; not for a thread that runs an event loop."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_dir()).replace("%", "%%"))
    config.attributes["dsn"] = dsn
    with ONE_AT_A_TIME:
        command.upgrade(config, revision)


async def connect(dsn: str) -> "asyncpg.Connection[asyncpg.Record]":
    """One connection, or a DatabaseError that names the server and never its password."""
    try:
        return await asyncpg.connect(dsn, timeout=10)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
        raise DatabaseError(
            f"no database at {displayed(dsn)}: {error or type(error).__name__}; "
            "is the server running, and is WINDTUNNEL_DATABASE_URL right?"
        ) from None


async def _current(connection: "asyncpg.Connection[asyncpg.Record]") -> str | None:
    try:
        value: str | None = await connection.fetchval("SELECT version_num FROM alembic_version")
    except asyncpg.UndefinedTableError:
        return None
    return value


def _too_new(dsn: str, current: str, head: str) -> str:
    return (
        f"the schema in {displayed(dsn)} is at revision {current}, which this version of windtunnel "
        f"(revision {head}) does not know: install the version that wrote it, or use another database"
    )
