"""`windtunnel logs`: what a job has written (VX-17)."""

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from app import clock
from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call, segment
from app.commands.durations import seconds
from app.commands.output import as_json_text

POLL_SECONDS = 1.0  # wall time
PAGE = 1000


def logs(
    job: Annotated[
        str,
        typer.Argument(
            metavar="JOB", help="Id, resource name, or display name: then the newest.", autocompletion=c.workloads
        ),
    ],
    task: Annotated[str | None, typer.Option("--task", help="Of one task: service, or a replica's name.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="From an instant on, or for a duration until the world's now: 10m.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more until the job has ended.")] = False,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """What the service and the replicas of a Vertex AI job have written, the oldest line first.

    With --follow, --json writes one object a line.
    """
    params = {"task": task, "since": _instant(since, world, endpoint)}
    pages = _pages(job.rpartition("/")[2], params, world, endpoint, follow=follow)
    if as_json and not follow:
        print(as_json_text({"lines": [line for page in pages for line in page]}))
        return
    for page in pages:
        for line in page:
            print(json.dumps(line, ensure_ascii=False) if as_json else _text(line), flush=follow)


def _pages(
    job: str, params: dict[str, Any], world: str | None, endpoint: str | None, *, follow: bool
) -> Iterator[list[dict[str, Any]]]:
    last = 0
    while True:
        asked = {**params, "after": last, "limit": PAGE}
        page = call("GET", f"jobs/{segment(job)}/logs", world=world, endpoint=endpoint, params=asked)
        yield page["lines"]
        last = page["last"]
        if len(page["lines"]) == PAGE:
            continue
        if page["over"] or not follow:
            return
        asyncio.run(clock.sleep(POLL_SECONDS))


def _instant(since: str | None, world: str | None, endpoint: str | None) -> str | None:
    """A duration ends at the world's now; anything else is for the service to read."""
    if since is None or "-" in since:
        return since
    now = datetime.fromisoformat(call("GET", "clock", world=world, endpoint=endpoint)["now"])
    return (now - timedelta(seconds=seconds(since))).isoformat()


def _text(line: dict[str, Any]) -> str:
    return f"{line['time']}  {line['severity']:<7}  {line['task']:<13}  {line['text']}"
