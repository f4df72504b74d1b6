"""`windtunnel job`: a Vertex AI job, its attempts and its workers."""

from typing import Annotated

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call, segment
from app.commands.output import show
from app.commands.watching import watched


@watched
def job(
    job: Annotated[
        str,
        typer.Argument(
            metavar="JOB", help="Id, resource name, or display name: then the newest.", autocompletion=c.workloads
        ),
    ],
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """A Vertex AI job as the service knows it: its attempts, why it was retried, and each of its workers."""
    path = f"jobs/{segment(job.rpartition('/')[2])}"
    show(call("GET", path, world=world, endpoint=endpoint), as_json=as_json)
