"""The loop of a worker process: look for due work, do it, sleep; stop when asked."""

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine, Sequence

import asyncpg

from app import clock
from app.settings import Settings
from app.store.db import CONNECTION_LOST, Database
from app.store.embedded import EmbeddedPostgres
from app.store.migrate import wait_for_schema
from app.usecases.liveness import beat, leave
from app.workers.pulse import keep_pulse

SCHEMA_SECONDS = 60.0
FIRST_BACKOFF, LONGEST_BACKOFF = 0.05, 5.0
log = logging.getLogger(__name__)

Work = Callable[[], Awaitable[bool]]
"""One look for work; True when there was some, so that there may be more at once."""


class Worker:
    """A named process that does one kind of work until it is cancelled."""

    def __init__(self, kind: str, settings: Settings, db: Database) -> None:
        self.kind, self.settings, self.db = kind, settings, db
        self.name = f"{kind}-{os.getpid()}-{clock.random_token(4)}"
        self.passes = 0

    async def work(self, look: Work) -> None:
        """Call `look` until cancelled; back off while it fails, sleep while it finds nothing."""
        backoff = FIRST_BACKOFF
        while True:
            try:
                busy = await look()
                self.passes += 1
                backoff = FIRST_BACKOFF
                pause = 0.0 if busy else self.settings.poll_seconds
            except (TimeoutError, asyncpg.PostgresError, *CONNECTION_LOST) as error:
                log.warning(
                    "pass failed", extra={"facts": {"kind": self.kind, "error": str(error) or type(error).__name__}}
                )
                pause, backoff = backoff, min(backoff * 2, LONGEST_BACKOFF)
            await clock.sleep(pause)


Beside = Callable[[Worker], Coroutine[None, None, None]]
"""Other work of the same process, with a name of its own in leases; the process ends when it fails."""


async def run_worker(
    kind: str, settings: Settings, begin: Callable[[Worker], Work], beside: Sequence[Beside] = ()
) -> None:
    """Open the database, work until cancelled, and leave tidily."""
    dsn = settings.database_url or EmbeddedPostgres(settings.data_dir).dsn
    await wait_for_schema(dsn, seconds=SCHEMA_SECONDS)
    db = await Database.connect(dsn, size=3 + len(beside), name=f"windtunnel {kind}", statement_timeout=30.0)
    worker = Worker(kind, settings, db)
    await db.run(beat, worker.name, kind, 0)
    pulse = asyncio.create_task(keep_pulse(db, worker.name, kind, lambda: worker.passes))
    log.info("working", extra={"facts": {"kind": kind, "name": worker.name}})
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(worker.work(begin(worker)))
            for other in beside:
                group.create_task(other(Worker(kind, settings, db)))
    finally:
        pulse.cancel()
        await asyncio.gather(pulse, return_exceptions=True)
        with contextlib.suppress(asyncpg.PostgresError, *CONNECTION_LOST):
            await db.run(leave, worker.name)
        await db.close()
