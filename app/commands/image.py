"""`windtunnel image`: releases of the AMI that clusters run (HP-30)."""

from typing import Annotated

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call
from app.commands.output import show

app = typer.Typer(help="Releases of the AMI that clusters run.", no_args_is_help=True)
Version = Annotated[str, typer.Argument(metavar="VERSION", help="1.2.0", autocompletion=c.images)]


@app.command("release")
def release(
    version: Version,
    security: Annotated[bool, typer.Option("--security", help="Older ones then need a security update.")] = False,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Publish a release; clusters on older ones then have an update available."""
    body = {"version": version, "security": security}
    show(call("POST", "images", world=world, endpoint=endpoint, body=body), as_json=as_json)


@app.command("retire")
def retire(version: Version, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Let a release reach its end of life."""
    show(call("POST", "images/retire", world=world, endpoint=endpoint, body={"version": version}), as_json=as_json)


@app.command("list")
def show_images(world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """The releases of a world, oldest first."""
    show(call("GET", "images", world=world, endpoint=endpoint), as_json=as_json)
