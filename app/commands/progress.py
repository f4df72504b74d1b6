"""Progress of long work, on standard error, for a person alone: a program reads standard output."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import IO, BinaryIO, cast

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

LOOK_SECONDS = 0.5  # wall time
BAR = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())


def console() -> Console:
    return Console(stderr=True)


@contextmanager
def waiting(text: str, *, quiet: bool = False, on: Console | None = None) -> Iterator[None]:
    """A sign of life while something is waited for that tells nothing of how far it is."""
    on = on or console()
    if quiet or not on.is_terminal:
        yield
        return
    with on.status(text):
        yield


@contextmanager
def towards(
    goal: float, read: Callable[[], tuple[float, str]], *, quiet: bool = False, on: Console | None = None
) -> Iterator[None]:
    """A bar up to `goal`, while something else gets there: `read` says how far it is, and in words."""
    on = on or console()
    if quiet or not on.is_terminal:
        yield
        return
    done = Event()
    with Progress(*BAR, console=on, transient=True) as progress:
        at, text = read()
        task = progress.add_task(text, total=max(goal - at, 0.001))

        def watch() -> None:
            while not done.wait(LOOK_SECONDS):
                now, said = read()
                progress.update(task, completed=now - at, description=said)

        thread = Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


@contextmanager
def reading(file: IO[bytes], text: str, *, quiet: bool = False, on: Console | None = None) -> Iterator[IO[bytes]]:
    """The file, with a bar of how much of it was read."""
    on = on or console()
    if quiet or not on.is_terminal:
        yield file
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=on, transient=True) as progress:
        yield progress.wrap_file(cast(BinaryIO, file), os.fstat(file.fileno()).st_size, description=text)
