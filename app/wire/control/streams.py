"""Server-sent events: one poll of the database for all streams of a world, and a bound on what waits for a reader.

A stream first catches up from the database, page by page, at its reader's pace; then it is given what the poll finds.
Who falls a mebibyte behind is cut off, and goes on from its last id when it comes again (RL-19).
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Iterable

import orjson
from fastapi.responses import Response

from app import clock
from app.core.errors import NotFound
from app.failures import is_database_away
from app.service import Service
from app.streaming import HEADERS, first_of, hung_up
from app.usecases import announcements
from app.usecases.announcements import Envelope, Place, Wanted, id_of
from app.wire.safety import AsgiScope, Receive, Send

MOST_WAITING = 1024 * 1024  # bytes
PAGE = 500
POLL_SECONDS = 0.25
BEAT_SECONDS = 15.0
SLOWEST_SEND = 60.0  # wall seconds
GREETING, BEAT = b"retry: 1000\n\n", b": beat\n\n"
EVERYTHING = Wanted()
log = logging.getLogger(__name__)


class Listener:
    """A stream that has caught up: what waits for its reader. `place` is the last that it was given."""

    def __init__(self, what: Wanted, place: Place) -> None:
        self.what, self.place = what, place
        self.waiting: deque[bytes] = deque()
        self.size = 0
        self.news, self.over = asyncio.Event(), asyncio.Event()

    def give(self, envelope: Envelope, chunk: bytes) -> None:
        """Let the envelope wait for the reader, if it wants it; the end for who leaves too much waiting."""
        if envelope.place <= self.place or not envelope.fits(self.what):
            return
        self.place = envelope.place
        self.waiting.append(chunk)
        self.size += len(chunk)
        self.news.set()
        if self.size > MOST_WAITING:
            self.over.set()

    async def take(self) -> bytes:
        """All that waits; a sign of life after a while without anything."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BEAT_SECONDS):
                await self.news.wait()
        self.news.clear()
        chunk = b"".join(self.waiting)
        self.waiting.clear()
        self.size = 0
        return chunk or BEAT


class Channel:
    """A world's news, polled as long as anybody listens. `place` is how far the poll has come."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.users = 0
        self.listeners: set[Listener] = set()
        self.gone = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def publish(self, envelopes: Iterable[Envelope], reached: Place) -> None:
        for envelope in envelopes:
            chunk = written(envelope)
            for listener in self.listeners:
                listener.give(envelope, chunk)
        self.place = reached


class Hub:
    """Every stream of this process."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._channels: dict[str, Channel] = {}
        self._joining = asyncio.Lock()

    @property
    def count(self) -> int:
        return sum(channel.users for channel in self._channels.values())

    @property
    def is_full(self) -> bool:
        return self.count >= self._service.settings.event_streams

    async def page(self, world: str, what: Wanted, after: Place) -> tuple[list[Envelope], Place]:
        full = self._service.settings.event_metadata == "full"
        return await self._service.db.run(announcements.since, world, what, after, PAGE, full)

    async def join(self, world: str) -> Channel:
        """The world's channel; who joins must leave."""
        async with self._joining:
            channel = self._channels.get(world)
            if channel is None:
                channel = Channel(await self._service.db.run(announcements.end, world))
                self._channels[world] = channel
                channel.task = asyncio.create_task(self._poll(world, channel))
            channel.users += 1
            return channel

    def leave(self, world: str, channel: Channel) -> None:
        channel.users -= 1
        if channel.users == 0:
            self._forget(world, channel)
            if channel.task is not None:
                channel.task.cancel()

    def _forget(self, world: str, channel: Channel) -> None:
        if self._channels.get(world) is channel:
            del self._channels[world]

    async def _poll(self, world: str, channel: Channel) -> None:
        while True:
            try:
                found, reached = await self.page(world, EVERYTHING, channel.place)
                channel.publish(found, reached)
                pause = 0.0 if len(found) == PAGE else min(POLL_SECONDS, self._service.settings.poll_seconds)
            except NotFound:
                self._forget(world, channel)
                channel.gone.set()
                return
            except Exception as error:
                if not is_database_away(error):
                    log.exception("streams of a world failed", extra={"facts": {"world": world}})
                pause = 1.0
            await clock.sleep(pause)


class EventStream(Response):
    """FastAPI passes on what is a `Response` of its framework: hence a subclass where the house has none."""

    media_type = "text/event-stream"

    def __init__(self, hub: Hub, world: str, what: Wanted, after: Place | None) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._hub, self._world, self._what, self._after = hub, world, what, after

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Send until the reader goes, is too slow, or the world ends."""
        channel = await self._hub.join(self._world)
        listener = Listener(self._what, channel.place)
        try:
            sending, *_ = await first_of(
                self._send_all(channel, listener, send),
                hung_up(receive),
                listener.over.wait(),
                channel.gone.wait(),
            )
        finally:
            channel.listeners.discard(listener)
            self._hub.leave(self._world, channel)
        failure = None if sending.cancelled() else sending.exception()
        if failure is not None and not isinstance(failure, OSError):
            log.error("a stream of events failed", exc_info=failure, extra={"facts": {"world": self._world}})
        if listener.over.is_set():
            log.warning("a reader of events is too slow: cut off", extra={"facts": {"world": self._world}})
        elif channel.gone.is_set():
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_all(self, channel: Channel, listener: Listener, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await _send(send, GREETING)
        if self._after is not None:
            await self._catch_up(channel, listener, self._after, send)
        channel.listeners.add(listener)
        while True:
            await _send(send, await listener.take())

    async def _catch_up(self, channel: Channel, listener: Listener, after: Place, send: Send) -> None:
        """Up to where the poll is, if not further: what another process has seen may be news to this one."""
        while True:
            found, after = await self._hub.page(self._world, self._what, after)
            if found:
                await _send(send, b"".join(map(written, found)))
            if after >= channel.place:
                listener.place = after
                return


async def _send(send: Send, chunk: bytes) -> None:
    async with asyncio.timeout(SLOWEST_SEND):
        await send({"type": "http.response.body", "body": chunk, "more_body": True})


def written(envelope: Envelope) -> bytes:
    """The envelope as a server-sent event of the default type, which a browser's `onmessage` gets."""
    return b"id: %b\ndata: %b\n\n" % (id_of(envelope.place).encode(), orjson.dumps(envelope.body))
