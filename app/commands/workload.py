"""`windtunnel workload`, `why` and `decisions`: work that is submitted to a cluster's scheduler (CT-10, FS-13)."""

from typing import Annotated, Any, Literal

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call, segment
from app.commands.durations import seconds
from app.commands.output import as_json_text, show, table, text
from app.commands.watching import watched

app = typer.Typer(help="Work that is submitted to a cluster's scheduler.", no_args_is_help=True)
Name = Annotated[
    str,
    typer.Argument(metavar="WORKLOAD", help="Its name; of a job its id or display name.", autocompletion=c.workloads),
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="NAME|ARN", help="Else the only one that fits.", autocompletion=c.fleets),
]
_COLUMNS = ("workload", "cluster", "budget", "gpus", "priority", "status", "funded", "submitted", "started", "until")


@app.command()
def submit(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As train-7b: its cluster's for ever.")],
    gpus: Annotated[int, typer.Option("--gpus", min=1, help="Of each replica, on one node.")],
    replicas: Annotated[int, typer.Option("--replicas", min=1, help="They start together, or none.")] = 1,
    cluster: Cluster = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="NAME", help="That pays; else unfunded.", autocompletion=c.budgets)
    ] = None,
    min_runtime: Annotated[
        str | None, typer.Option("--min-runtime", metavar="DURATION", help="Protected for so long, 8h at most.")
    ] = None,
    runtime: Annotated[
        str | None, typer.Option("--runtime", metavar="DURATION", help="It works so long; else until cancelled.")
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option("--checkpoint", metavar="DURATION", help="It saves its work so often; else never.")
    ] = None,
    priority: Annotated[int, typer.Option("--priority", help="Within its budget; higher goes first.")] = 0,
    resumable: Annotated[bool, typer.Option(help="Whether it queues again when it is evicted.")] = True,
    kind: Annotated[Literal["batch", "session"], typer.Option("--kind", help="A session is interactive.")] = "batch",
    model: Annotated[
        str | None, typer.Option("--model", metavar="GPU", help="As H100; else any.", autocompletion=c.gpu_models)
    ] = None,
    zone: Annotated[str | None, typer.Option("--zone", metavar="ZONE", help="As us-west-2a; else any.")] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Have a gang of replicas wait for a cluster's scheduler."""
    body = {
        "name": name,
        "cluster": cluster,
        "budget": budget,
        "gpus": gpus,
        "replicas": replicas,
        "min_runtime_seconds": _whole(min_runtime),
        "runtime_seconds": _whole(runtime),
        "checkpoint_seconds": _whole(checkpoint),
        "priority": priority,
        "resumable": resumable,
        "kind": kind,
        "model": model,
        "zone": zone,
    }
    _tell(call("POST", "workloads", world=world, endpoint=endpoint, body=body), as_json=as_json)


def _whole(duration: str | None) -> int | None:
    if duration is None:
        return None
    value = seconds(duration)
    if value != int(value):
        raise typer.BadParameter(f"{duration!r} is no whole number of seconds")
    return int(value)


@app.command("list")
@watched
def list_workloads(
    cluster: Cluster = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="NAME", help="Charged to it.", autocompletion=c.budgets)
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option("--status", help="May be given several times."),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most so many of the newest (100).")] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Workloads and jobs on clusters, the newest first, also those that have ended."""
    params = {"cluster": cluster, "budget": budget, "status": status or None, "limit": limit}
    answer = call("GET", "workloads", world=world, endpoint=endpoint, params=params)
    if as_json:
        show(answer, as_json=True)
        return
    table([_line(row) for row in answer["workloads"]], _COLUMNS, empty="no workloads")


def _line(row: dict[str, Any]) -> dict[str, Any]:
    ended = row["ended"] is not None
    return {
        **row,
        "workload": row["job_name"] or row["workload"],
        "cluster": row["cluster_name"] or row["pool"],
        "gpus": f"{row['replicas']} x {row['gpus']}",
        "status": f"{row['status']}: {row['reason']}" if ended else row["status"],
        "until": row["ended"] or row["protected_until"],
    }


@app.command("show")
@watched
def show_workload(
    name: Name, cluster: Cluster = None, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False
) -> None:
    """All that is known of a workload: its terms, its places, and what was decided."""
    answer = call("GET", f"workloads/{_last(name)}", world=world, endpoint=endpoint, params={"cluster": cluster})
    if as_json:
        show(answer, as_json=True)
        return
    why = answer.pop("why")
    show({key: value for key, value in answer.items() if value is not None and value != {}}, as_json=False)
    _explain(why)


