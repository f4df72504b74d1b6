"""`windtunnel up`: the database, the API, gRPC, the reconciler and the scheduler, kept running and ended together."""

import asyncio
import contextlib
import dataclasses
import logging
import shutil
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

from app import clock
from app.host.children import Child
from app.host.grpc_ports import with_ports
from app.host.listener import listen
from app.host.probe import until_listening, until_ready
from app.settings import Settings
from app.store.binaries import DatabaseError
from app.store.embedded import EmbeddedPostgres

log = logging.getLogger(__name__)

T = TypeVar("T")

READY_SECONDS = 60.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class NotReady(Exception):
    """The service did not become ready in time. Exit code 3."""


class Supervisor:
    """Owner of every process of one service. `settings` are the children's: the real port, the real database."""

    def __init__(self, settings: Settings, listener: socket.socket, postgres: EmbeddedPostgres | None) -> None:
        self.settings = settings
        self.postgres = postgres
        self.children = [
            Child("api", settings, [listener.fileno()]),
            Child("reconciler", _without_listener(settings)),
            Child("scheduler", _without_listener(settings)),
            *([Child("grpc", _without_listener(settings))] if settings.grpc_port else []),
            *([Child("executor", _without_listener(settings))] if settings.execute_jobs else []),
        ]
        self.tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start all at once, migrate as soon as the database answers, return when the API says ready.

        Raises DatabaseError, Unusable, NotReady.
        """
        self.tasks = [asyncio.create_task(child.keep(), name=child.name) for child in self.children]
        database = asyncio.create_task(self._start_database())
        ready = asyncio.create_task(self._await_ready(database))
        done, _ = await asyncio.wait([ready, *self.tasks], return_when=asyncio.FIRST_COMPLETED)
        if ready not in done:
            database.cancel()
            ready.cancel()
            await asyncio.wait([database, ready])
        for task in done:
            task.result()
        for child in self.children:  # what is started again from now on leaves the world as it is
            child.settings = dataclasses.replace(child.settings, restarted=True)
        if self.postgres:
            self.tasks.append(asyncio.create_task(self._keep_database(self.postgres), name="database"))

    async def run(self) -> None:
        """Watch until cancelled, or until something cannot be kept running. Raises DatabaseError, Unusable."""
        done, _ = await asyncio.wait(self.tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    async def stop(self) -> None:
        """End every process that we started, by its id; the database last."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await asyncio.gather(*(child.stop() for child in self.children))
        if self.postgres:
            await self.postgres.stop()

    async def _start_database(self) -> None:
        # Imported here: the children, which take the longest, have been started by now.
        from app.store.migrate import ensure_schema

        if self.postgres:
            await self.postgres.start()
        await ensure_schema(str(self.settings.database_url))

    async def _await_ready(self, database: asyncio.Task[None]) -> None:
        await database
        try:
            async with asyncio.timeout(READY_SECONDS):
                await until_ready(self.settings)
                if self.settings.grpc_port:
                    await until_listening(self.settings, self.settings.grpc_port)
        except TimeoutError:
            running = [f"{child.name} (restarts: {child.restarts})" for child in self.children]
            raise NotReady(
                f"{self.settings.base_url}/_windtunnel/ready did not say 200, or gRPC did not listen, "
                f"within {READY_SECONDS:.0f} s; "
                f"processes: {', '.join(running)}; their messages are above, with more at --log-level debug"
            ) from None

    async def _keep_database(self, postgres: EmbeddedPostgres) -> None:
        """Start the server again when it ends; three failures in a row are for a person to look at."""
        failures = 0
        while True:
            await postgres.wait()
            log.warning("the database ended; starting it again")
            try:
                await postgres.start()
                failures = 0
            except DatabaseError:
                failures += 1
                if failures == 3:
                    raise
                await clock.sleep(float(failures))


@contextlib.asynccontextmanager
async def service(settings: Settings) -> AsyncIterator[Supervisor]:
    """A service that is ready; on the way out all of it is ended, and what was ephemeral is removed.

    Raises PortInUse first of all, then what `Supervisor.start` raises.
    """
    with contextlib.closing(listen(settings)) as listener, _data_directory(settings) as data:
        postgres = EmbeddedPostgres(data) if data else None
        supervisor = Supervisor(_for_children(settings, listener, postgres), listener, postgres)
        try:
            await supervisor.start()
            yield supervisor
        finally:
            await asyncio.shield(supervisor.stop())


async def until_told(work: Coroutine[Any, Any, T]) -> T | None:
    """The result of `work`; None if SIGINT, SIGTERM or SIGHUP cancelled it."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()

    def end() -> None:
        """Once: whoever tells twice, as `timeout` and `make` do together, must not break off the ending."""
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, lambda: None)
        task.cancel()

    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, end)
    try:
        return await task
    except asyncio.CancelledError:
        return None
    finally:
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)


def _for_children(settings: Settings, listener: socket.socket, postgres: EmbeddedPostgres | None) -> Settings:
    port = listener.getsockname()[1]
    return dataclasses.replace(
        with_ports(settings, port),
        supervised=True,
        ephemeral=False,
        listen_fd=listener.fileno(),
        port=port,
        database_url=postgres.dsn if postgres else settings.database_url,
        data=postgres.data_dir if postgres else None,
    )


def _without_listener(settings: Settings) -> Settings:
    return dataclasses.replace(settings, listen_fd=None)


@contextlib.contextmanager
def _data_directory(settings: Settings) -> Iterator[Path | None]:
    """Where the embedded database lives; None if it is not ours to run."""
    if settings.database_url:
        yield None
    elif settings.ephemeral:
        directory = Path(tempfile.mkdtemp(prefix="windtunnel-"))
        directory.chmod(0o711)  # as root the database's user must pass; what is inside is closed to others
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    else:
        yield settings.data_dir
