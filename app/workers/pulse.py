"""The heartbeat of a process, and the pulse by which a gap without any process is left out of every clock (CT-1)."""

from collections.abc import Callable
from datetime import timedelta

import asyncpg
import structlog

from app import clock
from app.store import processes, worlds
from app.store.db import Database, Tx

BEAT_SECONDS = 0.5
GAP = timedelta(seconds=3)
"""A longer silence of every process, or any step of the wall clock backward beyond a second, is no time of a world."""
BACKWARD = timedelta(seconds=-1)

log = structlog.get_logger()


async def beat(tx: Tx, name: str, kind: str, passes: int) -> timedelta | None:
    """One heartbeat; the gap that was left out of the worlds' clocks, if there was one."""
    silence = await processes.last_pulse(tx)
    await processes.take_pulse(tx)
    await processes.beat(tx, name, kind, passes)
    if silence is None or BACKWARD <= silence <= GAP:
        return None
    await worlds.shift(tx, silence)
    return silence


async def keep_pulse(db: Database, name: str, kind: str, passes: Callable[[], int]) -> None:
    """Beat until cancelled. A database that is away is waited for."""
    while True:
        try:
            gap = await db.run(beat, name, kind, passes())
            if gap is not None:
                log.info("time without a living process left out", seconds=gap.total_seconds())
            await db.run(processes.forget_dead)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            log.warning("no heartbeat", error=str(error) or type(error).__name__)
        await clock.sleep(BEAT_SECONDS)
