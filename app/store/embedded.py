"""The embedded database: a real PostgreSQL in a data directory, started, adopted and stopped by us.

Below the data directory: `postgres/` (the cluster), `run/` (its socket), `postgres.log`, `lock`.
It listens on a Unix socket alone, in a directory that only its owner enters, so it needs no password.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import IO
from urllib.parse import quote

from app import clock
from app.store.binaries import Account, Binaries, DatabaseError, find, refuse_closed, server_account

SOCKET = ".s.PGSQL.5432"
LONGEST_SOCKET_PATH = 103  # macOS: sun_path has 104 bytes with its NUL; Linux has 108
START_SECONDS = 30.0  # crash recovery of a large WAL included
STOP_SECONDS = 8.0  # the supervisor promises to be gone within ten
OPTIONS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "fsync": "on",
    "jit": "off",  # our statements are short; compiling them costs more than it saves
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "cluster_name": "windtunnel",
}


class EmbeddedPostgres:
    """One server on one data directory. `dsn` is known, and stays the same, before the server runs."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir.absolute()
        self.cluster = self.data_dir / "postgres"
        self.log = self.data_dir / "postgres.log"
        self.sockets = _socket_directory(self.data_dir)
        self.dsn = f"postgresql://windtunnel@/postgres?host={quote(str(self.sockets), safe='/')}"
        self.pid: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._lock: IO[str] | None = None

    async def start(self) -> str:
        """Make the cluster if there is none, start its server or adopt a running one; answer the DSN.

        Raises DatabaseError: the directory is in use or closed to us, or the server does not come up.
        """
        account = self._prepare()
        self._take_lock()
        try:
            if not await self._adopt():
                binaries = find(self.data_dir, account)
                if not self.cluster.exists():
                    await self._initialise(binaries, account)
                await self._launch(binaries, account)
        except BaseException:
            self._release_lock()
            raise
        return self.dsn

    async def wait(self) -> None:
        """Return when the server has ended, whoever ended it."""
        while self.pid is not None and self._is_running(self.pid):
            await clock.sleep(0.1)

    async def stop(self) -> None:
        """Fast shutdown: open transactions roll back, what was acknowledged stays; then the lock is free."""
        pid, self.pid = self.pid, None
        if pid is not None and self._is_running(pid):
            await self._end(pid, signal.SIGINT, STOP_SECONDS) or await self._end(pid, signal.SIGQUIT, 1.0)
        self._process = None
        if self.sockets.parent != self.data_dir:
            with contextlib.suppress(OSError):
                self.sockets.rmdir()
        self._release_lock()

    async def _end(self, pid: int, how: signal.Signals, seconds: float) -> bool:
        os.kill(pid, how)
        deadline = clock.monotonic() + seconds
        while self._is_running(pid):
            if clock.monotonic() > deadline:
                return False
            await clock.sleep(0.01)
        return True

    def _is_running(self, pid: int) -> bool:
        if self._process is not None and self._process.pid == pid:
            return self._process.poll() is None
        return is_server(pid, self.cluster)

    def _prepare(self) -> Account | None:
        """Make the directories; as root, give the server's user what is the server's."""
        mode = 0o711 if os.geteuid() == 0 else 0o700
        try:
            account = server_account(self.data_dir)
            if account:  # before anything is made that would be left behind
                refuse_closed(_existing(self.data_dir) / "postgres", account)
            self.data_dir.mkdir(mode=mode, parents=True, exist_ok=True)
            if account:
                refuse_closed(self.cluster, account)
            self.sockets.mkdir(mode=0o700, exist_ok=True)
            if account:
                os.chown(self.sockets, account.uid, account.gid)
        except OSError as error:
            raise DatabaseError(
                f"the data directory {self.data_dir} cannot be made ready: {error}; name another with --data"
            ) from error
        if self.sockets.is_symlink() or self.sockets.stat().st_uid != (account.uid if account else os.geteuid()):
            raise DatabaseError(f"{self.sockets} belongs to someone else: remove it, or set TMPDIR")
        return account

    def _take_lock(self) -> None:
        """One supervisor a directory. The kernel lets go when its holder dies, however it dies."""
        if self._lock is not None:  # the server is started again after it died
            return
        lock = (self.data_dir / "lock").open("a+", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            lock.close()
            raise DatabaseError(
                f"the data in {self.data_dir} is in use by process {holder}: stop that `windtunnel up`, "
                "or give this one its own --data DIR or --ephemeral"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        self._lock = lock

    def _release_lock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    async def _adopt(self) -> bool:
        """Take over a server that outlived its supervisor; clear away the note of one that is gone."""
        note = read_note(self.cluster)
        if note is None:
            return False
        pid = int(note[0])
        if not is_server(pid, self.cluster):
            # A reused process id would make the new server refuse to start.
            (self.cluster / "postmaster.pid").unlink(missing_ok=True)
            return False
        if note[-1].strip() == "ready" and note[4] == str(self.sockets):
            self.pid = pid
            return True
        if not await self._end(pid, signal.SIGINT, STOP_SECONDS):
            await self._end(pid, signal.SIGQUIT, 1.0)
        return False

    async def _initialise(self, binaries: Binaries, account: Account | None) -> None:
        """`initdb` beside the final place, then a rename: a half-made cluster is never taken for whole."""
        scratch = self.data_dir / "postgres.new"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(mode=0o700)
        if account:
            os.chown(scratch, account.uid, account.gid)
        command = [binaries.path("initdb"), "-D", str(scratch), "-U", "windtunnel"]
        command += ["--auth-local=trust", "--auth-host=reject", "--encoding=UTF8", "--locale=C"]
        result = await asyncio.to_thread(_run, command, account)
        if result.returncode != 0:
            raise DatabaseError(f"initdb failed in {self.data_dir}: {_last_lines(result.stderr.decode())}")
        scratch.rename(self.cluster)

    async def _launch(self, binaries: Binaries, account: Account | None) -> None:
        """Start the server and wait for its word `ready`.

        Backends of a killed server hold its shared memory until they notice: hence the second tries.
        """
        deadline = clock.monotonic() + START_SECONDS
        while True:
            size = self.log.stat().st_size if self.log.exists() else 0
            if await self._launched(binaries, account, deadline):
                return
            with self.log.open(encoding="utf-8", errors="replace") as log:
                log.seek(size)
                complaint = log.read()
            if "shared memory block" not in complaint or clock.monotonic() > deadline:
                raise DatabaseError(
                    f"PostgreSQL did not start in {self.data_dir}: {_last_lines(complaint)} (see {self.log})"
                )
            await clock.sleep(0.2)

    async def _launched(self, binaries: Binaries, account: Account | None, deadline: float) -> bool:
        options = {**OPTIONS, "unix_socket_directories": '"' + str(self.sockets).replace('"', '""') + '"'}
        arguments = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        process = _spawn([binaries.path("postgres"), "-D", str(self.cluster), *arguments], account, self.log)
        while process.poll() is None and clock.monotonic() < deadline:
            note = read_note(self.cluster)
            if note and note[0] == str(process.pid) and note[-1].strip() == "ready":
                self._process, self.pid = process, process.pid
                return True
            await clock.sleep(0.005)
        process.kill()
        process.wait()
        return False


def _run(command: list[str], account: Account | None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603
        command,
        capture_output=True,
        check=False,
        cwd="/",
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


def _spawn(command: list[str], account: Account | None, log: Path) -> subprocess.Popen[bytes]:
    """A server that outlives us if we are killed: its data is whole and the next supervisor adopts it."""
    with log.open("ab") as output:
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            start_new_session=True,  # Ctrl-C in the terminal is for the supervisor alone
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )


def _existing(path: Path) -> Path:
    """The directory itself, or the nearest above it that is there."""
    return next(each for each in (path, *path.parents) if each.is_dir())


def _socket_directory(data_dir: Path) -> Path:
    """`run/` below the data; if that path is too long, a short one of the same name every time.

    A comma would part hosts in a DSN.
    """
    inside = data_dir / "run"
    if len(os.fsencode(inside / SOCKET)) <= LONGEST_SOCKET_PATH and "," not in str(inside):
        return inside
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"windtunnel-{digest}"


def read_note(cluster: Path) -> list[str] | None:
    """`postmaster.pid`: pid, directory, start, port, socket directory, address, memory, state."""
    try:
        lines = (cluster / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return None
    return lines if len(lines) >= 8 else None


def is_server(pid: int, cluster: Path) -> bool:
    """The process runs and is the postmaster of this cluster: process ids are reused."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return False
        answer = subprocess.run(  # noqa: S603
            ["/bin/ps", "-p", str(pid), "-o", "command="], capture_output=True, text=True, check=False
        )
        command = answer.stdout
    return "postgres" in command and str(cluster) in command


def _last_lines(text: str) -> str:
    return " | ".join(line.strip() for line in text.strip().splitlines()[-4:]) or "it said nothing"
