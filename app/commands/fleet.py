"""`windtunnel fleet` and `windtunnel queue`: GPUs of clusters and pools, how they are scheduled, who waits (CT-10)."""

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call, segment
from app.commands.durations import seconds
from app.commands.output import show, table
from app.commands.watching import watched

app = typer.Typer(help="The GPUs of clusters, and how they are scheduled.", no_args_is_help=True)
Named = Annotated[
    str,
    typer.Argument(
        metavar="CLUSTER|POOL",
        help="A cluster's name, id or ARN, or a managed pool's name.",
        autocompletion=c.fleets,
    ),
]


@app.command("list")
@watched
def show_fleets(
    cluster: o.Fleet = None, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False
) -> None:
    """The clusters' GPUs by model: how many there are, take work now, and are taken; and the managed pools."""
    answer = call("GET", "fleets", world=world, endpoint=endpoint, params={"cluster": cluster})
    if as_json:
        show(answer, as_json=True)
        return
    if answer["fleets"] or not answer["pools"]:
        table(answer["fleets"], empty="no fleets")
    if answer["pools"]:
        table(answer["pools"], ("name", "gpus", "taken", "waiting"), title="managed pools")


@app.command("show")
@watched
def show_fleet(cluster: Named, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """A cluster's fleet or a managed pool: GPUs by what they do, reservations, the policy's settings, and who leads."""
    _tell(call("GET", f"fleets/{segment(cluster)}", world=world, endpoint=endpoint), as_json=as_json)


@app.command("set")
def set_policy(
    cluster: Named,
    settings: Annotated[
        list[str],
        typer.Argument(
            metavar="SETTING=VALUE...",
            help="As window=7d margin=0.01 sessions_only=yes; or =default.",
            autocompletion=c.fleet_settings,
        ),
    ],
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Change settings of the fleet's policy; `windtunnel fleet show` names them all."""
    path, body = f"fleets/{segment(cluster)}", dict(_read(text) for text in settings)
    _tell(call("PATCH", path, world=world, endpoint=endpoint, body={}, nullable=body), as_json=as_json)


def _read(setting: str) -> tuple[str, int | bool | None]:
    """The member of the request, and its value."""
    name, given, value = setting.partition("=")
    name = name.strip().replace("-", "_")
    if not given:
        raise typer.BadParameter(f"a setting is NAME=VALUE, as window=7d, not {setting!r}")
    if name == "margin":
        return "margin_millionths", None if value == "default" else _millionths(value)
    member = name if name in _PLAIN else f"{name.removesuffix('_seconds')}_seconds"
    if value == "default":
        return member, None
    if name == "max_reservations":
        return member, o.count(value)
    return member, _SWITCH[value] if value in _SWITCH else int(seconds(value))


_PLAIN = ("max_reservations", "waive_at_t", "yields_in_leaf", "sessions_only")
_SWITCH = {"yes": True, "no": False, "true": True, "false": False}


def _millionths(value: str) -> int:
    try:
        return int(Decimal(value) * 1_000_000)
    except (InvalidOperation, ValueError, OverflowError):
        raise typer.BadParameter(f"the margin is a part of a ratio, as 0.01, not {value!r}") from None


def _tell(answer: Any, *, as_json: bool) -> None:
    if as_json:
        show(answer, as_json=True)
        return
    changed = set(answer["changed"])
    leader = answer["leader"]
    kind = "pool" if answer["pool"] else "cluster"
    name = answer["pool"] or answer["cluster_name"]
    show({kind: name, "as of": answer["as_of"], "leader": leader["name"]}, as_json=False)
    work = {"running": answer["running"], "waiting": answer["waiting"]}
    table([{"GPUs": "", **answer["gpus"], **work}])
    if answer["reservations"]:
        rows = [one | {"hosts": ", ".join(one["hosts"]), "T": one["due"]} for one in answer["reservations"]]
        table(rows, ("workload", "budget", "hosts", "since", "T"), title="reservations")
    policy = [
        {"setting": name, "value": value, "": "changed" if name in changed else ""}
        for name, value in answer["policy"].items()
    ]
    table(policy, title="policy")
    if leader["error"]:
        show({"the last pass failed": leader["error"]}, as_json=False)


@watched
def queue(
    cluster: o.Fleet = None,
    budget: o.Budget = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most so many (100).")] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Who waits, the first to be served first, and why."""
    params = {"cluster": cluster, "budget": budget, "limit": limit}
    answer = call("GET", "queue", world=world, endpoint=endpoint, params=params)
    if as_json:
        show(answer, as_json=True)
        return
    table([_waiting(row) for row in answer["queue"]], empty="nobody waits")


def _waiting(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "workload": row["job_name"],
        "cluster": row["cluster_name"] or row["pool"],
        "budget": row["budget"],
        "ratio": None if row["ratio"] is None else row["ratio"]["decimal"],
        "priority": row["priority"],
        "gpus": row["gpus"],
        "queued": row["queued"],
        "reason": row["reason"],
        "ahead": ", ".join(row["ahead"]) or None,
        "earliest": row["earliest"],
        "message": row["message"],
    }
