"""One child process: started, watched, started again when it dies, ended by its process id."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Sequence

from app import clock
from app.settings import PREFIX, Settings

log = logging.getLogger(__name__)

GRACE_SECONDS = 5.0
HEALTHY_SECONDS = 10.0  # one that lived this long is started again at once
LONGEST_BACK_OFF = 5.0
CONFIGURATION = 2  # the exit code that no restart can mend


class Unusable(Exception):
    """A child refuses its configuration: it has said why; starting it again would not help."""


class Child:
    """The process NAME, with our settings in its environment and a pipe of ours as its standard input."""

    def __init__(self, name: str, settings: Settings, fds: Sequence[int] = ()) -> None:
        self.name = name
        self.settings = settings
        self.fds = tuple(fds)
        self.restarts = 0
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process and self._process.returncode is None else None

    async def keep(self) -> None:
        """Run the child for ever. Cancelled: the child still runs, until `stop`. Raises Unusable."""
        back_off = 0.0
        while True:
            began = clock.monotonic()
            code = await (await self._start()).wait()
            if code == CONFIGURATION:
                raise Unusable(f"{self.name} cannot run with these settings; its message is above")
            lived = clock.monotonic() - began
            back_off = 0.0 if lived > HEALTHY_SECONDS else min(max(0.1, back_off * 2), LONGEST_BACK_OFF)
            log.warning("%s ended (%s); starting it again in %.1f s", self.name, _meaning(code), back_off)
            await clock.sleep(back_off)
            self.restarts += 1

    async def stop(self) -> None:
        """End it: asked first, forced after GRACE_SECONDS."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                await process.wait()
        except TimeoutError:
            log.warning("%s did not end in %.0f s; killing it", self.name, GRACE_SECONDS)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _start(self) -> asyncio.subprocess.Process:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        self._process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-m", "app.commands.process", self.name],
            stdin=asyncio.subprocess.PIPE,
            env=environment | self.settings.environment(),
            pass_fds=self.fds,
            start_new_session=True,  # Ctrl-C reaches it through us, once
        )
        return self._process


def _meaning(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
