"""The command that `exec` runs: it is told what we are told, and ends when we do, by `kill -9` as far as can be."""

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence

PR_SET_PDEATHSIG = 1


async def start(command: Sequence[str], environment: Mapping[str, str]) -> asyncio.subprocess.Process:
    """Run the command in our terminal, its standard streams ours. Raises OSError.

    On Linux it is asked to end (SIGTERM) when we die without a word; elsewhere it then goes on alone.
    """
    return await asyncio.create_subprocess_exec(*command, env=environment, preexec_fn=_ending_with(os.getpid()))


def _ending_with(parent: int) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    try:
        prctl = ctypes.CDLL(None).prctl  # loaded here: between fork and exec nothing may be
    except (OSError, AttributeError):
        return None

    def ask() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # we died before it was asked
            os.kill(os.getpid(), signal.SIGTERM)

    return ask


def interrupt(process: asyncio.subprocess.Process) -> None:
    """Hand SIGINT on, unless the terminal has told the command itself: to be told twice means to hurry."""
    if not is_in_foreground():
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)


def is_in_foreground() -> bool:
    """Whether a Ctrl-C in the terminal reaches our group of processes, of which the command is one."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:  # standard input is no terminal
        return False
