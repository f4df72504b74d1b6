"""The embedded database, with a real server in a temporary directory."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from app.store import binaries
from app.store.binaries import DatabaseError
from app.store.embedded import EmbeddedPostgres

START_AND_DIE = """
import asyncio, os, sys
from pathlib import Path
from app.store.embedded import EmbeddedPostgres
postgres = EmbeddedPostgres(Path(sys.argv[1]))
asyncio.run(postgres.start())
print(postgres.pid, flush=True)
os._exit(9)
"""


@pytest.fixture
def directory() -> Iterator[Path]:
    """Not pytest's tmp_path: as root the server's user may not enter that."""
    made = Path(tempfile.mkdtemp(prefix="wt-"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made, ignore_errors=True)


async def ask(dsn: str, query: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def test_data_outlives_the_server(directory: Path) -> None:
    """Started, written, stopped, started: what was written is there, and fsync is on."""
    first = EmbeddedPostgres(directory)
    dsn = await first.start()
    await ask(dsn, "CREATE TABLE kept AS SELECT 42 AS answer")
    assert await ask(dsn, "SHOW fsync") == "on"
    assert await ask(dsn, "SHOW listen_addresses") == ""
    await first.stop()

    second = EmbeddedPostgres(directory)
    assert await second.start() == dsn
    assert await ask(dsn, "SELECT answer FROM kept") == 42
    await second.stop()
    with pytest.raises(OSError, match="No such file"):
        await asyncpg.connect(dsn)


async def test_the_data_is_closed_to_others(directory: Path) -> None:
    """RL-23 for the database: no TCP, and a socket that only its owner may enter."""
    postgres = EmbeddedPostgres(directory)
    await postgres.start()
    try:
        assert postgres.sockets.stat().st_mode & 0o077 == 0
        assert postgres.cluster.stat().st_mode & 0o077 == 0
        if os.geteuid() == 0:
            assert postgres.cluster.stat().st_uid != 0
    finally:
        await postgres.stop()


async def test_two_on_one_directory_do_not_fight(directory: Path) -> None:
    """CT-11: the second is told who holds the data, and the first goes on."""
    first, second = EmbeddedPostgres(directory), EmbeddedPostgres(directory)
    dsn = await first.start()
    try:
        with pytest.raises(DatabaseError, match=f"in use by process {os.getpid()}"):
            await second.start()
        assert await ask(dsn, "SELECT 1") == 1
    finally:
        await first.stop()


async def test_a_server_that_outlived_its_supervisor_is_adopted(directory: Path) -> None:
    """Not restarted: the same process answers, and is stopped in the end."""
    died = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", START_AND_DIE, str(directory)], capture_output=True, text=True
    )
    assert died.returncode == 9, died.stderr
    postgres = EmbeddedPostgres(directory)
    dsn = await postgres.start()
    assert postgres.pid == int(died.stdout)
    assert await ask(dsn, "SELECT 1") == 1
    await postgres.stop()
    with pytest.raises(OSError, match="No such file"):
        await asyncpg.connect(dsn)


async def test_a_killed_server_starts_again(directory: Path) -> None:
    """`kill -9` of the server: its note is stale, its data whole."""
    postgres = EmbeddedPostgres(directory)
    dsn = await postgres.start()
    await ask(dsn, "CREATE TABLE kept AS SELECT 42 AS answer")
    assert postgres.pid is not None
    os.kill(postgres.pid, signal.SIGKILL)
    await postgres.wait()
    await postgres.start()
    assert await ask(dsn, "SELECT answer FROM kept") == 42
    await postgres.stop()


async def test_a_reused_process_id_is_not_taken_for_the_server(directory: Path) -> None:
    """A stale note that names a living stranger neither blocks the start nor ends the stranger."""
    postgres = EmbeddedPostgres(directory)
    await postgres.start()
    await postgres.stop()
    note = [str(os.getpid()), str(postgres.cluster), "0", "5432", str(postgres.sockets), "", "0 0", "ready   "]
    (postgres.cluster / "postmaster.pid").write_text("\n".join(note) + "\n")
    await postgres.start()
    assert postgres.pid != os.getpid()
    await postgres.stop()


@pytest.mark.parametrize("name", ["a" * 100, "comma,and space", "percent%20"])
async def test_any_directory_name_works(directory: Path, name: str) -> None:
    """A socket's path is at most 107 bytes and a comma parts hosts: then it is elsewhere, and goes again."""
    postgres = EmbeddedPostgres(directory / name)
    dsn = await postgres.start()
    try:
        assert await ask(dsn, "SELECT 1") == 1
    finally:
        await postgres.stop()
    assert postgres.sockets.parent == postgres.data_dir or not postgres.sockets.exists()


async def test_a_half_made_cluster_is_made_anew(directory: Path) -> None:
    """`kill -9` during initdb leaves a scratch directory, never a cluster."""
    (directory / "postgres.new").mkdir()
    (directory / "postgres.new" / "PG_VERSION").write_text("18\n")
    postgres = EmbeddedPostgres(directory)
    assert await ask(await postgres.start(), "SELECT 1") == 1
    await postgres.stop()


async def test_data_of_another_major_version_is_left_alone(directory: Path) -> None:
    (directory / "postgres").mkdir()
    (directory / "postgres" / "PG_VERSION").write_text("9\n")
    with pytest.raises(DatabaseError, match="written by PostgreSQL 9"):
        await EmbeddedPostgres(directory).start()


async def test_without_a_server_the_error_says_what_to_install(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binaries, "WHEELS", ())
    monkeypatch.setattr(binaries, "SYSTEM_DIRECTORIES", ())
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(DatabaseError, match=r"pip install 'windtunnel\[embedded\]'"):
        await EmbeddedPostgres(directory).start()


async def test_an_unwritable_directory_is_named(directory: Path) -> None:
    blocked = directory / "file"
    blocked.write_text("")
    with pytest.raises(DatabaseError, match=r"cannot be made ready.*--data"):
        await EmbeddedPostgres(blocked / "data").start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a second user to run the server as")
async def test_root_is_told_which_directory_is_closed(directory: Path) -> None:
    closed = directory / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(DatabaseError, match=f"may not enter {closed}: keep the data elsewhere"):
        await EmbeddedPostgres(closed / "data").start()
    assert closed.stat().st_mode & 0o777 == 0o700
    assert list(closed.iterdir()) == []  # a refusal leaves nothing behind


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a second user to run the server as")
async def test_binaries_that_are_out_of_reach_are_copied(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A virtual environment below /root: nobody's permissions change, the server is copied to the data."""
    source = binaries.find(directory, None).directory
    package = source.parents[1]
    closed = directory / "closed"
    closed.mkdir(mode=0o700)
    shutil.copytree(source.parent, closed / package.name / source.parent.name, symlinks=True)
    for libraries in package.parent.glob(f"{package.name}.libs"):
        shutil.copytree(libraries, closed / libraries.name)
    out_of_reach = closed / package.name / source.parent.name / "bin"
    monkeypatch.setattr(binaries, "_candidates", lambda: [out_of_reach])
    postgres = EmbeddedPostgres(directory / "data")
    assert await ask(await postgres.start(), "SELECT 1") == 1
    await postgres.stop()
    assert (directory / "data" / "binaries").is_dir()
    assert closed.stat().st_mode & 0o777 == 0o700
