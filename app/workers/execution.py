"""One program of a job, from its files to its end, as a process group of this machine (VX-16)."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import NamedTuple

from app import clock
from app.core.errors import DomainError
from app.core.executing import SPECS, Start, command, environment, exit_code, mounted, place_of, relocated
from app.core.log_lines import ERROR, INFO
from app.store.db import Database
from app.usecases.executing import Output
from app.usecases.staging import Staged, unpack

KEEPER = Path(__file__).with_name("keeper.py")
GRACE_SECONDS = 5.0
"""Wall time from SIGTERM to SIGKILL (chosen; shorter than the real service's)."""
DRAIN_SECONDS = 1.0
"""Wall time for what is left of the output when the program has ended: who left its group may hold the pipes."""
NOT_FOUND, KILLED = 127, 137
CHUNK = 65_536
MOST_LINE_BYTES = 65_536
MOST_LINES = 20_000
"""Lines of one run that are kept (chosen): the log of its job keeps the newest of them."""
_INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "SSL_CERT_FILE")


class Cannot(Exception):
    """The program cannot begin; the text says why."""


class Prepared(NamedTuple):
    """What is to be started, where, and with which variables."""

    words: list[str]
    environment: dict[str, str]
    folder: Path


class Execution:
    """A program that runs for a replica: `output` gives its lines, None at their end; `perform` its exit code."""

    def __init__(self, start: Start, db: Database, endpoint: str, most_replicas: int, folder: Path) -> None:
        self.start = start
        self.output: asyncio.Queue[Output | None] = asyncio.Queue(1000)
        self.folder = folder
        self.metrics = self.folder / "hypertune" / "output.metrics"
        self._db, self._endpoint, self._most_replicas = db, endpoint, most_replicas
        self._staged = Staged(db, start.world, self.folder / "gcs")
        self._group: int | None = None
        self._stopped = asyncio.Event()
        self._lines = 0

    def stop(self) -> None:
        """Ask it to end; who does not is killed after a while."""
        self._stopped.set()

    async def perform(self) -> int:
        """Run it; its exit code as the service tells it. However this ends, no process of the group is left."""
        try:
            code = await self._run(await self._prepare())
        except (Cannot, DomainError, OSError, ValueError) as error:
            await self._say(f"The program cannot be run here: {error}", ERROR)
            code = NOT_FOUND
        finally:
            self._kill()
        await self.output.put(None)
        return code

    async def _prepare(self) -> Prepared:
        start = self.start
        if start.size > self._most_replicas:
            raise Cannot(
                f"the job has {start.size} replicas, and {self._most_replicas} programs run at once (setting "
                "execute_processes). Give the job fewer replicas, or raise the setting."
            )
        for name in ("work", "tmp", "gcs", "packages", "hypertune"):
            (self.folder / name).mkdir()
        words = command(start, sys.executable)
        variables = environment(start, self._given())
        pathlike = {name: value for name, value in variables.items() if name not in SPECS}
        for bucket, name in mounted([*words, *pathlike.values()]):
            await self._staged.fetch(bucket, name)
        root = str(self.folder / "gcs")
        variables |= {name: relocated(value, root) for name, value in pathlike.items()}
        await self._unpack(variables)
        return Prepared([relocated(word, root) for word in words], variables, self.folder / "work")

    def _given(self) -> dict[str, str]:
        """What a container would bring along, and where Cloud Storage is. Nothing of ours: it may be secret."""
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        return {
            "LANG": "C.UTF-8",
            "PATH": os.defpath,
            **inherited,
            "HOME": str(self.folder / "work"),
            "TMPDIR": str(self.folder / "tmp"),
            "PYTHONUNBUFFERED": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "CLOUD_ML_HP_METRIC_FILE": str(self.metrics),
            "GOOGLE_CLOUD_PROJECT": self.start.job.account,
            "STORAGE_EMULATOR_HOST": self._endpoint,
        }

    async def _unpack(self, variables: dict[str, str]) -> None:
        """Packages are unpacked and not installed: what they require must be here already."""
        roots: list[str] = []
        for number, uri in enumerate(self.start.packages):
            bucket, name = place_of(uri)
            archive = self.folder / "tmp" / f"{number}-{Path(name).name}"
            await self._staged.download(bucket, name, archive)
            into = self.folder / "packages" / str(number)
            await asyncio.to_thread(unpack, archive, into)
            inner = [path for path in sorted(into.iterdir()) if _is_source(path)]
            roots += [str(path) for found in (*inner, into) for path in (found / "src", found) if path.is_dir()]
        if roots:
            variables["PYTHONPATH"] = os.pathsep.join([*roots, *filter(None, [variables.get("PYTHONPATH")])])

    async def _run(self, prepared: Prepared) -> int:
        read, write = os.pipe()
        try:
            process = await self._begin(prepared, write)
        except (OSError, ValueError) as error:
            os.close(read)
            raise Cannot(str(error)) from error
        finally:
            os.close(write)
        self._group = process.pid
        assert process.stdout is not None and process.stderr is not None
        readers = [
            asyncio.create_task(self._read(process.stdout, INFO)),
            asyncio.create_task(self._read(process.stderr, ERROR)),
        ]
        stopping = asyncio.create_task(self._stop_when_told())
        try:
            await process.wait()
            self._kill()  # who killed the keeper has not killed the program
            self._group = None  # its number may be another's from now on
            await asyncio.wait(readers, timeout=DRAIN_SECONDS)
            status = os.read(read, 4096).decode()
        finally:
            os.close(read)
            for task in (*readers, stopping):
                task.cancel()
            await asyncio.gather(*readers, stopping, return_exceptions=True)
        return await self._concluded(status, prepared.words[0])

    async def _begin(self, prepared: Prepared, write: int) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(KEEPER), str(write)),
            *prepared.words,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=prepared.folder,
            env=prepared.environment,
            pass_fds=[write],
            start_new_session=True,
        )

    async def _concluded(self, status: str, word: str) -> int:
        if status.startswith("!"):
            raise Cannot(f"'{word[:200]}': {status[1:]}.")
        for refused in await self._staged.store():
            await self._say(refused, ERROR)
        return exit_code(int(status), python=self.start.is_python) if status else KILLED

    async def _stop_when_told(self) -> None:
        await self._stopped.wait()
        self._signal(signal.SIGTERM)
        await clock.sleep(GRACE_SECONDS)
        self._kill()

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self._group is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, number)

    async def _read(self, stream: asyncio.StreamReader, severity: str) -> None:
        """Line by line, as fast as the log takes them; what is too long is cut."""
        rest = b""
        while chunk := await stream.read(CHUNK):
            if self._lines > MOST_LINES:
                rest = b""
                continue
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > MOST_LINE_BYTES:
                lines, rest = [*lines, rest], b""
            for line in lines:
                await self._hear(line, severity)
        if rest:
            await self._hear(rest, severity)

    async def _hear(self, line: bytes, severity: str) -> None:
        self._lines += 1
        if self._lines == MOST_LINES + 1:
            await self._say(f"This run has written {MOST_LINES} lines; what it writes from here on is not kept.", ERROR)
        if self._lines <= MOST_LINES:
            await self._say(line.rstrip(b"\r").decode("utf-8", "replace"), severity)

    async def _say(self, text: str, severity: str) -> None:
        await self.output.put(Output(severity, text))


def _is_source(path: Path) -> bool:
    """The folder of a source distribution."""
    return (path / "PKG-INFO").exists() or (path / "setup.py").exists()
