"""`exec`: a service of its own around one command."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands import options as o
from app.commands.up import FLAGS

if TYPE_CHECKING:
    from app.settings import Settings


def execute(
    command: Annotated[list[str], typer.Argument(metavar="-- CMD...", help="What to run, after --.")],
    port: o.Port = None,
    data: o.Data = None,
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
    log_level: o.LogLevel = None,
) -> None:
    """Start a service of its own on a free port, run CMD against it, end it; answer CMD's exit code."""
    from app.host.logs import configure
    from app.settings import config_file, load

    flags = {name: value for name, value in locals().items() if name in FLAGS}
    flags |= {"port": port or 0, "log_level": log_level or "warning"}
    if data is None and not load(flags, config=config).database_url:
        flags["ephemeral"] = True
    settings = load(flags, config=config)
    configure(settings, "exec")
    from app.host.supervisor import until_told

    code = asyncio.run(until_told(_execute(settings, command, config_file(config))))
    raise typer.Exit(128 + signal.SIGTERM if code is None else code)


async def _execute(settings: "Settings", command: list[str], config: Path | None) -> int:
    from app.host import guest
    from app.host.exports import OVERRIDING, variables
    from app.host.supervisor import service

    async with service(settings) as supervisor:
        told = supervisor.settings
        kept = {name: value for name, value in os.environ.items() if name not in OVERRIDING}
        environment = kept | variables(told, told.base_url, None, config)
        try:
            process = await guest.start(command, environment)
        except OSError as error:
            raise CannotRun(f"cannot run {command[0]}: {error.strerror}") from error
        # From here Ctrl-C is for the command alone; it may take its time.
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, guest.interrupt, process)
        watch = asyncio.create_task(supervisor.run())
        ended = asyncio.create_task(process.wait())
        try:
            await asyncio.wait([watch, ended], return_when=asyncio.FIRST_COMPLETED)
            if watch.done():
                watch.result()
            code = ended.result()
        finally:
            watch.cancel()
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.terminate()
                await ended
    return 128 - code if code < 0 else code


class CannotRun(Exception):
    """The command is not there or may not be run. Exit code 1."""