@app.command()
def cancel(
    name: Name, cluster: Cluster = None, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False
) -> None:
    """Take a workload back; a job is cancelled where it was made."""
    path, params = f"workloads/{_last(name)}/cancel", {"cluster": cluster}
    _tell(call("POST", path, world=world, endpoint=endpoint, params=params), as_json=as_json)


@app.command()
def priority(
    name: Name,
    value: Annotated[int, typer.Argument(metavar="PRIORITY", help="Higher goes first within its budget.")],
    cluster: Cluster = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Give a workload another priority within its budget."""
    path, params, body = f"workloads/{_last(name)}", {"cluster": cluster}, {"priority": value}
    _tell(call("PATCH", path, world=world, endpoint=endpoint, params=params, body=body), as_json=as_json)


@watched
def why(
    name: Name, cluster: Cluster = None, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False
) -> None:
    """Why a workload waits: the reason, who is ahead, what would unblock it, and when it could start."""
    path, params = f"workloads/{_last(name)}/why", {"cluster": cluster}
    answer = call("GET", path, world=world, endpoint=endpoint, params=params)
    if as_json:
        show(answer, as_json=True)
    else:
        _explain(answer)


def _last(name: str) -> str:
    return segment(name.rpartition("/")[2])


def _explain(why: dict[str, Any]) -> None:
    names = ("reason", "unblocks", "wanted", "free", "blocker", "earliest", "starts", "leaves", "protected_until")
    shown = {"status": why["status"]} | {name: why[name] for name in names if why[name] != 0 or name == "free"}
    shown |= {"ratio of " + one["budget"]: _ratio(one) for one in why["ratios"]}
    shown |= {"against " + one["other"]["budget"]: _rival(one) for one in why["rivals"]}
    shown |= {"ahead": ", ".join(why["ahead"]) or None, "as of": why["as_of"]}
    if (kept := why["reservation"]) is not None:
        shown["reserved"] = f"{', '.join(kept['hosts'])}; T is {kept['due']}"
    show({name: value for name, value in shown.items() if value is not None}, as_json=False)
    if why["decisions"]:
        table([_decided(one) for one in why["decisions"]], title="decisions")


def _rival(one: dict[str, Any]) -> str:
    ends = "which yields" if one["yields"] else "which does not yield"
    own, other = one["own"], one["other"]
    return f"{own['budget']} with it {own['decimal'] or '-'}, {other['budget']} {other['decimal'] or '-'}, {ends}"


def _ratio(one: dict[str, Any]) -> str:
    return f"{one['decimal'] or '-'} ({one['ratio']})"


@watched
def decisions(
    cluster: Cluster = None,
    workload: Annotated[
        str | None,
        typer.Option("--workload", metavar="WORKLOAD", help="About this one alone.", autocompletion=c.workloads),
    ] = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="May be given several times.")] = None,
    after: Annotated[int | None, typer.Option("--after", min=0, help="Of one cluster, behind that number.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most so many (100).")] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """What schedulers decided, and why: the newest, the oldest of them first."""
    name = None if workload is None else workload.rpartition("/")[2]
    params = {"cluster": cluster, "workload": name, "kind": kind or None, "after": after, "limit": limit}
    answer = call("GET", "decisions", world=world, endpoint=endpoint, params=params)
    if as_json:
        print(as_json_text(answer))
        return
    rows = [
        {"number": one["number"], "cluster": one["cluster_name"] or one["pool"], **_decided(one)}
        for one in answer["decisions"]
    ]
    table(rows, empty="nothing was decided")


def _decided(one: dict[str, Any]) -> dict[str, Any]:
    victims = ", ".join(victim["workload"] for victim in one["victims"] or ())
    ratios = " against ".join(f"{each['budget']} {each['decimal'] or '-'}" for each in one["ratios"] or ())
    facts = {"victims": victims or None, "ratios": ratios or None, "due": one["due"]}
    facts |= {"protected until": one["protected_until"]} | one["facts"]
    hosts = one["places"] or facts.pop("hosts", None) or ()
    detail = "; ".join(f"{name} {text(value)}" for name, value in facts.items() if value is not None)
    return {
        "at": one["at"],
        "kind": one["kind"],
        "code": one["code"],
        "workload": one["workload"],
        "hosts": ", ".join(hosts) or None,
        "detail": detail or None,
    }


def _tell(answer: Any, *, as_json: bool) -> None:
    if as_json:
        show(answer, as_json=True)
    else:
        table([_line(answer)], _COLUMNS)
