"""`windtunnel webhook`: who is told of what happens (CT-8)."""

from typing import Annotated

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call, segment
from app.commands.output import show
from app.commands.watching import watched

app = typer.Typer(help="Who is told of what happens, by a signed post of each event.", no_args_is_help=True)
Text = str | None
Id = Annotated[str, typer.Argument(metavar="ID", help="As `webhook list` has it: wh-1.", autocompletion=c.webhooks)]


@app.command()
def add(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="On this machine, or WINDTUNNEL_WEBHOOK_HOSTS has its host.")
    ],
    detail_type: Annotated[Text, typer.Option("--detail-type", help="Only events of this type.")] = None,
    cluster: Annotated[
        Text, typer.Option("--cluster", help="Only of this one: name, id or ARN.", autocompletion=c.clusters)
    ] = None,
    secret: Annotated[Text, typer.Option("--secret", help="To sign with; else one is drawn and shown once.")] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Post what happens from now on to URL."""
    body = {"url": url, "detail_type": detail_type, "cluster": cluster, "secret": secret}
    show(call("POST", "webhooks", world=world, endpoint=endpoint, body=body), as_json=as_json)


@app.command("list")
def list_webhooks(world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """The webhooks, with what was delivered, failed and given up."""
    show(call("GET", "webhooks", world=world, endpoint=endpoint), as_json=as_json)


@app.command()
def rm(webhook: Id, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Post nothing more to it."""
    show(call("DELETE", f"webhooks/{segment(webhook)}", world=world, endpoint=endpoint), as_json=as_json)


@app.command()
def test(webhook: Id, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Post it one envelope now; exit code 1 when it does not answer well."""
    show(call("POST", f"webhooks/{segment(webhook)}/test", world=world, endpoint=endpoint), as_json=as_json)


@app.command()
@watched
def deliveries(
    webhook: Id,
    limit: Annotated[int | None, typer.Option("--limit", min=1, max=100, help="At most so many (100).")] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """The last attempts, the newest first, and why they failed."""
    path = f"webhooks/{segment(webhook)}/deliveries"
    show(call("GET", path, world=world, endpoint=endpoint, params={"limit": limit}), as_json=as_json)
