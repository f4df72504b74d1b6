"""`windtunnel budget`: who may claim which part of the GPUs, and how much in all (FS-1, FS-3)."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call, segment
from app.commands.files import read_object
from app.commands.output import dollars, show, table
from app.commands.watching import watched

app = typer.Typer(help="Who may claim which part of the GPUs, and how much in all.", no_args_is_help=True)
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="As team-a: a value that a label may have.", autocompletion=c.budgets)
]
Weight = Annotated[int, typer.Argument(metavar="WEIGHT", min=0, help="Its part, over the sum of its siblings'.")]


@app.command("list")
@watched
def list_budgets(
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="NAME|ARN|POOL",
            help="And the shares of this cluster's GPUs, or of a managed pool's.",
            autocompletion=c.fleets,
        ),
    ] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """The tree: each budget's fraction of its parent's claim, its own claim, and what it has of a cluster or pool."""
    answer = call("GET", "budgets", world=world, endpoint=endpoint, params={"cluster": cluster})
    rows = answer.get("budgets") if isinstance(answer, dict) else None
    if as_json or rows is None:
        show(answer, as_json=as_json)
        return
    depths = {None: -1}
    for row in rows:
        depths[row["name"]] = depths[row["parent"]] + 1
    table([_line(row, depths[row["name"]]) for row in rows], empty="no budgets")
    for fleet in dict.fromkeys(_fleet(share) for share in answer["shares"]):
        shares = [share for share in answer["shares"] if _fleet(share) == fleet]
        table([_share(share, depths.get(share["name"], 0)) for share in shares], title=fleet)


def _fleet(share: dict[str, Any]) -> str:
    return str(share["cluster_arn"] or share["pool"])


def _share(share: dict[str, Any], depth: int) -> dict[str, Any]:
    hours = {f"{name}_hours": _hours(share[name]) for name in ("used", "committed", "owed")}
    gpus = {name: share[f"{name}_gpus"] for name in ("claimed", "funded", "borrowed", "unfunded", "waiting")}
    return {"budget": "  " * depth + share["name"], **hours, "ratio": share["ratio"], **gpus}


def _line(row: dict[str, Any], depth: int) -> dict[str, Any]:
    limits = "; ".join(_limit(one) for one in row["limits"])
    claim = Fraction(row["claim"])
    hundredths = (20_000 * claim.numerator + claim.denominator) // (2 * claim.denominator)
    return {
        "budget": "  " * depth + row["name"],
        "weight": row["weight"],
        "fraction": row["fraction"],
        "claim": row["claim"],
        "percent": f"{hundredths // 100}.{hundredths % 100:02d}",
        "limits": limits or None,
    }


def _limit(one: dict[str, Any]) -> str:
    each = "a month" if one["period"] == "month" else "in all"
    return f"{one['amount']} {one['unit']} {each}"


@app.command("show")
@watched
def show_budget(name: Name, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """What it was charged, what its limits leave on all clusters, and the last 30 days."""
    answer = call("GET", f"budgets/{segment(name)}", world=world, endpoint=endpoint)
    if as_json or not isinstance(answer, dict) or "days" not in answer:
        show(answer, as_json=as_json)
        return
    table([_line(answer["budget"], 0)])
    if answer["limits"]:
        table([_standing(one) for one in answer["limits"]], title="limits")
    days = [row for row in answer["days"] if row["gpu_milliseconds"]]
    table([{"day": row["day"], "gpu_hours": _hours(row["gpu_milliseconds"])} for row in days], empty="nothing charged")


def _standing(one: dict[str, Any]) -> dict[str, Any]:
    written = _hours if one["limit"]["unit"] == "gpu-hours" else dollars
    figures = {name: written(one[name]) for name in ("charged", "reserved", "left")}
    return {"limit": _limit(one["limit"]), **figures, "met": one["met_at"]}


def _hours(gpu_ms: int) -> str:
    """GPU-hours with two decimals, cut off."""
    sign, hundredths = ("-" if gpu_ms < 0 else ""), abs(gpu_ms) // 36_000
    return f"{sign}{hundredths // 100}.{hundredths % 100:02d}"


@app.command()
def create(
    name: Name,
    weight: Annotated[int, typer.Option("--weight", min=0, help="Its part, over the sum of its siblings'.")] = 1,
    parent: Annotated[
        str | None, typer.Option("--parent", metavar="NAME", help="Else it is at the top.", autocompletion=c.budgets)
    ] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Split a budget off its parent's claim."""
    body = {"name": name, "weight": weight, "parent": parent}
    _tell(call("POST", "budgets", world=world, endpoint=endpoint, body=body), as_json=as_json)


