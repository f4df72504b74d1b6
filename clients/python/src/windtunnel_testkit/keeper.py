"""Runs inside `windtunnel exec`: tells the address, and ends when nobody uses the service any more.

Whoever uses it holds a shared lock on a file, which the system takes back when the process ends, however it ends. So a
service never outlives its users. Run by its path, with the standard library alone.
"""

import fcntl
import os
import shutil
import signal
import sys
from pathlib import Path


def keep(folder: Path) -> None:
    """Hold the service up for the users of `folder`, which goes with it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        new = folder / "endpoint.new"
        new.write_text(os.environ["WINDTUNNEL_ENDPOINT"])
        new.rename(folder / "endpoint")
        with (folder / "users.lock").open("w") as users:
            fcntl.flock(users, fcntl.LOCK_EX)
        if (folder / "stay").exists():
            signal.pause()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
