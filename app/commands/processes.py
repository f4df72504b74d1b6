"""The processes that `up` keeps, each also on its own: `api`, `reconciler`, `scheduler`; and `migrate`."""

import asyncio
import json
from typing import TYPE_CHECKING, Any

from app.commands import options as o

if TYPE_CHECKING:
    from app.settings import Settings

DATABASE_SECONDS = 60.0  # how long a process waits for a database that someone else starts and migrates


def api(
    host: o.Host = None,
    port: o.Port = None,
    config: o.Config = None,
    log_format: o.LogFormat = None,
    log_level: o.LogLevel = None,
) -> None:
    """Answer HTTP. Any number may run on one database."""
    from app.host.listener import listen
    from app.host.serve import prepare, serve
    from app.settings import load

    flags = {"host": host, "port": port, "log_format": log_format, "log_level": log_level}
    settings = load(flags, config=config)
    listener = listen(settings)
    prepare(settings, "api")
    from app.main import create_app

    application = create_app(settings)
    asyncio.run(_until_migrated(settings))
    serve(application, settings, listener)


def reconciler(config: o.Config = None, log_format: o.LogFormat = None, log_level: o.LogLevel = None) -> None:
    """Bring clusters towards what was asked of them. Any number may run."""
    from app.workers.reconciler import run

    _work("reconciler", run, {"log_format": log_format, "log_level": log_level}, config)


def scheduler(config: o.Config = None, log_format: o.LogFormat = None, log_level: o.LogLevel = None) -> None:
    """Place workloads on fleets. One leads; others stand by."""
    from app.workers.scheduler import run

    _work("scheduler", run, {"log_format": log_format, "log_level": log_level}, config)


def _work(name: str, run: Any, flags: dict[str, Any], config: o.Config) -> None:
    from app.host.serve import prepare, run_worker
    from app.settings import load

    settings = load(flags, config=config)
    prepare(settings, name)

    async def migrated_then_run(told: "Settings") -> None:
        await _until_migrated(told)
        await run(told)

    run_worker(migrated_then_run, settings)


async def _until_migrated(settings: "Settings") -> None:
    from app.settings import SettingsError
    from app.store.migrate import wait_for_schema

    if settings.database_url is None:
        raise SettingsError(
            "this process needs a database that runs already: set WINDTUNNEL_DATABASE_URL, "
            "or let `windtunnel up` start everything"
        )
    await wait_for_schema(settings.database_url, seconds=DATABASE_SECONDS)


def migrate(config: o.Config = None, data: o.Data = None, as_json: o.Json = False) -> None:
    """Bring the database's schema to this version."""
    from app.host.logs import configure
    from app.settings import load

    settings = load({"data": data}, config=config)
    configure(settings, "migrate")
    revision = asyncio.run(_migrate(settings))
    print(json.dumps({"revision": revision}) if as_json else f"The schema is at revision {revision}.")


async def _migrate(settings: "Settings") -> str:
    from app.store.embedded import EmbeddedPostgres
    from app.store.migrate import ensure_schema

    if settings.database_url:
        return await ensure_schema(settings.database_url)
    postgres = EmbeddedPostgres(settings.data_dir)
    try:
        return await ensure_schema(await postgres.start())
    finally:
        await postgres.stop()
