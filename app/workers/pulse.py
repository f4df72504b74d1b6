"""The heartbeat of a process, beside whatever else it does."""

import logging
from collections.abc import Callable

import asyncpg

from app import clock
from app.store.db import CONNECTION_LOST, Database
from app.usecases.liveness import beat

BEAT_SECONDS = 0.5
log = logging.getLogger(__name__)


async def keep_pulse(db: Database, name: str, kind: str, passes: Callable[[], int]) -> None:
    """Beat until cancelled. A database that is away is waited for."""
    while True:
        try:
            gap = await db.run(beat, name, kind, passes())
            if gap is not None:
                log.info("time without a living process left out", extra={"facts": {"seconds": gap.total_seconds()}})
        except (TimeoutError, asyncpg.PostgresError, *CONNECTION_LOST) as error:
            log.warning("no heartbeat", extra={"facts": {"error": str(error) or type(error).__name__}})
        await clock.sleep(BEAT_SECONDS)
