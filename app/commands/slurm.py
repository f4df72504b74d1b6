"""`windtunnel slurm`: the emulated slurm.conf of a cluster (CT-9)."""

from pathlib import Path
from typing import Annotated, Any

import click
import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call, segment
from app.commands.output import as_json_text, show

app = typer.Typer(help="The slurm.conf of a cluster.", no_args_is_help=True)
Cluster = Annotated[str, typer.Argument(metavar="CLUSTER", help="Its name or ARN.", autocompletion=c.clusters)]


@app.command("show")
def show_file(
    cluster: Cluster,
    account: o.Account = None,
    region: o.Region = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Print the file; as JSON, with its version."""
    found = _read(cluster, account, region, world, endpoint)
    print(as_json_text(found) if as_json else found["content"], end="\n" if as_json else "")


@app.command()
def edit(
    cluster: Cluster,
    file: Annotated[Path | None, typer.Option("--file", help="What to put there; else your editor opens.")] = None,
    version: Annotated[
        str | None, typer.Option("--version", help="Refuse unless the file there is still of this version.")
    ] = None,
    account: o.Account = None,
    region: o.Region = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Edit the file. What changes in it meanwhile is not lost: the edit is then refused."""
    found = _read(cluster, account, region, world, endpoint)
    content = _content(file) if file else click.edit(found["content"], extension=".conf")
    if content is None:
        raise typer.BadParameter("the editor saved nothing, so nothing was changed")
    body = {"content": content, "version": version or found["version"]}
    path, where = f"clusters/{segment(cluster)}/slurm.conf", {"account": account, "region": region}
    answer = call("PUT", path, world=world, endpoint=endpoint, body=body, params=where)
    show(answer if as_json else {name: answer[name] for name in ("cluster", "version", "edited_at")}, as_json=as_json)


def _read(cluster: str, account: str | None, region: str | None, world: str | None, endpoint: str | None) -> Any:
    where = {"account": account, "region": region}
    return call("GET", f"clusters/{segment(cluster)}/slurm.conf", world=world, endpoint=endpoint, params=where)


def _content(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"the file {file} cannot be read: {error}") from error
