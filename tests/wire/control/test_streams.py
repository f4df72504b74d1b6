"""A reader that does not read is cut off, and nobody else is the worse for it (RL-19)."""

import asyncio
import re
from typing import Any

from app.core.cluster_events import Event
from app.core.scope import Scope
from app.service import compose
from app.settings import Settings
from app.store import events
from app.store.db import Database
from app.usecases.announcements import Wanted
from app.wire.control.streams import MOST_WAITING, EventStream, Hub
from tests.core.builders import ACCOUNT, REGION, at
from tests.store.conftest import make_world
from tests.store.rows import CLUSTER_ID, add_cluster

COUNT = 3000


class Reader:
    """An ASGI client that reads all, or stops after the greeting."""

    def __init__(self, stuck: bool) -> None:
        self.stuck, self.text, self.here = stuck, b"", asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(self, message: Any) -> None:
        self.text += message.get("body", b"")
        if self.text:
            self.here.set()
        if self.stuck and self.text.count(b"data:"):
            await asyncio.Event().wait()


async def test_a_stuck_reader_is_dropped(database: Database) -> None:
    """RL-19: at 1 MiB of backlog, while another reader of the same world gets each event once."""
    service = compose(Settings(poll_seconds=0.02), "test")
    service.database = database
    hub, scope = Hub(service), Scope(await make_world(database), ACCOUNT, REGION)
    stuck, well = Reader(stuck=True), Reader(stuck=False)
    running = [
        asyncio.create_task(EventStream(hub, scope.world, Wanted(), None)({}, one.receive, one.send))
        for one in (stuck, well)
    ]
    await asyncio.gather(stuck.here.wait(), well.here.wait())
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
    for first in range(0, COUNT, 500):
        told = [Event("terminating", at(n), "workers", f"i-{n}", f"n-{n}") for n in range(first, first + 500)]
        await asyncio.sleep(0.1)
        async with database.transaction() as tx:
            await events.append(tx, scope, CLUSTER_ID, told, first, 10_000)
    await asyncio.wait_for(running[0], 20)
    while well.text.count(b"data:") < COUNT + 1:  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    assert hub.count == 1
    running[1].cancel()
    await asyncio.gather(*running, return_exceptions=True)
    assert hub.count == 0
    numbers = re.findall(rb"^id: (.*)$", well.text, re.M)
    assert len(numbers) == len(set(numbers)) == COUNT + 1
    assert len(well.text) > MOST_WAITING