@app.command()
def reweight(
    name: Name, weight: Weight, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False
) -> None:
    """From now on its claim follows the new weight."""
    path, body = f"budgets/{segment(name)}", {"weight": weight}
    _tell(call("PATCH", path, world=world, endpoint=endpoint, body=body), as_json=as_json)


@app.command()
def move(
    name: Name,
    parent: Annotated[
        str | None, typer.Argument(metavar="[PARENT]", help="Left out: to the top.", autocompletion=c.budgets)
    ] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """From now on the budget, with what is below it, counts for another parent."""
    path, moved = f"budgets/{segment(name)}", {"parent": parent}
    _tell(call("PATCH", path, world=world, endpoint=endpoint, body={}, nullable=moved), as_json=as_json)


@app.command()
def shift(
    name: Name,
    to: Annotated[
        str, typer.Argument(metavar="SIBLING", help="A budget of the same parent.", autocompletion=c.budgets)
    ],
    weight: Annotated[int, typer.Argument(metavar="WEIGHT", min=1, help="How much of its weight goes.")],
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Move weight to a sibling; the claims of all others stay."""
    path, body = f"budgets/{segment(name)}/shift", {"to": to, "weight": weight}
    _tell(call("POST", path, world=world, endpoint=endpoint, body=body), as_json=as_json)


@app.command()
def limit(
    name: Name,
    limits: Annotated[
        list[str] | None,
        typer.Argument(metavar="[LIMIT]...", help="AMOUNT:UNIT:PERIOD, as 10000:gpu-hours:month; none: no limit."),
    ] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Have these limits and no others: gpu-hours or micro-usd, a month or all."""
    path, body = f"budgets/{segment(name)}/limits", {"limits": [_read(text) for text in limits or ()]}
    _tell(call("PUT", path, world=world, endpoint=endpoint, body=body), as_json=as_json)


def _read(text: str) -> dict[str, Any]:
    parts = text.split(":")
    if len(parts) != 3 or not (parts[0].isascii() and parts[0].isdecimal()):
        raise typer.BadParameter(f"a limit is AMOUNT:UNIT:PERIOD, as 10000:gpu-hours:month, not {text!r}")
    return {"amount": int(parts[0]), "unit": parts[1], "period": parts[2]}


@app.command()
def delete(name: Name, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Take a budget away; its use stays with its parent."""
    _tell(call("DELETE", f"budgets/{segment(name)}", world=world, endpoint=endpoint), as_json=as_json)


@app.command()
def apply(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="TOML or JSON: `budgets`, a list.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would change.")] = False,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Have the budgets of FILE and no others: all of them, or nothing changes."""
    body = read_object(file, "tree of budgets")
    if not isinstance(body, dict):
        raise typer.BadParameter(f"{file} is no list `budgets`")
    params = {"dry_run": "true"} if dry_run else None
    answer = call("PUT", "budgets", world=world, endpoint=endpoint, body={}, nullable=body, params=params)
    _tell(answer, as_json=as_json)


def _tell(answer: Any, *, as_json: bool) -> None:
    rows = answer.get("changes") if isinstance(answer, dict) else None
    if as_json or rows is None:
        show(answer, as_json=as_json)
        return
    shown = [row | {"limits": "; ".join(map(_limit, row["limits"])) if row["limits"] else None} for row in rows]
    table(shown, ("kind", "name", "parent", "weight", "limits"), empty="nothing changes")
