"""`windtunnel fleet` and `windtunnel queue`: the GPUs of clusters, and the jobs that wait (VX-24)."""

from typing import Annotated

import typer

from app.commands import options as o
from app.commands.client import call
from app.commands.output import show

app = typer.Typer(help="The GPUs of clusters as jobs see them.", no_args_is_help=True)
Cluster = Annotated[str | None, typer.Option("--cluster", metavar="NAME|ARN")]


@app.command("list")
def show_fleets(
    cluster: Cluster = None, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False
) -> None:
    """The clusters' GPUs by model: how many there are, take work now, and are taken."""
    show(call("GET", "fleets", world=world, endpoint=endpoint, params={"cluster": cluster}), as_json=as_json)


def queue(cluster: Cluster = None, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """The jobs that wait, the first to be served first, and why."""
    show(call("GET", "queue", world=world, endpoint=endpoint, params={"cluster": cluster}), as_json=as_json)
