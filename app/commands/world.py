"""`windtunnel world`: universes side by side (CT-0, CT-2), and `reset`."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Annotated, Any, BinaryIO, Literal

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call, segment, upload
from app.commands.files import read_object
from app.commands.output import as_json_text, show
from app.commands.progress import reading, waiting
from app.core.scope import DEFAULT_WORLD

app = typer.Typer(help="Worlds: each with its own clock, capacity, faults, prices and history.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The world's.", autocompletion=c.worlds)]
LONG = 300.0  # wall seconds: copying a large world takes its time


# Worlds are not in a world: the path of one that is gone must not keep anyone from making it.
_call = partial(call, world=DEFAULT_WORLD)


@app.command("list")
def list_worlds(endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Every world."""
    show(_call("GET", "worlds", endpoint=endpoint), as_json=as_json)


@app.command()
def create(
    name: Name,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="What chance is drawn from (1).")] = None,
    profile: Annotated[
        Literal["instant", "fast", "realistic", "moto"] | None, typer.Option("--profile", help="How long stages take.")
    ] = None,
    frozen: Annotated[bool | None, typer.Option("--frozen", help="Its clock moves only by advance.")] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", callback=o.positive, help="Virtual seconds in a second of the wall.")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--start", metavar="INSTANT", help="Where its time begins (now).")
    ] = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Make an empty world."""
    body: dict[str, Any] = {"name": name, "seed": seed, "profile": profile, "frozen": frozen}
    body |= {"rate": rate, "start": start}
    show(_call("POST", "worlds", endpoint=endpoint, body=body), as_json=as_json)


@app.command()
def fork(
    name: Name,
    source: Annotated[
        str, typer.Option("--from", metavar="WORLD", help="What to copy.", autocompletion=c.worlds)
    ] = "main",
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Make a world that begins as a copy of another."""
    with waiting(f"copying {source}", quiet=as_json):
        answer = _call("POST", "worlds", endpoint=endpoint, body={"name": name, "fork_of": source}, timeout=LONG)
    show(answer, as_json=as_json)


@app.command()
def drop(name: Name, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Remove a world and all that is in it."""
    show(_call("DELETE", f"worlds/{segment(name)}", endpoint=endpoint, timeout=LONG), as_json=as_json)


@app.command()
def lag(
    seconds: Annotated[
        int | None, typer.Argument(metavar="[SECONDS]", min=0, max=86_400, help="Left out: how late it is.")
    ] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """How many seconds of the world's time later than ListClusterNodes DescribeCluster counts; 0: at once."""
    if seconds is None:
        show(call("GET", "lag", world=world, endpoint=endpoint), as_json=as_json)
    else:
        show(call("POST", "lag", world=world, endpoint=endpoint, body={"seconds": seconds}), as_json=as_json)


@app.command()
def compare(
    name: Name,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="What to compare it with.", autocompletion=c.worlds)],
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """How two worlds differ."""
    path = f"worlds/{segment(name)}/compare/{segment(other)}"
    show(_call("GET", path, endpoint=endpoint, timeout=LONG), as_json=as_json)


@app.command()
def export(
    name: Name,
    endpoint: o.Endpoint = None,
    as_json: Annotated[bool, typer.Option("--json", help="An export is JSON in any case.")] = False,
) -> None:
    """Everything in a world, as JSON with sorted keys."""
    with waiting(f"exporting {name}", quiet=as_json):
        answer = _call("GET", f"worlds/{segment(name)}/export", endpoint=endpoint, timeout=LONG)
    print(as_json_text(answer))


@app.command("import")
def import_world(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As `export` wrote it.")],
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Make a world of an export: all of it, or none."""
    try:
        opened = file.open("rb")
    except OSError as error:
        raise typer.BadParameter(f"the export {file} cannot be read: {error}") from error
    with opened, _measurable(opened) as whole, reading(whole, f"importing {name}", quiet=as_json) as read:
        answer = upload("worlds/import", read, endpoint=endpoint, params={"name": name}, timeout=LONG)
    show(answer, as_json=as_json)


@contextmanager
def _measurable(file: BinaryIO) -> Iterator[BinaryIO]:
    """The file; of a pipe, which has no length to announce, a copy."""
    if file.seekable():
        yield file
        return
    with TemporaryFile() as copy:
        copyfileobj(file, copy)
        copy.seek(0)
        yield copy


def reset(
    seed_file: Annotated[Path | None, typer.Option("--seed-file", help="TOML or JSON to begin with.")] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Empty a world, or bring it back to its seed file."""
    body = {"seed": read_object(seed_file, "seed file") if seed_file else None}
    with waiting("emptying the world", quiet=as_json):
        answer = call("POST", "reset", world=world, endpoint=endpoint, body=body, timeout=LONG)
    show(answer, as_json=as_json)
