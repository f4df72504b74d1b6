"""`windtunnel capacity`: how many machines there are (CT-4)."""

from typing import Annotated, Any

import typer

from app.commands import options as o
from app.commands.client import call
from app.commands.output import show
from app.commands.watching import watched

app = typer.Typer(help="How many machines of a type exist.", no_args_is_help=True)


@app.command("set")
def set_total(
    instance_type: o.InstanceType,
    total: Annotated[str, typer.Argument(metavar="N", help="How many in all, or `unlimited`.")],
    region: o.Region = None,
    zone: Annotated[str | None, typer.Option("--zone", help="Of one zone, as us-west-2a; else of the region.")] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="INSTANT", help="From then on, as 2026-01-31T12:00:00Z.")
    ] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Set the total; lowering it below what is used takes nothing away from anyone."""
    number = o.count(total)
    body = {"instance_type": instance_type, "region": region, "zone": zone, "at": at}
    answer = call("POST", "capacity", world=world, endpoint=endpoint, body=body, nullable={"total": number})
    show(answer if as_json else _said(answer), as_json=as_json)


@app.command("show")
@watched
def show_pools(world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Totals, what is used and free, and changes to come."""
    answer = call("GET", "capacity", world=world, endpoint=endpoint)
    if not as_json:
        answer = {name: [_said(row) for row in rows] for name, rows in answer.items()}
    show(answer, as_json=as_json)


def _said(row: dict[str, Any]) -> dict[str, Any]:
    """No total is no limit."""
    return {name: "unlimited" if value is None and name in ("total", "free") else value for name, value in row.items()}
