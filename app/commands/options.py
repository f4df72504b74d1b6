"""The options that many verbs share."""

import math
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.commands import completion as c


def positive(value: float | None) -> float | None:
    """A callback of Typer's: a number greater than 0; `nan` and `inf` are numbers to Python, and to no service."""
    if value is not None and not 0 < value < math.inf:
        raise typer.BadParameter(f"{value:g} is not a number greater than 0")
    return value


def count(text: str) -> int | None:
    """A whole number; None for `unlimited`. Raises typer.BadParameter."""
    if text == "unlimited":
        return None
    if not (text.isascii() and text.isdecimal()):
        raise typer.BadParameter(f"N is a whole number or `unlimited`, not {text!r}")
    return int(text)


World = Annotated[
    str | None, typer.Option("--world", metavar="NAME", help="The world; main if not given.", autocompletion=c.worlds)
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        "--endpoint", metavar="URL", help="The service; else WINDTUNNEL_ENDPOINT, else http://127.0.0.1:4600."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="NAME|ARN", help="Of this cluster alone: name, id or ARN.", autocompletion=c.clusters
    ),
]
Fleet = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="NAME|ARN|POOL", help="Of this cluster or managed pool alone.", autocompletion=c.fleets
    ),
]
Budget = Annotated[
    str | None,
    typer.Option("--budget", metavar="NAME", help="Charged to it or below it.", autocompletion=c.budgets),
]
InstanceType = Annotated[
    str,
    typer.Argument(metavar="TYPE", help="ml.p5.48xlarge, a3-highgpu-8g", autocompletion=c.instance_types),
]
Instant = "As 2026-01-31T12:00:00Z."
Json = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]
HiddenJson = Annotated[bool, typer.Option("--json", hidden=True)]  # `up`: one line for programs, then the log
Account = Annotated[str | None, typer.Option("--account", help="Twelve digits; else the default account.")]
Project = Annotated[str | None, typer.Option("--project", help="Vertex AI's word for the account: an id or a number.")]
Region = Annotated[str | None, typer.Option("--region", help="Else the default region.", autocompletion=c.regions)]

Config = Annotated[Path | None, typer.Option("--config", help="TOML file of settings (WINDTUNNEL_CONFIG).")]
Host = Annotated[str | None, typer.Option("--host", help="Address to listen on (127.0.0.1).")]
Port = Annotated[int | None, typer.Option("--port", help="Port to listen on (4600); 0 takes a free one.")]
GrpcPort = Annotated[
    int | None,
    typer.Option("--grpc-port", help="Port of gRPC, the one after --port if not given; TLS is on the next; 0: none."),
]
Data = Annotated[Path | None, typer.Option("--data", metavar="DIR", help="Where the embedded database is.")]
Ephemeral = Annotated[bool | None, typer.Option("--ephemeral", help="A new database that is removed at the end.")]
Profile = Annotated[
    Literal["instant", "fast", "realistic", "moto"] | None,
    typer.Option("--profile", help="How long stages take (fast)."),
]
Rate = Annotated[float | None, typer.Option("--rate", help="Virtual seconds in a second of the wall (1).")]
Frozen = Annotated[bool | None, typer.Option("--frozen", help="The clock moves only when it is advanced.")]
Start = Annotated[str | None, typer.Option("--start", metavar="INSTANT", help="Where the world's time begins (now).")]
Seed = Annotated[int | None, typer.Option("--seed", help="What chance is drawn from (1).")]
SeedFile = Annotated[
    Path | None,
    typer.Option("--seed-file", help="Clusters, capacity, prices, budgets, faults and clock to begin with."),
]
Chaos = Annotated[int | None, typer.Option("--chaos", metavar="SEED", help="Everyday trouble, drawn from SEED.")]
ExecuteJobs = Annotated[
    bool | None,
    typer.Option(
        "--execute-jobs",
        help="Really run the commands of Vertex AI jobs on this machine, as you, without a container. Only for "
        "programs that you trust, and on a loopback address.",
    ),
]
Auth = Annotated[
    Literal["off", "verify"] | None, typer.Option("--auth", help="Whether AWS signatures are checked (off).")
]
LogFormat = Annotated[
    Literal["auto", "human", "json"] | None,
    typer.Option("--log-format", help="Lines for people or for programs (auto: people at a terminal)."),
]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"] | None, typer.Option("--log-level", help="The least that is told.")
]
