"""`windtunnel status`: what the service says of itself (CT-7)."""

from app.commands import options as o
from app.commands.client import call
from app.commands.output import show
from app.commands.watching import watched


@watched
def status(world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Address, database and where its data is, clock, profile, auth mode, versions."""
    show(call("GET", "status", world=world, endpoint=endpoint), as_json=as_json)
