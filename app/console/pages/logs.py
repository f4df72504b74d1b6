"""What a job has written, the newest lines last (VX-17)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.page import PageOf
from app.core.errors import Invalid
from app.core.job import Job
from app.core.log_lines import SERVICE, SEVERITIES, Line
from app.store.db import Tx
from app.usecases import jobs, logs

router = APIRouter()
LIMIT = 200
_KINDS = {"DEBUG": "off", "DEFAULT": "off", "INFO": "ok", "NOTICE": "ok", "WARNING": "warn"}


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line with its number, the colour of its severity, and its payload as JSON."""

    number: int
    of: Line
    kind: str
    payload: str | None


@dataclass(frozen=True, slots=True)
class View:
    job: Job
    lines: Sequence[LogLine]
    task: str | None
    least: str
    tasks: Sequence[str]
    severities: Sequence[str]
    older: int | None
    """The number below which older lines are."""
    is_newest: bool
    is_over: bool


@router.get("/jobs/{job}/logs")
async def show(page: PageOf, job: str) -> Response:
    """The newest lines, or those below a number."""
    task, least = page.given.get("task") or None, page.given.get("severity") or "DEFAULT"
    view = await page.db.run(_read, page.world, job, task, least, _number(page.given.get("before", "")))
    return await page.answer("logs.html", view, title=f"Logs of {view.job.display_name}")


def _number(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise Invalid("'before' is the number of a line.")
    return int(text)


async def _read(tx: Tx, world: str, name: str, task: str | None, least: str, before: int | None) -> View:
    found = await logs.tail(tx, world, name, task=task, least=least, before=before, limit=LIMIT + 1)
    workers = [one.name for one in (await jobs.inspect(tx, world, found.job.job_id)).replicas]
    shown = found.lines[-LIMIT:]
    return View(
        job=found.job,
        lines=[_line(number, one) for number, one in shown],
        task=task,
        least=least,
        tasks=[SERVICE, *workers],
        severities=list(SEVERITIES),
        older=shown[0][0] if len(found.lines) > LIMIT else None,
        is_newest=before is None,
        is_over=found.is_over,
    )


def _line(number: int, one: Line) -> LogLine:
    payload = None if one.payload is None else json.dumps(dict(one.payload), ensure_ascii=False, indent=1)
    return LogLine(number, one, _KINDS.get(one.severity, "bad"), payload)
