"""`windtunnel demo`: a rollback, a preemption and a bill, played on a service of its own or on one that runs."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands import options as o

if TYPE_CHECKING:
    from app.commands.stage import Step
    from app.settings import Settings

NAME = "demo"


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave its own service up to look at, until Ctrl-C.")] = False,
    port: o.Port = None,
    world: Annotated[
        str | None, typer.Option("--world", metavar="NAME", help="A new world's name; else the first free: demo, ...")
    ] = None,
    endpoint: Annotated[
        str | None, typer.Option("--endpoint", metavar="URL", help="Play on this service, in a world of its own.")
    ] = None,
    as_json: o.Json = False,
) -> None:
    """See what this is: a rollback after three hours, a preemption and a bill, in a few seconds."""
    if endpoint is not None:
        if keep or port is not None:
            raise typer.BadParameter("--keep and --port are about a service of its own: leave them out with --endpoint")
        _on_running(endpoint, world, as_json=as_json)
        return
    _on_own(port or 0, world, keep=keep, as_json=as_json)


def _on_running(endpoint: str, world: str | None, *, as_json: bool) -> None:
    from app.commands.client import told

    settings, base = told(endpoint)
    _play(settings, base, world, kept="windtunnel world drop {world}", as_json=as_json)


def _on_own(port: int, world: str | None, *, keep: bool, as_json: bool) -> None:
    from app.host.logs import configure
    from app.host.supervisor import until_told
    from app.settings import load

    # Without the environment's settings: never the user's database, and the same figures for everybody.
    settings = load({"port": port, "grpc_port": 0, "ephemeral": True, "log_level": "warning"}, environ={})
    configure(settings, "demo")
    asyncio.run(until_told(_serve(settings, world, keep=keep, as_json=as_json)))


async def _serve(settings: "Settings", world: str | None, *, keep: bool, as_json: bool) -> None:
    from app.host.supervisor import service

    if not as_json:
        print("Starting a service of its own ...", file=sys.stderr, flush=True)
    async with service(settings) as supervisor:
        told = supervisor.settings
        kept = "Ctrl-C ends it and removes its data." if keep else None
        await asyncio.to_thread(_play, told, told.base_url, world, kept=kept, as_json=as_json)
        if keep:
            await supervisor.run()


def _play(settings: "Settings", base: str, world: str | None, *, kept: str | None, as_json: bool) -> None:
    from rich.console import Console

    from app.commands.acts import play
    from app.commands.output import as_json_text
    from app.commands.stage import Stage
    from app.commands.telling import Telling

    stage = Stage(settings, base, world or _free_name(settings, base))
    page = f"{stage.base}/console/{stage.world}"
    if as_json:
        steps = [_shown(step) for step in play(stage)]
        facts = {"endpoint": stage.endpoint, "world": stage.world, "console": page if kept else None}
        print(as_json_text(facts | {"steps": steps}), flush=True)
        return
    telling = Telling(Console(highlight=False))
    telling.begin(stage.base)
    for step in play(stage):
        telling.tell(step)
    telling.end(_ending(page, stage.world, kept))


def _ending(page: str, world: str, kept: str | None) -> list[str]:
    whole = "Every command in full:   windtunnel demo --json"
    if kept is None:
        return ["That was all of it.", whole, "To look around in it:    windtunnel demo --keep"]
    return [f"Look around:  {page}", f"When done:    {kept.format(world=world)}"]


def _free_name(settings: "Settings", base: str) -> str:
    from app.commands.stage import Stage

    taken = {one["name"] for one in Stage(settings, base, "").outside("GET", "worlds")["worlds"]}
    return next(name for name in (NAME, *(f"{NAME}-{number}" for number in range(2, 10_000))) if name not in taken)


def _shown(step: "Step") -> dict[str, Any]:
    return {
        "act": step.act,
        "says": step.says,
        "commands": list(step.commands),
        "rows": [dict(row) for row in step.rows],
        "means": step.means,
    }
