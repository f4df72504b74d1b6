"""The outbox, read: what happened, as the outside is told."""

import asyncpg

from app.store import events
from app.store.db import Tx
from app.usecases import clocks


async def newest(tx: Tx, world: str, limit: int) -> tuple[int, list[asyncpg.Record]]:
    """The world's seed, and its newest messages, oldest first."""
    found = await clocks.read(tx, world)
    return found.seed, await events.announced(tx, world, limit)
