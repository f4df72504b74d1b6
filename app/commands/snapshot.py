"""`windtunnel snapshot`: a world as it was, by name (CT-2)."""

from typing import Annotated

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call, segment
from app.commands.output import show

app = typer.Typer(help="Snapshots: a world as it was, to go back to.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The snapshot's.", autocompletion=c.snapshots)]
LONG = 300.0  # wall seconds: copying a large world takes its time


@app.command()
def save(name: Name, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Keep all that the world is at this instant."""
    answer = call("POST", "snapshots", world=world, endpoint=endpoint, body={"name": name}, timeout=LONG)
    show(answer, as_json=as_json)


@app.command()
def restore(name: Name, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Make the world what it was, its clock included. What happened since is gone."""
    path = f"snapshots/{segment(name)}/restore"
    show(call("POST", path, world=world, endpoint=endpoint, timeout=LONG), as_json=as_json)


@app.command("list")
def list_snapshots(world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """The world's snapshots."""
    show(call("GET", "snapshots", world=world, endpoint=endpoint), as_json=as_json)


@app.command()
def rm(name: Name, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Forget a snapshot."""
    answer = call("DELETE", f"snapshots/{segment(name)}", world=world, endpoint=endpoint, timeout=LONG)
    show(answer, as_json=as_json)
