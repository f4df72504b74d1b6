"""The processes that `up` keeps, each also on its own (`api`, `reconciler` and so on); and `migrate`."""

import asyncio
import json
from typing import TYPE_CHECKING, Any

from app.commands import options as o

if TYPE_CHECKING:
    from app.settings import Settings


def api(
    host: o.Host = None,
    port: o.Port = None,
    config: o.Config = None,
    log_format: o.LogFormat = None,
    log_level: o.LogLevel = None,
) -> None:
    """Answer HTTP. Any number may run on one database."""
    _run("api", {"host": host, "port": port, "log_format": log_format, "log_level": log_level}, config)


def reconciler(config: o.Config = None, log_format: o.LogFormat = None, log_level: o.LogLevel = None) -> None:
    """Bring clusters towards what was asked of them. Any number may run."""
    _run("reconciler", {"log_format": log_format, "log_level": log_level}, config)


def scheduler(config: o.Config = None, log_format: o.LogFormat = None, log_level: o.LogLevel = None) -> None:
    """Place workloads on fleets. One leads; others stand by."""
    _run("scheduler", {"log_format": log_format, "log_level": log_level}, config)


def grpc(
    host: o.Host = None,
    grpc_port: o.GrpcPort = None,
    config: o.Config = None,
    log_format: o.LogFormat = None,
    log_level: o.LogLevel = None,
) -> None:
    """Answer Vertex AI's clients over gRPC: plain on one port, TLS on the next. Any number may run on one database."""
    flags = {"host": host, "grpc_port": grpc_port, "log_format": log_format, "log_level": log_level}
    _run("grpc", flags, config)


def executor(config: o.Config = None, log_format: o.LogFormat = None, log_level: o.LogLevel = None) -> None:
    """Run the commands of jobs on this machine, which execute_jobs must allow. Any number may run, on one machine."""
    _run("executor", {"log_format": log_format, "log_level": log_level}, config)


def _run(name: str, flags: dict[str, Any], config: o.Config) -> None:
    from app.commands.process import PROCESSES
    from app.settings import load

    PROCESSES[name](load(flags, config=config))


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
