"""`windtunnel open`: the console in the browser (CT-11)."""

import sys
from typing import Annotated

import typer

from app.commands import options as o
from app.commands.client import call, told
from app.commands.output import as_json_text
from app.core.scope import DEFAULT_WORLD
from app.host.exports import world_endpoint


def open_console(
    only_print: Annotated[bool, typer.Option("--print", help="Only print the address.")] = False,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Open the console in a browser, and print its address; without a terminal only print it."""
    _, base = told(endpoint)
    name = call("GET", "clock", world=world, endpoint=endpoint)["world"]
    address = console_address(base, name)
    print(as_json_text({"console": address}) if as_json else address)
    if not as_json and not only_print and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(address)


def console_address(base: str, world: str | None = None) -> str:
    """Where the console shows a world."""
    return f"{world_endpoint(base, '')}/console/{world or DEFAULT_WORLD}"
