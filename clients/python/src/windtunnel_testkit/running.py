"""A service of one's own, shared by the processes that know its folder, which ends when the last of them does."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from windtunnel_testkit.errors import NotStarted

try:
    import fcntl
except ImportError:  # Windows, where the service does not run either; a service elsewhere can be used
    fcntl = None  # type: ignore[assignment]

COMMAND = "WINDTUNNEL_COMMAND"
START_SECONDS = 120.0
END_SECONDS = 30.0
"""Wall time that a start and an end may take; only a failure takes so long."""
LOOK_SECONDS = 0.02
_OURS = (COMMAND, "PYTHONPATH", "WINDTUNNEL_ENDPOINT")
"""What is not for the service: it has modules of its own, and takes unknown settings for errors."""
_BEGIN = '"$@" >"$0" 2>&1 & echo $!'  # nobody's child: it is reaped, and nobody must wait for it


def command(given: str | None = None) -> list[str]:
    """How `windtunnel` is run here: as given, as WINDTUNNEL_COMMAND says, or from PATH. Raises NotStarted."""
    words = shlex.split(given or os.environ.get(COMMAND) or "windtunnel")
    found = shutil.which(words[0]) or shutil.which(words[0], path=str(Path(sys.executable).parent))
    if found is None:
        raise NotStarted(
            f"There is no command '{words[0]}'. Install the service (pip install 'windtunnel[embedded]', also into an "
            f"environment of its own), name it in {COMMAND}, or set WINDTUNNEL_ENDPOINT to one that runs."
        )
    return [str(Path(found).absolute()), *words[1:]]


class Shared:
    """The service of one folder: the first who asks starts it, all others find it."""

    def __init__(self, folder: Path | None = None) -> None:
        self.is_maker = folder is None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="windtunnel-run-"))
        self._held: IO[str] | None = None

    def hold(self) -> None:
        """Count this process among the users, until `release` or its end."""
        if self._held is None and fcntl is not None:
            self._held = (self.folder / "users.lock").open("w")
            fcntl.flock(self._held, fcntl.LOCK_SH)

    def endpoint(self, run: Sequence[str], options: Sequence[str] = ()) -> str:
        """The address of the service, which is started if nobody has. Raises NotStarted."""
        if fcntl is None:
            raise NotStarted("Windtunnel does not run on this system: set WINDTUNNEL_ENDPOINT to one that runs.")
        self.hold()
        with (self.folder / "start.lock").open("w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            return self.address or self._start(run, options)

    def _start(self, run: Sequence[str], options: Sequence[str]) -> str:
        keeper = [sys.executable, "-I", str(Path(__file__).with_name("keeper.py")), str(self.folder)]
        words = [*run, "exec", "--frozen", *options, "--", *keeper]
        environment = {name: value for name, value in os.environ.items() if name not in _OURS}
        with (self.folder / "service.lock").open("w") as lives:
            fcntl.flock(lives, fcntl.LOCK_EX)  # the service inherits it, so it is free when the service has ended
            shell = subprocess.Popen(
                ["/bin/sh", "-c", _BEGIN, str(self.folder / "output"), *words],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                pass_fds=[lives.fileno()],
                start_new_session=True,  # Ctrl-C is for the tests
                text=True,
            )
            pid, _ = shell.communicate()
        (self.folder / "process").write_text(f"{pid.strip()} {shell.pid}")
        with (self.folder / "service.lock").open() as lives:
            if why := self._wait_until_ready(lives):
                shown = shlex.join(words[: words.index("--")])
                raise NotStarted(f"`{shown}` {why}. It printed:\n{self.output() or '(nothing)'}")
        return (self.folder / "endpoint").read_text()

    def _wait_until_ready(self, lives: IO[str]) -> str | None:
        """Why it did not come to that, and then it has ended."""
        latest = time.monotonic() + START_SECONDS
        while self.address is None:
            if _is_free(lives):
                return "ended"
            if time.monotonic() > latest:
                process, group = map(int, (self.folder / "process").read_text().split())
                os.kill(process, signal.SIGTERM)
                _wait_for_end(lives, group)
                return f"was not ready within {START_SECONDS:.0f} s"
            time.sleep(LOOK_SECONDS)
        return None

    def output(self) -> str:
        """The end of what the service has printed."""
        try:
            return (self.folder / "output").read_text(errors="replace")[-4000:].strip()
        except OSError:
            return ""

    @property
    def address(self) -> str | None:
        """Where the service is, once it is ready."""
        try:
            return (self.folder / "endpoint").read_text()
        except OSError:
            return None

    @property
    def process(self) -> int | None:
        """The service's process id, if it was started here."""
        try:
            return int((self.folder / "process").read_text().split()[0])
        except OSError:
            return None

    def stay(self) -> None:
        """Let the service go on without users, until it is told to end."""
        (self.folder / "stay").touch()

    def release(self) -> None:
        """Be no user any more; whoever made the folder waits for the service's end, unless it is to stay."""
        if not self.is_maker or (self.folder / "stay").exists():
            self._let_go()
            return
        try:
            group = int((self.folder / "process").read_text().split()[1])
            with (self.folder / "service.lock").open() as lives:  # before the service clears up
                self._let_go()
                _wait_for_end(lives, group)
        except FileNotFoundError:
            self._let_go()  # no service was started, or it has ended by itself
        shutil.rmtree(self.folder, ignore_errors=True)

    def _let_go(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None


def _wait_for_end(lives: IO[str], group: int) -> None:
    latest = time.monotonic() + END_SECONDS
    while not _is_free(lives):
        if time.monotonic() > latest:
            os.killpg(group, signal.SIGKILL)
            return
        time.sleep(LOOK_SECONDS)


def _is_free(lives: IO[str]) -> bool:
    """The service that held this lock has ended."""
    try:
        fcntl.flock(lives, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
