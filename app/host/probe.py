"""Asking our own API from the supervisor: a GET in 30 lines, where an HTTP client takes 0.2 s to import."""

import asyncio
import contextlib
import json
from typing import Any

from app import clock
from app.settings import Settings

ATTEMPT_SECONDS = 5.0


async def get(settings: Settings, path: str) -> tuple[int, Any] | None:
    """Status and JSON body (None if it is none) of our API at `path`; None while nobody answers."""
    try:
        async with asyncio.timeout(ATTEMPT_SECONDS):
            return await _get(settings, path)
    except (OSError, EOFError, ValueError, TimeoutError):
        return None


async def _get(settings: Settings, path: str) -> tuple[int, Any]:
    address = settings.base_url.removeprefix("http://")
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    try:
        token = f"Authorization: Bearer {settings.control_token}\r\n" if settings.control_token else ""
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {address}\r\n{token}Connection: close\r\n\r\n".encode())
        status = int((await reader.readline()).split()[1])
        await reader.readuntil(b"\r\n\r\n")
        body = await reader.read()
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    try:
        return status, json.loads(body)
    except ValueError:
        return status, None


async def until_ready(settings: Settings) -> None:
    """Return once `/_windtunnel/ready` says 200."""
    while True:
        answer = await get(settings, "/_windtunnel/ready")
        if answer and answer[0] == 200:
            return
        await clock.sleep(0.05)


async def until_listening(settings: Settings, port: int) -> None:
    """Return once somebody listens on the port of our address."""
    host = settings.base_url.removeprefix("http://").rpartition(":")[0].strip("[]")
    while True:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
            return
        await clock.sleep(0.05)
