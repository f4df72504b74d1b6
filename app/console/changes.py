"""The one stream of a tab: it says no more than that its world has changed, and its page then asks for what it shows.

A world is looked at four times a second as long as anybody listens, whatever the number of tabs. While its clock runs,
what depends on the time alone (a bill, an age) is told to have changed every few seconds.
"""

import asyncio
import contextlib
import logging

from fastapi import APIRouter, Response
from starlette.types import Receive, Scope, Send

from app import clock
from app.console.page import PageOf
from app.failures import is_database_away
from app.service import Service
from app.streaming import HEADERS, first_of, hung_up
from app.usecases import changes

router = APIRouter()
LOOK_SECONDS = 0.25
BEAT_SECONDS = 15.0
RUNNING_LOOKS = 20
"""Looks after which a running clock alone is a change."""
SLOWEST_SEND = 60.0
MOST_STREAMS = 200
GREETING, BEAT, CHANGED = b"retry: 2000\n\n", b": beat\n\n", b"event: changed\ndata: 1\n\n"
log = logging.getLogger(__name__)


class Watch:
    """A world that somebody listens to. `turn` is set, and another made, at each change; `begun` at the first look."""

    def __init__(self) -> None:
        self.turn = asyncio.Event()
        self.begun = asyncio.Event()
        self.users = 0
        self.task: asyncio.Task[None] | None = None

    def tell(self) -> None:
        self.turn.set()
        self.turn = asyncio.Event()


class Watches:
    """Every world that this process watches."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._watches: dict[str, Watch] = {}

    @property
    def count(self) -> int:
        """How many streams are open."""
        return sum(watch.users for watch in self._watches.values())

    def join(self, world: str) -> Watch:
        """Who joins must leave."""
        watch = self._watches.get(world)
        if watch is None:
            watch = self._watches[world] = Watch()
            watch.task = asyncio.create_task(self._look(world, watch))
        watch.users += 1
        return watch

    def leave(self, world: str, watch: Watch) -> None:
        """The last one ends the looking."""
        watch.users -= 1
        if not watch.users and watch.task is not None:
            watch.task.cancel()
            del self._watches[world]

    async def _look(self, world: str, watch: Watch) -> None:
        seen, still = await self.mark(world), 0
        watch.begun.set()
        while True:
            await clock.sleep(LOOK_SECONDS)
            found = await self.mark(world)
            still += 1
            runs = found is not None and found[1]
            if found != seen or (runs and still >= RUNNING_LOOKS):
                seen, still = found, 0
                watch.tell()

    async def mark(self, world: str) -> tuple[str, bool] | None:
        """What tells this state of the world from others; None without it, or while nobody can tell."""
        try:
            return await self._service.db.run(changes.mark, world)
        except Exception as error:
            if not is_database_away(error):
                log.exception("a world could not be watched", extra={"facts": {"world": world}})
            return None


class ChangeStream(Response):
    """FastAPI passes on what is a `Response` of its framework: hence a subclass where the house has none."""

    media_type = "text/event-stream"

    def __init__(self, watches: Watches, world: str, seen: str) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._watches, self._world, self._seen = watches, world, seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the reader goes."""
        watch = self._watches.join(self._world)
        try:
            await first_of(self._tell(watch, send), hung_up(receive))
        finally:
            self._watches.leave(self._world, watch)

    async def _tell(self, watch: Watch, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": GREETING, "more_body": True})
        chunk = await self._first(watch)
        while True:
            turn = watch.turn
            async with asyncio.timeout(SLOWEST_SEND):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            chunk = BEAT
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BEAT_SECONDS):
                    await turn.wait()
                chunk = CHANGED

    async def _first(self, watch: Watch) -> bytes:
        """What happened between the reading of the page and the opening of its stream is told at once."""
        await watch.begun.wait()
        found = await self._watches.mark(self._world)
        return CHANGED if self._seen and found is not None and found[0] != self._seen else BEAT


@router.get("/changes")
async def stream(page: PageOf) -> Response:
    """Server-sent events named `changed`."""
    watches: Watches = page.request.app.state.watches
    if watches.count >= MOST_STREAMS:
        return Response("Too many streams are open.", 429, {"retry-after": "5"}, "text/plain")
    return ChangeStream(watches, page.world, page.given.get("seen", ""))
