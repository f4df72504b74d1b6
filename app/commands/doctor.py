"""`windtunnel doctor`: what could keep the service from running here, each with what to do."""

import asyncio
import dataclasses
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import typer

from app.commands import options as o

if TYPE_CHECKING:
    from app.settings import Settings

Finding = dict[str, Any]
LEAST_FREE_BYTES = 1_000_000_000
EARLIEST_YEAR = 2026  # before it nothing of the catalogue was there: a clock that says so is wrong


def doctor(config: o.Config = None, as_json: o.Json = False) -> None:
    """Look at this machine, these settings and this terminal; exit code 1 if the service would fail."""
    from app.commands.output import as_json_text

    findings = list(_findings(config))
    if as_json:
        print(as_json_text({"findings": findings}))
    else:
        for each in findings:
            word = "FAIL" if not each["ok"] else "note" if each["next"] else "ok  "
            print(f"{word}  {each['about']:<9}  {each['found']}")
            if each["next"]:
                print(f"{'':17}{each['next']}")
    if not all(each["ok"] for each in findings):
        raise typer.Exit(1)


def _findings(config: o.Config) -> Iterator[Finding]:
    from app.commands import surroundings
    from app.settings import SettingsError, load

    yield _finding("python", lambda: f"{platform.python_version()} on {platform.platform()} ({sys.executable})")
    yield _finding("version", _version)
    try:
        settings = load(config=config)
    except SettingsError as error:
        yield _told("settings", str(error), ok=False)
        return
    yield _told("settings", ", ".join(sorted(settings.environment())) or "all defaults")
    yield _finding("database", lambda: _database(settings))
    if not settings.database_url:
        yield _finding("data", lambda: _data(settings))
    yield _finding("clock", _clock)
    state = _service(settings)
    yield _finding("address", lambda: state or _is_free(settings))
    yield _grpc(settings) if state is None else _told("gRPC", "as the service has it: `windtunnel status`")
    environ = surroundings.environment()
    yield _told("clients", *surroundings.tools())
    yield _told("terminal", *surroundings.clients(settings, environ))
    yield _told("proxy", *surroundings.proxies(settings, environ))
    left = list(surroundings.left_behind(settings))
    yield from (_told("leftover", *each) for each in left or [("nothing of killed runs", None)])


def _told(about: str, found: str, next_: str | None = None, *, ok: bool = True) -> Finding:
    return {"about": about, "ok": ok, "found": found, "next": next_}


def _finding(about: str, look: Callable[[], str]) -> Finding:
    """A failure's text says what to do; it is cut in two where it does so behind a colon."""
    from app.host.listener import PortInUse
    from app.store.binaries import DatabaseError

    try:
        return _told(about, look())
    except (DatabaseError, OSError, PortInUse, _Bad) as error:
        found, _, remedy = str(error).partition(": ")
        return _told(about, found if remedy else str(error), remedy or None, ok=False)


class _Bad(Exception):
    """A finding that would keep the service from running."""


def _version() -> str:
    from importlib.metadata import version

    from app import __version__

    names = ("fastapi", "sqlalchemy", "asyncpg", "botocore")
    return f"windtunnel {__version__} with {', '.join(f'{name} {version(name)}' for name in names)}"


def _database(settings: "Settings") -> str:
    from app.store.binaries import find, server_account
    from app.store.dsn import displayed

    if settings.database_url:
        return f"{displayed(settings.database_url)}, {asyncio.run(_server_version(settings.database_url))}"
    account = server_account(settings.data_dir)
    binaries = find(settings.data_dir, None)
    runs_as = f", will run as {account.name}" if account else ""
    return f"embedded PostgreSQL {binaries.major} from {binaries.directory}{runs_as}"


async def _server_version(dsn: str) -> str:
    from app.store.migrate import connect

    connection = await connect(dsn)
    version = connection.get_server_version()
    await connection.close()
    return f"PostgreSQL {version.major}.{version.minor}"


def _data(settings: "Settings") -> str:
    directory = settings.data_dir
    existing = next(each for each in (directory, *directory.parents) if each.exists())
    if not os.access(existing, os.W_OK):
        raise _Bad(f"{existing} cannot be written: name another directory with --data")
    free = shutil.disk_usage(existing).free
    if free < LEAST_FREE_BYTES:
        raise _Bad(f"{existing} has {free / 1e9:.1f} GB free, and a database needs 1 GB: make room, or name another")
    return f"{directory} ({'exists' if existing == directory else 'will be made'}, {free / 1e9:.0f} GB free)"


def _clock() -> str:
    from app import clock

    now = clock.wall_now()
    if now.year < EARLIEST_YEAR:
        raise _Bad(f"this machine's clock says {now:%Y-%m-%d}: set it, or begin worlds elsewhere with --start")
    return f"{now:%Y-%m-%dT%H:%M:%SZ}, where a new world begins without --start"


def _service(settings: "Settings") -> str | None:
    """What is said of the service at the address; None if nobody answers as one."""
    from app.host.probe import get

    answer = asyncio.run(get(settings, "/_windtunnel/ready"))
    if answer is None or not isinstance(answer[1], dict) or "ready" not in answer[1]:
        return None
    state = "is ready" if answer[0] == 200 else f"runs and waits for: {'; '.join(answer[1].get('missing', ()))}"
    return f"a service {state} at {settings.base_url}"


def _is_free(settings: "Settings") -> str:
    from app.host.listener import listen

    listen(settings).close()
    return f"{settings.base_url} is free"


def _grpc(settings: "Settings") -> Finding:
    """Without its ports the service runs without gRPC, unless they were asked for."""
    from app.host.grpc_ports import INSTALL, is_installed
    from app.host.listener import PortInUse

    if settings.grpc_port == 0:
        return _told("gRPC", "off")
    if not is_installed():
        return _told("gRPC", "off, as its packages are not installed", f"to have it: {INSTALL}")
    if settings.grpc_port is None and settings.port == 0:
        return _told("gRPC", "takes two free ports")
    first = settings.grpc_port or settings.port + 1
    try:
        for port in (first, first + 1):
            _is_free(dataclasses.replace(settings, port=port))
    except PortInUse:
        found, asked = f"port {first} or {first + 1} is taken", settings.grpc_port is not None
        return _told("gRPC", found, "choose another with --grpc-port; 0: none", ok=not asked)
    return _told("gRPC", f"ports {first} and {first + 1} are free")
