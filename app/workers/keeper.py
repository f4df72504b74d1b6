"""Runs one program, and takes it along: `python -I -S keeper.py FD WORD…`, in a process group of its own.

Whoever started it holds the other end of its standard input. When that closes, even by `kill -9`, the whole group is
killed. When the program has ended, how is written to FD, as a number, negative for a signal, or as `!` and the reason
why it could not begin; and what it has left behind in the group is killed.
"""

import os
import signal
import subprocess
import sys
import threading


def main() -> None:
    """Never returns: the keeper goes with its group."""
    status, words = int(sys.argv[1]), sys.argv[2:]
    signal.signal(signal.SIGTERM, lambda *_: None)  # it is for the program, which is in the group as well
    threading.Thread(target=watch, daemon=True).start()
    try:
        told = str(subprocess.Popen(words, stdin=subprocess.DEVNULL).wait())  # noqa: S603 - what it is for
    except (OSError, ValueError) as error:
        told = f"!{getattr(error, 'strerror', None) or error}"
    os.write(status, told.encode())
    os.killpg(0, signal.SIGKILL)


def watch() -> None:
    """Until standard input ends."""
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)


main()
