"""`up`: everything, in the foreground."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

from app.commands import options as o

if TYPE_CHECKING:
    from app.host.supervisor import Supervisor
    from app.settings import Settings

FLAGS = (
    *(
        "host",
        "port",
        "grpc_port",
        "data",
        "ephemeral",
        "profile",
        "rate",
        "frozen",
        "start",
        "seed",
        "seed_file",
        "chaos",
        "execute_jobs",
    ),
    *("auth", "log_format", "log_level"),
)


def up(
    host: o.Host = None,
    port: o.Port = None,
    grpc_port: o.GrpcPort = None,
    data: o.Data = None,
    ephemeral: o.Ephemeral = None,
    profile: o.Profile = None,
    rate: o.Rate = None,
    frozen: o.Frozen = None,
    start: o.Start = None,
    seed: o.Seed = None,
    seed_file: o.SeedFile = None,
    chaos: o.Chaos = None,
    execute_jobs: o.ExecuteJobs = None,
    auth: o.Auth = None,
    config: o.Config = None,
    log_format: o.LogFormat = None,
    log_level: o.LogLevel = None,
    as_json: o.HiddenJson = False,
) -> None:
    """Run everything: database, API, gRPC, reconciler and scheduler. Ctrl-C ends it."""
    from app.host.logs import configure
    from app.settings import config_file, load

    flags = {name: value for name, value in locals().items() if name in FLAGS}
    settings = load(flags, config=config)
    configure(settings, "up")
    from app.host.supervisor import until_told

    asyncio.run(until_told(_up(settings, config_file(config), as_json=as_json)))


async def _up(settings: "Settings", config: Path | None, *, as_json: bool) -> None:
    from app.host.supervisor import service

    async with service(settings) as supervisor:
        await _announce(supervisor, settings, config, as_json=as_json)
        await supervisor.run()


async def _announce(supervisor: "Supervisor", settings: "Settings", config: Path | None, *, as_json: bool) -> None:
    from app.host.banner import banner
    from app.host.probe import get

    told = supervisor.settings
    if as_json:
        facts = {"endpoint": told.base_url, "data": str(told.data) if told.data else None}
        facts["processes"] = {child.name: child.pid for child in supervisor.children}  # type: ignore[assignment]
        print(json.dumps(facts), flush=True)
        return
    answer = await get(told, "/_windtunnel/clock")
    clock = answer[1] if answer else None
    print(banner(told, clock, ephemeral=settings.ephemeral, config=config), flush=True)
