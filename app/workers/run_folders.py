"""Where the programs of one executor have their files: gone with it, or, after `kill -9`, when the next one begins."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "windtunnel-executor-"
LOCK = "lock"


class RunFolders:
    """A folder that is ours as long as we live: we hold a lock in it, which no program of ours inherits."""

    def __init__(self) -> None:
        _remove_those_of_the_dead(Path(tempfile.gettempdir()))
        self._root = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = os.open(self._root / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def make(self, name: str) -> Path:
        """A new folder, whose name begins so."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self._root))

    def close(self) -> None:
        """Remove all of them."""
        shutil.rmtree(self._root, ignore_errors=True)
        os.close(self._lock)


def _remove_those_of_the_dead(parent: Path) -> None:
    """Of others' folders, those that are locked have an owner; those without a lock yet are just being made."""
    for root in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = os.open(root / LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(root, ignore_errors=True)
            finally:
                os.close(lock)
