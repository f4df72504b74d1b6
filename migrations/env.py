"""Alembic's entry: the database comes from `app.store.migrate`, or on its command line from the settings."""

import asyncio

import asyncpg
from alembic import context
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from app.settings import load
from app.store.embedded import EmbeddedPostgres
from app.store.migrate import LOCK, VERSION_TABLE
from app.store.tables import metadata


def dsn() -> str:
    given: str | None = context.config.attributes.get("dsn")
    if given is not None:
        return given
    settings = load()
    return settings.database_url or EmbeddedPostgres(settings.data_dir).dsn


def migrate(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=metadata, compare_server_default=True)
    with context.begin_transaction():
        context.run_migrations()


async def online() -> None:
    # asyncpg reads the address itself, so whatever the service accepts works here too.
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(dsn()), poolclass=NullPool
    )
    async with engine.begin() as connection:
        await connection.execute(text(VERSION_TABLE))
        await connection.execute(text(LOCK))
        await connection.run_sync(migrate)
    await engine.dispose()


if context.is_offline_mode():
    context.configure(dialect_name="postgresql", target_metadata=metadata, literal_binds=True)
    with context.begin_transaction():
        context.run_migrations()
else:
    asyncio.run(online())
