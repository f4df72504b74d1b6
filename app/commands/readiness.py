"""`windtunnel ready`: whether the service can be used yet (CT-7, CT-11)."""

import asyncio
from typing import Annotated, Any

import typer

from app import clock
from app.commands import options as o
from app.commands.client import Unreachable, request, told
from app.commands.durations import seconds
from app.commands.output import show
from app.commands.progress import waiting

POLL_SECONDS = 0.2  # wall time


class NotReady(Exception):
    """The service is not ready, or was not in time. Exit code 3."""


def ready(
    wait: Annotated[
        str | None, typer.Option("--wait", metavar="DURATION", help="Wait so long for it, wall time; else look once.")
    ] = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Whether schema, seed and workers are there; exit code 3 if not."""
    deadline = clock.monotonic() + (0 if wait is None else float(seconds(wait)))
    with waiting("waiting for the service", quiet=as_json):
        answer = asyncio.run(_answer(endpoint, deadline))
    show(answer, as_json=as_json)
    if not answer["ready"]:
        raise NotReady(f"not ready: {'; '.join(answer['missing'])}. Wait for it with `windtunnel ready --wait 60s`")


async def _answer(endpoint: str | None, deadline: float) -> dict[str, Any]:
    """The first answer that says ready, or the last in time. Raises Unreachable if there was none."""
    settings, base = told(endpoint)
    while True:
        late = clock.monotonic() >= deadline
        try:
            answer: dict[str, Any] = request(settings, base, "GET", "ready", also=(503,))
            if answer.get("ready") or late:
                return {"ready": bool(answer.get("ready")), "missing": answer.get("missing", [])}
        except Unreachable:
            if late:
                raise
        await clock.sleep(POLL_SECONDS)
