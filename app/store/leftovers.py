"""What a killed run has left behind: a server that nobody watches, and data that was to be removed."""

import fcntl
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from app.store.embedded import is_server, read_note

EPHEMERAL = "windtunnel-*"
"""The directories of `--ephemeral`, below the one for temporary files."""


class Leftover(NamedTuple):
    """A data directory that no supervisor holds, and the process id of its server if that still runs."""

    directory: Path
    pid: int | None


def of(data_dir: Path) -> Leftover | None:
    """None: there is no data, or a supervisor is at work on it."""
    lock = data_dir / "lock"
    try:
        with lock.open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return None
    note = read_note(data_dir / "postgres")
    pid = int(note[0]) if note is not None else None
    return Leftover(data_dir, pid if pid is not None and is_server(pid, data_dir / "postgres") else None)


def ephemeral(folder: Path | None = None) -> Iterator[Leftover]:
    """Those of killed runs with --ephemeral, whose data nobody wants."""
    for directory in sorted((folder or Path(tempfile.gettempdir())).glob(EPHEMERAL)):
        if (found := of(directory)) is not None:
            yield found
