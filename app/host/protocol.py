"""HTTP/1.1 with bounds that uvicorn's httptools protocol lacks: the size of a head, and the time it may take."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 16 * 1024  # bytes of request line and headers
SLOWEST_HEAD = 20.0  # wall seconds for all of it (RL-17)
SLOWEST_GOODBYE = 10.0  # wall seconds in which a peer takes the rest of an answer that was broken off
REFUSAL = b"request line and headers may have 16 KiB together"
ANSWER = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%s" % (len(REFUSAL), REFUSAL)
)


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's own extension point is a protocol class: hence a subclass where the house has none."""

    in_head = False
    head_bytes = 0
    mixed = False  # the chunk at hand ends an earlier message, so its length says nothing of a head
    deadline: asyncio.TimerHandle | None = None
    goodbye: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.deadline = self.loop.call_later(SLOWEST_HEAD, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._met()
        self._flowing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The peer does not read. A closed transport would wait for it without end."""
        super().pause_writing()
        self.goodbye = self.loop.call_later(SLOWEST_GOODBYE, self._leave)

    def resume_writing(self) -> None:
        self._flowing()
        super().resume_writing()

    def _leave(self) -> None:
        if self.transport.is_closing():
            self.transport.abort()
        else:
            self.goodbye = self.loop.call_later(SLOWEST_GOODBYE, self._leave)

    def _flowing(self) -> None:
        if self.goodbye is not None:
            self.goodbye.cancel()
            self.goodbye = None

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self.mixed = False
        super().data_received(data)
        if self.in_head and not self.mixed:
            self.head_bytes += len(data)
            if self.head_bytes > LARGEST_HEAD and not self.transport.is_closing():
                self._refuse()

    def on_message_begin(self) -> None:
        self.in_head = True
        self.head_bytes = 0
        if self.deadline is None:
            self.deadline = self.loop.call_later(SLOWEST_HEAD, self.transport.close)
        super().on_message_begin()
        self.scope["windtunnel.hang_up"] = self.transport.close  # type: ignore[typeddict-unknown-key]

    def on_headers_complete(self) -> None:
        self._met()
        self.in_head = False
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > LARGEST_HEAD:
            self._refuse()
            raise ValueError("head too large")  # stops the parser; what follows finds the transport closing
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        if not self.transport.is_closing():
            super().send_400_response(msg)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.mixed = True

    def _met(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def _refuse(self) -> None:
        self.transport.write(ANSWER)
        self.transport.close()
