"""The relay: sends what happens to the webhooks, one relay at a time by a lease, in whichever process holds it.

Each webhook has a task of its own, so that one that does not answer delays no other. In wall time: a frozen world's
news are sent as well, and no advance waits for them.
"""

import asyncio
import logging
from typing import TYPE_CHECKING

import asyncpg

from app import clock
from app.core.errors import NotFound
from app.store.db import CONNECTION_LOST
from app.usecases import announcements, webhooks
from app.usecases.delivering import LostLease, Terms, deliver
from app.usecases.liveness import lead
from app.usecases.posting import sender
from app.workers.loop import LONGEST_BACKOFF, Worker

if TYPE_CHECKING:
    import httpx

LEASE = "relay"
Key = tuple[str, int]
log = logging.getLogger(__name__)


class Relay:
    """Keeps the lease and a task for each webhook, until it is cancelled."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._epoch: int | None = None
        self._tasks: dict[Key, asyncio.Task[None]] = {}
        self._client: httpx.AsyncClient | None = None

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await self._worker.work(self._look)
        finally:
            await self._stop(list(self._tasks))
            if self._client is not None:
                await self._client.aclose()

    async def _look(self) -> bool:
        worker = self._worker
        held = await worker.db.run(lead, LEASE, worker.name, self._epoch, worker.settings.lease_seconds)
        if held != self._epoch:
            await self._stop(list(self._tasks))
            self._epoch = held
        if held is None:
            return False
        await announcements.arrange_all(worker.db)
        wanted = set(await worker.db.run(webhooks.every))
        over = [key for key, task in self._tasks.items() if key not in wanted or task.done()]
        await self._stop(over)
        for key in wanted - self._tasks.keys():
            self._tasks[key] = asyncio.create_task(self._serve(key, self._terms(held)))
        return False

    async def _stop(self, keys: list[Key]) -> None:
        tasks = [self._tasks.pop(key) for key in keys]
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                log.error("delivery to a webhook failed", exc_info=result)

    def _terms(self, epoch: int) -> Terms:
        given = self._worker.settings
        full = given.event_metadata == "full"
        return Terms(given.webhook_hosts, given.webhook_attempts, given.webhook_retry_seconds, full, LEASE, epoch)

    async def _serve(self, key: Key, terms: Terms) -> None:
        """Deliver to one webhook until it is gone, or the lease."""
        if self._client is None:
            self._client = sender()
        while True:
            try:
                busy = await deliver(self._worker.db, key, self._client, terms)
            except (LostLease, NotFound):  # the lease went, or the world
                return
            except (TimeoutError, asyncpg.PostgresError, *CONNECTION_LOST) as error:
                log.warning("no delivery", extra={"facts": {"webhook": key[1], "error": type(error).__name__}})
                await clock.sleep(LONGEST_BACKOFF)
                continue
            if busy is None:
                return
            await clock.sleep(0 if busy else self._worker.settings.poll_seconds)
