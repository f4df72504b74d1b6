"""`windtunnel alarm`: CloudWatch alarms that software updates watch (HP-30)."""

from typing import Annotated

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call
from app.commands.output import show

app = typer.Typer(help="CloudWatch alarms that software updates watch.", no_args_is_help=True)


@app.command("set")
def set_alarm(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="As AutoRollbackConfiguration names it.", autocompletion=c.alarms)
    ],
    state: Annotated[str, typer.Argument(metavar="STATE", help="ALARM or OK.")],
    account: o.Account = None,
    region: o.Region = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Set the state of an alarm; in ALARM it rolls back the software updates that watch it."""
    body = {"name": name, "state": state.upper(), "account": account, "region": region}
    show(call("POST", "alarms", world=world, endpoint=endpoint, body=body), as_json=as_json)


@app.command("list")
def show_alarms(
    account: o.Account = None,
    region: o.Region = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """The alarms that were given a state; any other is OK."""
    params = {"account": account, "region": region}
    show(call("GET", "alarms", world=world, endpoint=endpoint, params=params), as_json=as_json)
