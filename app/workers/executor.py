"""The executor: really runs the programs of jobs on this machine, where the service was told to (VX-16).

A run is claimed in a transaction before its program starts, so it starts once or never. An executor that dies takes its
programs along (`keeper.py`), and a reconciler then loses their workers, which begin anew as on a lost machine.
"""

import asyncio
import contextlib
import logging
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

import asyncpg

from app import clock
from app.core.executing import Held, Start
from app.core.reports import Measurement
from app.core.scope import DEFAULT_WORLD
from app.settings import Settings
from app.store.db import CONNECTION_LOST, Database, Tx
from app.usecases import executing
from app.usecases.executing import EXECUTOR, Output
from app.workers.execution import Execution
from app.workers.loop import LONGEST_BACKOFF, Work, Worker, run_worker
from app.workers.run_folders import RunFolders

FLUSH_SECONDS = 0.1
FLUSH_LINES = 500
METRIC_SECONDS = 0.5
MOST_REPORTS = 1000
"""Measurements of one run that are told (chosen)."""
MOST_METRIC_BYTES = 1024 * 1024
log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")


async def run(settings: Settings) -> None:
    """Work until told to stop; then no program goes on."""
    executors: list[Executor] = []

    def begin(worker: Worker) -> Work:
        executors.append(Executor(worker))
        return executors[0].look

    try:
        await run_worker(EXECUTOR, settings, begin)
    finally:
        for one in executors:
            await one.close()


class Executor:
    """The programs that run in this process's care, by what it holds."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._claims = 0
        self._folders = RunFolders()
        self._runs: dict[Held, _Run] = {}
        self._tasks: dict[Held, asyncio.Task[None]] = {}

    async def look(self) -> bool:
        """Stop what is to end, lose what is ours by a copy of its world only, and begin what there is room for."""
        db, settings = self._worker.db, self._worker.settings
        for one in [one for one, task in self._tasks.items() if task.done()]:
            del self._runs[one]
            self._tasks.pop(one).result()
        held = await db.run(executing.held, self._worker.name)
        for one, current in self._runs.items():
            if not held.get(one, False):
                current.execution.stop()
        for one in held.keys() - self._runs.keys():
            await db.run(executing.lose, one)
        room = settings.execute_processes - len(self._runs)
        if room <= 0:
            return False
        self._claims += 1
        for one, start in await db.run(executing.claim, self._worker.name, self._claims, room):
            self._runs[one] = _Run(db, settings, one, start, self._folders.make(start.name))
            self._tasks[one] = asyncio.create_task(self._runs[one].perform())
        return False

    async def close(self) -> None:
        """End every program at once, with all its processes."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._folders.close()


class _Run:
    """One run: its program, and what is told of it."""

    def __init__(self, db: Database, settings: Settings, held: Held, start: Start, folder: Path) -> None:
        self._db, self._settings, self._held, self._start = db, settings, held, start
        base = settings.endpoint or settings.base_url
        world = "" if start.world == DEFAULT_WORLD else f"/w/{quote(start.world, safe='')}"
        self.execution = Execution(start, db, base.rstrip("/") + world, settings.execute_processes, folder)
        self._offset, self._reported, self._is_known = 0, 0, False
        self._last: Measurement | None = None

    @property
    def _is_trial(self) -> bool:
        return self._start.job.trial_id is not None and self._start.is_primary

    async def perform(self) -> None:
        """From the first line to the exit code, which is told last: then all that was written is in the log."""
        telling = asyncio.create_task(self._tell())
        try:
            await self._report()
            measuring = asyncio.create_task(self._measure())
            try:
                code = await self.execution.perform()
            finally:
                measuring.cancel()
                await asyncio.gather(measuring, return_exceptions=True)
            await telling
            await self._report()
            await self._surely(executing.ended, self._held, code)
        except Exception:
            log.exception("a program's run failed", extra={"facts": {"run": str(self._held)}})
            with contextlib.suppress(asyncpg.PostgresError, *CONNECTION_LOST):
                await self._db.run(executing.lose, self._held)
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
            await asyncio.to_thread(shutil.rmtree, self.execution.folder, ignore_errors=True)

    async def _tell(self) -> None:
        """Lines into the log, many at a time."""
        queue = self.execution.output
        while (first := await queue.get()) is not None:
            lines: list[Output] = [first]
            await clock.sleep(FLUSH_SECONDS)
            over = False
            while not queue.empty() and len(lines) < FLUSH_LINES and not over:
                if (line := queue.get_nowait()) is None:
                    over = True
                else:
                    lines.append(line)
            try:
                await self._surely(executing.tell, self._held, lines, self._settings.log_lines_per_job)
            except Exception:  # a line that cannot be kept stops neither the program nor the lines behind it
                log.exception("lines of a program are lost", extra={"facts": {"run": str(self._held)}})
            if over:
                return

    async def _measure(self) -> None:
        while self._is_trial:
            await clock.sleep(METRIC_SECONDS)
            if self.execution.metrics.exists():
                await self._report()

    async def _report(self) -> None:
        """What the program of a trial has written to its metric file since."""
        if not self._is_trial or self._reported >= MOST_REPORTS:
            return
        lines = self._new_lines(self.execution.metrics)[: MOST_REPORTS - self._reported]
        if lines or not self._is_known:
            found = await self._surely(executing.report, self._held, self._start, lines, self._reported, self._last)
            self._is_known = True
            self._reported += len(found)
            self._last = found[-1] if found else self._last

    def _new_lines(self, path: Path) -> list[str]:
        """Whole lines behind those that were read before."""
        try:
            with path.open("rb") as file:
                file.seek(self._offset)
                read = file.read(MOST_METRIC_BYTES)
        except OSError:
            return []
        whole = read[: read.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.decode("utf-8", "replace").splitlines()

    async def _surely(self, work: Callable[Concatenate[Tx, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do it in a transaction, as often as it takes: a database that is away is waited for."""
        while True:
            try:
                return await self._db.run(work, *args, **kwargs)
            except (TimeoutError, asyncpg.PostgresError, *CONNECTION_LOST) as error:
                if isinstance(error, (ValueError, asyncpg.DataError, asyncpg.IntegrityConstraintViolationError)):
                    raise
                log.warning("not told yet", extra={"facts": {"run": str(self._held), "error": type(error).__name__}})
                await clock.sleep(LONGEST_BACKOFF)
