"""`windtunnel price`: what an hour costs (CT-5)."""

from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call
from app.commands.output import dollars, show, table

app = typer.Typer(help="What an hour of a type costs.", no_args_is_help=True)


@app.command("set")
def set_price(
    instance_type: Annotated[
        str,
        typer.Argument(
            metavar="TYPE",
            help="ml.p5.48xlarge, a3-highgpu-8g/spot, NVIDIA_TESLA_T4",
            autocompletion=c.instance_types,
        ),
    ],
    usd_per_hour: Annotated[str, typer.Argument(metavar="USD_PER_HOUR", help="55.04")],
    region: o.Region = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Override a price from now on: what has been billed keeps the price it had."""
    body = {"instance_type": instance_type, "region": region, "micro_usd_per_hour": _micro(usd_per_hour)}
    show(call("POST", "prices", world=world, endpoint=endpoint, body=body), as_json=as_json)


@app.command("show")
def show_prices(
    instance_type: Annotated[
        str | None, typer.Argument(metavar="[TYPE]", help="Of this type alone.", autocompletion=c.instance_types)
    ] = None,
    region: o.Region = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Prices with their source and date; a placeholder says that it is one."""
    params = {"instance_type": instance_type, "region": region}
    answer = call("GET", "prices", world=world, endpoint=endpoint, params=params)
    rows = answer.get("prices") if isinstance(answer, dict) else None
    if as_json or rows is None:
        show(answer, as_json=as_json)
        return
    shown = ("instance_type", "region", "usd_per_hour", "evidence", "source", "date")
    table([{**row, "usd_per_hour": dollars(row["micro_usd_per_hour"])} for row in rows], shown)


def _micro(usd: str) -> int:
    try:
        micro = Decimal(usd.removeprefix("$")) * 1_000_000
    except InvalidOperation:
        raise typer.BadParameter(f"{usd!r} is not an amount in dollars such as 55.04") from None
    if not micro.is_finite() or micro != int(micro) or micro < 0:
        raise typer.BadParameter(f"{usd!r} must be at least 0 and have at most six decimals")
    return int(micro)
