"""`windtunnel doctor`: what could keep the service from running here, each with what to do."""

import asyncio
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


def doctor(config: o.Config = None, as_json: o.Json = False) -> None:
    """Look at this machine and these settings; exit code 1 if something would fail."""
    from app.commands.output import as_json_text

    findings = list(_findings(config))
    if as_json:
        print(as_json_text({"findings": findings}))
    else:
        for each in findings:
            print(f"{'ok  ' if each['ok'] else 'FAIL'}  {each['about']:<9}  {each['found']}")
    if not all(each["ok"] for each in findings):
        raise typer.Exit(1)


def _findings(config: o.Config) -> Iterator[Finding]:
    from app.settings import SettingsError, load

    yield _finding("python", lambda: f"{platform.python_version()} on {platform.platform()} ({sys.executable})")
    try:
        settings = load(config=config)
    except SettingsError as error:
        yield {"about": "settings", "ok": False, "found": str(error)}
        return
    yield {"about": "settings", "ok": True, "found": ", ".join(sorted(settings.environment())) or "all defaults"}
    yield _finding("database", lambda: _database(settings))
    if not settings.database_url:
        yield _finding("data", lambda: _data(settings))
    yield _finding("address", lambda: _address(settings))
    yield _finding("aws", _aws)


def _finding(about: str, look: Callable[[], str]) -> Finding:
    from app.store.binaries import DatabaseError

    try:
        return {"about": about, "ok": True, "found": look()}
    except (DatabaseError, OSError, _Bad) as error:
        return {"about": about, "ok": False, "found": str(error)}


class _Bad(Exception):
    """A finding that would keep the service from running."""


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
        raise _Bad(f"{existing} has {free / 1e9:.1f} GB free, and a database needs at least 1 GB")
    return f"{directory} ({'exists' if existing == directory else 'will be made'}, {free / 1e9:.0f} GB free)"


def _address(settings: "Settings") -> str:
    from app.host.listener import PortInUse, listen
    from app.host.probe import get

    answer = asyncio.run(get(settings, "/_windtunnel/ready"))
    if answer:
        state = "is ready" if answer[0] == 200 else f"runs and is not ready ({answer[0]})"
        return f"a service {state} at {settings.base_url}"
    try:
        listen(settings).close()
    except PortInUse as error:
        raise _Bad(str(error)) from error
    return f"{settings.base_url} is free"


def _aws() -> str:
    from app.host.exports import directory_to_add

    beside = directory_to_add()
    found = shutil.which("aws") or (shutil.which("aws", path=str(beside)) if beside else None)
    return found or "no aws command on PATH (it is not needed by the service): pip install awscli"
