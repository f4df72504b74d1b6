"""The bounds of a request's head, on a real socket."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn

from app.host import protocol
from app.host.protocol import LARGEST_HEAD, BoundedProtocol


async def hello(scope: Any, receive: Any, send: Any) -> None:
    size = 0
    while (message := await receive())["type"] == "http.request":
        size += len(message["body"])
        if not message["more_body"]:
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(hello, http=BoundedProtocol, lifespan="off", log_config=None, ws="none")
    server = uvicorn.Server(config)
    running = asyncio.create_task(server._serve([listener]))
    yield listener.getsockname()[1]
    server.should_exit = True
    await running
    listener.close()


async def exchange(port: int, *parts: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await reader.read(100)
    finally:
        writer.close()
        await writer.wait_closed()


async def test_a_large_body_is_no_large_head(port: int) -> None:
    body = b"x" * 300_000
    answer = await exchange(port, b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 300000\r\n\r\n" + body)
    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nx: " + b"a" * LARGEST_HEAD + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"a" * (LARGEST_HEAD + 1),
        b"GET / HTTP/1.1\r\n" + b"x: 1\r\n" * 4000,
        b"GET /" + b"a" * LARGEST_HEAD,
    ],
)
async def test_a_large_head_is_refused_before_it_ends(port: int, head: bytes) -> None:
    """Reliability rule 10: 16 KiB of headers, finished or not."""
    assert (await exchange(port, head)).startswith(b"HTTP/1.1 431")


async def test_the_next_request_of_a_connection_starts_afresh(port: int) -> None:
    one = b"GET / HTTP/1.1\r\nhost: h\r\nx: " + b"a" * 10_000 + b"\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(4):
        writer.write(one)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    writer.close()
    await writer.wait_closed()


async def test_a_slow_head_is_cut_off(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """RL-17."""
    monkeypatch.setattr(protocol, "SLOWEST_HEAD", 0.05)
    assert await exchange(port, b"GET / HTTP/1.1\r\nx: ") == b""
