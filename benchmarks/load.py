"""A closed-loop client for AWS JSON 1.1 that costs little next to the servers it measures: sockets and no SDK."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=123456789012/20260101/us-west-2/sagemaker/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64
)


@dataclass(frozen=True)
class Figures:
    """What one run of one operation gave; latencies in milliseconds."""

    operation: str
    concurrency: int
    requests: int
    per_second: float
    p50: float
    p99: float
    failures: int


class Connection:
    """A kept-alive connection, made anew when the server closes it."""

    def __init__(self, endpoint: str) -> None:
        parts = urlsplit(endpoint)
        if parts.hostname not in ("127.0.0.1", "localhost", "::1"):
            raise ValueError("load goes to loopback only")
        self._address = (parts.hostname, parts.port or 80)
        self._path = parts.path or "/"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, operation: str, body: dict[str, Any]) -> tuple[int, bytes]:
        payload = json.dumps(body).encode()
        request = (
            f"POST {self._path} HTTP/1.1\r\nHost: {self._address[0]}:{self._address[1]}\r\n"
            f"X-Amz-Target: SageMaker.{operation}\r\nContent-Type: application/x-amz-json-1.1\r\n"
            f"X-Amz-Date: 20260101T000000Z\r\nAuthorization: {AUTHORIZATION}\r\n"
            f"Content-Length: {len(payload)}\r\n\r\n"
        ).encode()
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._address)
        reader, writer = self._streams
        writer.write(request + payload)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        answer = await reader.readexactly(length)
        if b"connection: close" in head:
            self.close()
        return int(head[9:12]), answer

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def measure(
    endpoint: str, operation: str, body: Callable[[int], dict[str, Any]], *, concurrency: int, seconds: float, most: int
) -> Figures:
    """Send `operation` from `concurrency` connections for `seconds`, at most `most` times; `body` gives the n-th."""
    connections = [Connection(endpoint) for _ in range(concurrency)]
    latencies: list[float] = []
    failures = 0
    number = 0
    end = time.perf_counter() + seconds

    async def client(connection: Connection) -> None:
        nonlocal number, failures
        while time.perf_counter() < end and number < most:
            number += 1
            request = body(number)
            began = time.perf_counter()
            status, _ = await connection.call(operation, request)
            latencies.append((time.perf_counter() - began) * 1000)
            failures += status != 200

    began = time.perf_counter()
    await asyncio.gather(*(client(connection) for connection in connections))
    took = time.perf_counter() - began
    for connection in connections:
        connection.close()
    latencies.sort()
    return Figures(
        operation,
        concurrency,
        len(latencies),
        len(latencies) / took,
        latencies[len(latencies) // 2],
        latencies[min(len(latencies) - 1, int(len(latencies) * 0.99))],
        failures,
    )
