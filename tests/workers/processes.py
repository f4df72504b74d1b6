"""Real processes of the service over one database, ended by their ids."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from app.settings import Settings

GUARD = Path(__file__).parent / "guard"
"""On a child's path: its `sitecustomize` refuses and records every connection that leaves this machine (RL-26)."""


class Process:
    """One process: `api`, `reconciler` or `scheduler`."""

    def __init__(self, kind: str, settings: Settings, guard_log: Path | None = None) -> None:
        self.kind, self.settings, self.guard_log = kind, settings, guard_log
        self.starts = 0
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def child(self) -> subprocess.Popen[bytes]:
        assert self._child is not None
        return self._child

    def start(self, pass_fds: tuple[int, ...] = ()) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WINDTUNNEL_")}
        environment |= self.settings.environment()
        if self.guard_log is not None:
            environment |= {"PYTHONPATH": str(GUARD), "SOCKET_GUARD_LOG": str(self.guard_log)}
        self._child = subprocess.Popen(
            [sys.executable, "-m", "app.commands.process", self.kind],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=pass_fds,
        )
        self.starts += 1

    def signal(self, number: int) -> None:
        os.kill(self.child.pid, number)

    def kill(self) -> None:
        """As `kill -9` does: at once, wherever it is."""
        self.child.kill()
        self.child.wait(10)

    def stop(self) -> None:
        if self._child is None or self._child.poll() is not None:
            return
        self.signal(signal.SIGCONT)
        self._child.terminate()
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()


class Api:
    """The API as a process, on a listener of ours, so that a restart keeps its address."""

    def __init__(self, settings: Settings, guard_log: Path | None = None) -> None:
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(128)
        self.listener.set_inheritable(True)
        port = self.listener.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        given = {**settings_of(settings), "port": port, "listen_fd": self.listener.fileno()}
        self.process = Process("api", Settings(**given), guard_log)

    def start(self) -> None:
        self.process.start(pass_fds=(self.listener.fileno(),))

    def stop(self) -> None:
        self.process.stop()
        self.listener.close()

    def wait(self, path: str = "health", seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while True:
            try:
                answer = httpx.get(f"{self.base}/_windtunnel/{path}", timeout=5)
                if answer.is_success:
                    return
            except httpx.HTTPError:
                pass
            assert time.monotonic() < deadline, f"{path} was not answered"
            time.sleep(0.05)


def settings_of(settings: Settings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in Settings.__dataclass_fields__}


@contextmanager
def processes(settings: Settings, *kinds: str) -> Iterator[list[Process]]:
    """Started, and ended whatever happens."""
    started = [Process(kind, settings) for kind in kinds]
    try:
        for one in started:
            one.start()
        yield started
    finally:
        for one in started:
            one.stop()
