"""`windtunnel clock`: read and move a world's time (CT-1)."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from typing import Annotated, Any

import typer

from app.commands import options as o
from app.commands.client import DatabaseAway, Refused, Unreachable, call
from app.commands.durations import seconds
from app.commands.output import show
from app.commands.watching import watched

app = typer.Typer(help="Read and move the world's clock.", no_args_is_help=False, invoke_without_command=True)


@app.callback()
def default(
    context: typer.Context,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    if context.invoked_subcommand is None:
        show(call("GET", "clock", world=world, endpoint=endpoint), as_json=as_json)
    elif world or endpoint or as_json:
        raise typer.BadParameter(f"options come after the verb: clock {context.invoked_subcommand} --...")


@app.command("show")
@watched
def show_clock(world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """The world's time, and whether it runs."""
    show(call("GET", "clock", world=world, endpoint=endpoint), as_json=as_json)


@app.command()
def freeze(world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Stop the clock: it then moves only by `advance`."""
    show(call("POST", "clock", world=world, endpoint=endpoint, body={"frozen": True}), as_json=as_json)


@app.command()
def resume(world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Let the clock run again, at its rate."""
    show(call("POST", "clock", world=world, endpoint=endpoint, body={"frozen": False}), as_json=as_json)


@app.command()
def rate(
    n: Annotated[
        float, typer.Argument(metavar="N", callback=o.positive, help="Virtual seconds in a second of the wall.")
    ],
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Set how fast the clock runs."""
    show(call("POST", "clock", world=world, endpoint=endpoint, body={"rate": n}), as_json=as_json)


@app.command()
def advance(
    duration: Annotated[str | None, typer.Argument(metavar="[DURATION]", help="90s, 3h, 2d, 1h30m")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="INSTANT", help="Up to this instant.")] = None,
    to_next: Annotated[bool, typer.Option("--next", help="Up to the next thing that is due.")] = False,
    max_events: Annotated[int | None, typer.Option("--max-events", min=1, help="Stop early after so many.")] = None,
    max_wall_seconds: Annotated[
        float | None, typer.Option("--max-wall-seconds", callback=o.positive, help="Stop early after so long.")
    ] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Move the clock forward; return when everything due on the way has happened."""
    if sum((duration is not None, to is not None, to_next)) != 1:
        raise typer.BadParameter("say how far by one of DURATION, --to INSTANT and --next")
    body: dict[str, Any] = {
        "by": seconds(duration) if duration is not None else None,
        "to": to,
        "next": to_next or None,
        "max_events": max_events,
        "max_wall_seconds": max_wall_seconds,
    }
    with _progress(body, world, endpoint, quiet=as_json):
        answer = call("POST", "clock/advance", world=world, endpoint=endpoint, body=body, timeout=None)
    show(answer, as_json=as_json)


@contextmanager
def _progress(body: dict[str, Any], world: str | None, endpoint: str | None, *, quiet: bool) -> Iterator[None]:
    """A bar of virtual time while the service advances; to what is due next nobody knows the way."""
    from app.commands.progress import console, towards, waiting

    last = (0.0, "advancing")

    def read() -> tuple[float, str]:
        """Where the world is, in seconds; an answer that does not come now comes later."""
        nonlocal last
        with suppress(Refused, Unreachable, DatabaseAway):
            now = str(call("GET", "clock", world=world, endpoint=endpoint)["now"])
            last = datetime.fromisoformat(now).timestamp(), f"at {now[:19]}Z"
        return last

    if quiet or body["next"] or not console().is_terminal:
        with waiting("advancing to what is due next", quiet=quiet):
            yield
        return
    goal = _instant(body["to"]) if body["to"] else read()[0] + body["by"]
    with nullcontext() if goal is None else towards(goal, read):
        yield


def _instant(text: str) -> float | None:
    """None for what the service will refuse."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
