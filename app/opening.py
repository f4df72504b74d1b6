"""A service whose process is known to live and whose database is open."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import asyncpg

from app.service import Service
from app.store.db import Database
from app.store.embedded import EmbeddedPostgres
from app.store.migrate import wait_for_schema
from app.usecases.liveness import beat, leave
from app.workers.pulse import keep_pulse

SCHEMA_SECONDS = 60.0


@contextlib.asynccontextmanager
async def opened(service: Service, kind: str) -> AsyncIterator[None]:
    """The service with its database open, and a heartbeat that says that this process of `kind` lives."""
    settings = service.settings
    dsn = settings.database_url or EmbeddedPostgres(settings.data_dir).dsn
    await wait_for_schema(dsn, seconds=SCHEMA_SECONDS)
    database = await Database.connect(dsn, size=settings.api_pool_size, name=f"windtunnel {kind}")
    try:
        # Before any world is looked at, so that a gap without any process is out of its clock (CT-1).
        await database.run(beat, service.name, kind, 0)
        service.database = database
        pulse = asyncio.create_task(keep_pulse(database, service.name, kind, lambda: 0))
        try:
            yield
        finally:
            pulse.cancel()
            await asyncio.gather(pulse, return_exceptions=True)
            with contextlib.suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await database.run(leave, service.name)
    finally:
        await database.close()
