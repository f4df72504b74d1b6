"""Processes of the service that start in a moment: forked off one that has imported everything already.

They run what `windtunnel reconciler` and its like run, under process ids of their own, so `kill -9` is real.
"""

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from dataclasses import replace
from multiprocessing import connection

import httpx

from app.settings import Settings

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["app.main", "app.host.serve", "app.host.logs", "app.workers.reconciler", "app.workers.scheduler", "uvicorn"]
)


def _end_with_the_test() -> None:
    """A test run that is killed leaves nothing behind."""
    parent = multiprocessing.process.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


def _run(kind: str, settings: Settings, listener: socket.socket | None) -> None:
    threading.Thread(target=_end_with_the_test, daemon=True).start()
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    from app.commands.process import PROCESSES

    given = settings if listener is None else replace(settings, listen_fd=listener.detach())
    PROCESSES[kind](given)
    sys.exit(0)


class Forked:
    """One process: `api` (on a listener that outlives it), `reconciler` or `scheduler`."""

    def __init__(self, kind: str, settings: Settings) -> None:
        self.kind, self.settings = kind, settings
        self._killed = False
        self.listener: socket.socket | None = None
        if kind == "api":
            self.listener = socket.socket()
            self.listener.bind(("127.0.0.1", 0))
            self.listener.listen(128)
            self.base = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self._child = self.start()

    def start(self) -> "multiprocessing.context.ForkServerProcess":
        self._child = _CONTEXT.Process(target=_run, args=(self.kind, self.settings, self.listener), daemon=True)
        self._child.start()
        self._killed = False
        return self._child

    @property
    def pid(self) -> int:
        assert self._child.pid is not None
        return self._child.pid

    def kill(self) -> None:
        """As `kill -9` does: at once, wherever it is."""
        os.kill(self.pid, signal.SIGKILL)
        self._child.join(10)
        assert self._child.exitcode == -signal.SIGKILL
        self._killed = True

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    @property
    def alive(self) -> bool:
        return self._child.is_alive()

    def stop(self) -> None:
        if not self._killed and self._child.is_alive():
            self.go_on()
            self._child.terminate()
            self._child.join(10)
            if self._child.is_alive():
                self._child.kill()
                self._child.join(10)
        if self.listener is not None:
            self.listener.close()

    def wait_alive(self, seconds: float = 30) -> None:
        """Until the API answers."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.base}/_windtunnel/health", timeout=5).is_success:
                    return
            except httpx.HTTPError:
                time.sleep(0.01)
        raise AssertionError("the API does not answer")
