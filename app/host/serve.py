"""One process's main loop: the HTTP server around an application, or a worker until it is told to end."""

import asyncio
import contextlib
import gc
import signal
import socket
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import uvloop

from app.host.lifeline import end_with_supervisor
from app.host.logs import configure
from app.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp

IDLE_SECONDS = 75  # longer than the SDKs keep an idle connection, so it is never we who close a live one
DRAIN_SECONDS = 3
MOST_CONNECTIONS = 1000


def prepare(settings: Settings, process: str) -> None:
    """Logs as the settings say, and an end together with the supervisor if there is one."""
    configure(settings, process)
    if settings.supervised:
        end_with_supervisor()


def serve(application: "ASGIApp", settings: Settings, listener: socket.socket) -> None:
    """Answer on `listener` until SIGTERM or SIGINT; requests under way get DRAIN_SECONDS."""
    import uvicorn

    from app.host.protocol import BoundedProtocol

    config = uvicorn.Config(
        application,
        http=BoundedProtocol,
        loop="uvloop",
        ws="none",
        lifespan="on",
        log_config=None,
        log_level=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    _collect_from_now_on()
    # uvicorn raises its signal again when it has drained: to be told to end is no failure.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    uvicorn.Server(config).run(sockets=[listener])


def run_worker(work: Callable[[Settings], Coroutine[Any, Any, None]], settings: Settings) -> None:
    """Run `work` until SIGTERM or SIGINT cancels it: what it has not committed, it has not done."""
    _collect_from_now_on()
    uvloop.run(_until_told(work(settings)))


def _collect_from_now_on() -> None:
    """What is imported stays; the collector need not look at it again."""
    gc.enable()
    gc.freeze()


async def _until_told(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task
