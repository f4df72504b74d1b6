"""`windtunnel host`: the GPU nodes that workloads run on, and their maintenance (FS-11, CT-10)."""

from typing import Annotated, Any, Literal

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call, segment
from app.commands.output import show, table
from app.commands.watching import watched

app = typer.Typer(help="The GPU nodes that workloads run on, and their maintenance.", no_args_is_help=True)
Node = Annotated[
    str, typer.Argument(metavar="NODE", help="Its logical id (NodeLogicalId) or instance id.", autocompletion=c.hosts)
]
_COLUMNS = ("node", "cluster_name", "group", "state", "gpus", "taken", "marked", "reason", "then", "protected_until")


@app.command("list")
@watched
def list_hosts(
    cluster: o.Cluster = None, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False
) -> None:
    """The hosts: healthy, draining, drained, or away while their nodes do not run."""
    answer = call("GET", "hosts", world=world, endpoint=endpoint, params={"cluster": cluster})
    if as_json or not isinstance(answer, dict) or "hosts" not in answer:
        show(answer, as_json=as_json)
        return
    rows = [{**row, "marked": row["marked"] and row["marked"][:19]} for row in answer["hosts"]]
    table(rows, [name for name in _COLUMNS if any(row[name] is not None for row in rows)], empty="no hosts")


@app.command("show")
@watched
def show_host(node: Node, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """A host, and what runs on it."""
    _tell(call("GET", f"hosts/{segment(node)}", world=world, endpoint=endpoint), as_json=as_json)


@app.command()
def drain(
    node: Node,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Shown beside the host.")] = None,
    then: Annotated[
        Literal["reboot", "replace", "nothing"],
        typer.Option("--then", help="Once it is empty; nothing: it stays so until it is resumed."),
    ] = "nothing",
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Mark a host for maintenance: no new work; unfunded work leaves at once, the rest as its protection ends."""
    body = {"reason": reason, "then": then}
    _tell(call("POST", f"hosts/{segment(node)}/drain", world=world, endpoint=endpoint, body=body), as_json=as_json)


@app.command()
def resume(node: Node, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Have a marked host take work again."""
    _tell(call("POST", f"hosts/{segment(node)}/resume", world=world, endpoint=endpoint, body={}), as_json=as_json)


def _tell(answer: Any, *, as_json: bool) -> None:
    if as_json or not isinstance(answer, dict) or "node" not in answer:
        show(answer, as_json=as_json)
        return
    show({name: value for name, value in answer.items() if value not in (None, [])}, as_json=False)
