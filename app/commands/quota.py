"""`windtunnel quota`: how much an account may use (CT-4)."""

from typing import Annotated, Any

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call
from app.commands.output import show

app = typer.Typer(help="How much an account may use; more is refused.", no_args_is_help=True)


@app.command("set")
def set_quota(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help='"ml.p5.48xlarge for cluster usage", custom_model_training_cpus',
            autocompletion=c.quotas,
        ),
    ],
    value: Annotated[str, typer.Argument(metavar="N", help="How many, or `unlimited`.")],
    account: o.Account = None,
    project: o.Project = None,
    region: o.Region = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Set a quota under AWS's or Google's name for it."""
    number = o.count(value)
    body = {"name": name, "account": account, "project": project, "region": region}
    answer = call("POST", "quotas", world=world, endpoint=endpoint, body=body, nullable={"value": number})
    show(answer if as_json else _said(answer), as_json=as_json)


@app.command("show")
def show_quotas(
    account: o.Account = None,
    project: o.Project = None,
    region: o.Region = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """The account's quotas in a region, and what a real account has (`recorded`)."""
    params = {"account": account, "project": project, "region": region}
    answer = call("GET", "quotas", world=world, endpoint=endpoint, params=params)
    if not as_json:
        answer = {name: [_said(row) for row in rows] for name, rows in answer.items()}
    show(answer, as_json=as_json)


def _said(row: dict[str, Any]) -> dict[str, Any]:
    """No value is no limit."""
    return {name: "unlimited" if value is None and name == "value" else value for name, value in row.items()}
