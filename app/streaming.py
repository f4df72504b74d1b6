"""What every stream of server-sent events does, whatever it tells: it ends with the first of what can end it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.types import Receive

HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
"""Neither a cache nor a proxy in between may hold an event back."""


async def first_of(*works: Coroutine[Any, Any, Any]) -> "list[asyncio.Task[Any]]":
    """Work at all of them until one ends, and end the others; all have ended then."""
    tasks = [asyncio.create_task(each) for each in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return tasks


async def hung_up(receive: Receive) -> None:
    """Ends when the reader has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
