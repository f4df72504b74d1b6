"""Objects of Cloud Storage as files of a program that really runs here, and its files as objects (VX-16).

No bucket can be mounted without privileges: what a job's words name below `/gcs` is fetched before the program begins,
and what it has written there is stored when it has ended.
"""

import asyncio
import os
import tarfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from app.core.errors import DomainError, Invalid
from app.core.objects import MOST_BYTES, Listing, Sought, StoredObject, Wanted
from app.store.db import Database
from app.usecases import storage

PAGE = 500
MOST_FETCHED = 4 * MOST_BYTES
MOST_FILES = 10_000
"""What one run fetches, or a package unpacks to, at most (chosen)."""


@dataclass(slots=True)
class Staged:
    """A tree in which each bucket is a folder, and what was known of its files when they were fetched."""

    db: Database
    world: str
    root: Path
    known: dict[Path, tuple[int, int]] = field(default_factory=dict)
    fetched: int = 0

    async def fetch(self, bucket: str, name: str) -> None:
        """The object of the name, or those in the folder of the name; without any, the folder that it would be in.
        Invalid: there is too much."""
        if not _is_below(self.root / bucket / name, self.root):
            return
        (self.root / bucket / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / bucket).mkdir(exist_ok=True)
        listing = Listing(prefix=name)
        while True:
            try:
                page = await self.db.run(storage.listed, self.world, bucket, listing, PAGE)
            except DomainError:  # no such bucket: it is made when something is stored in it
                return
            for entry in page:
                if not name or entry.name == name or entry.name.startswith(f"{name}/"):
                    await self._fetch(entry.found)
            if len(page) < PAGE:
                return
            listing = Listing(prefix=name, after=page[-1].name)

    async def _fetch(self, found: StoredObject) -> None:
        path = self.root / found.bucket / found.name
        if found.name.endswith("/") or not _is_below(path, self.root / found.bucket):
            return
        self.fetched += found.size
        if self.fetched > MOST_FETCHED or len(self.known) >= MOST_FILES:
            raise Invalid(
                f"A program that runs here is given {MOST_FILES} files and {MOST_FETCHED} bytes of Cloud Storage at "
                f"most; gs://{found.bucket} has more than that where it looks. Name a narrower path."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        await self.download(found.bucket, found.name, path)
        self.known[path] = _mark(path)

    async def download(self, bucket: str, name: str, path: Path) -> None:
        """Write the object's bytes into a file. NotFound."""
        with path.open("w+b") as file:
            await self.db.run(storage.read, self.world, Sought(bucket, name), None, file)

    async def store(self) -> list[str]:
        """Store the files that are new or have changed; why some were not."""
        refused: list[str] = []
        for path in await asyncio.to_thread(self._changed):
            bucket, _, name = path.relative_to(self.root).as_posix().partition("/")
            try:
                if path.stat().st_size > MOST_BYTES:
                    raise Invalid(f"It has more than {MOST_BYTES} bytes.")
                with path.open("rb") as file:
                    await self.db.run(storage.put, self.world, Wanted(bucket, name), file)
            except (DomainError, OSError) as error:
                refused.append(f"/gcs/{bucket}/{name} was not stored: {error}")
        return refused

    def _changed(self) -> list[Path]:
        found = (Path(folder) / name for folder, _, names in os.walk(self.root) for name in names)
        files = [path for path in found if path.is_file() and not path.is_symlink() and path.parent != self.root]
        return sorted(path for path in files if self.known.get(path) != _mark(path))[:MOST_FILES]


def unpack(archive: Path, into: Path) -> None:
    """Unpack a source distribution or a wheel. Invalid: it is neither, or too large, or not to be trusted."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as wheel:
                _check(archive, (member.file_size for member in wheel.infolist()))
                wheel.extractall(into)  # noqa: S202 - zipfile leaves nothing outside
        else:
            with tarfile.open(archive) as source:
                _check(archive, (member.size for member in source))
                source.extractall(into, filter="data")
    except (OSError, ValueError, tarfile.TarError, zipfile.BadZipFile, EOFError, RuntimeError) as error:
        raise Invalid(
            f"The package {archive.name} cannot be unpacked: {error}. Give a .tar.gz, a .zip or a wheel."
        ) from error


def _check(archive: Path, sizes: Iterable[int]) -> None:
    files = total = 0
    for size in sizes:
        files, total = files + 1, total + size
        if total > MOST_FETCHED or files > MOST_FILES:
            raise Invalid(f"The package {archive.name} has more than {MOST_FILES} files or {MOST_FETCHED} bytes.")


def _is_below(path: Path, root: Path) -> bool:
    """An object's name is no path: `../a` is a name, too, and no file of that tree."""
    normal = Path(os.path.normpath(path))
    return normal == path and root in normal.parents


def _mark(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size
