"""The logs of jobs: as entries of Cloud Logging, and line by line (VX-17)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from app.core.errors import Invalid
from app.core.job import FINAL, Job, state
from app.core.log_filter import Clocks, log_filter, needed
from app.core.log_lines import SEVERITIES, Line, Place, entry
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import logs
from app.store.db import Tx
from app.usecases import jobs
from app.usecases.clocks import read

CHUNK = 1000
"""Lines that one statement reads, at least."""
MOST_LOOKED_AT = 20_000
"""Lines that one request compares with its filter; the page is then short, and the next token goes on."""


@dataclass(frozen=True, slots=True)
class Question:
    """Which entries are asked for. `projects` are names of projects by their numbers; `wall` is the machine's time."""

    projects: Mapping[str, str]
    filter: str
    wall: datetime
    descending: bool
    limit: int
    after: Place | None = None


class Page(NamedTuple):
    """LogEntries in canonical JSON, and the place to go on behind, if there may be more."""

    entries: list[dict[str, Any]]
    last: Place | None


async def entries(tx: Tx, world: str, asked: Question) -> Page:
    """A page of the entries of the projects' jobs. Invalid for a filter that cannot be read."""
    clocks = Clocks((await read(tx, world)).now, asked.wall)
    wanted = log_filter(asked.filter, clocks)
    told: list[dict[str, Any]] = []
    after, last, looked_at = asked.after, None, 0
    chunk = max(asked.limit + 1, CHUNK)
    bounds = needed(wanted, clocks)
    while looked_at < MOST_LOOKED_AT:
        found = await logs.page(
            tx, world, list(asked.projects), bounds, descending=asked.descending, after=after, limit=chunk
        )
        for one in found:
            shown = entry(one, asked.projects[one.account])
            if wanted.accepts((one, shown)):
                if len(told) == asked.limit:
                    return Page(told, last)
                told.append(shown)
                last = one.place
        if len(found) < chunk:
            return Page(told, None)
        after, looked_at = found[-1].place, looked_at + len(found)
    return Page(told, after)


class JobLog(NamedTuple):
    """Lines of a job with their numbers, whose they are, and whether no more will come."""

    job: Job
    lines: list[tuple[int, Line]]
    is_over: bool


async def of_job(
    tx: Tx, world: str, named: str, *, task: str | None, since: WorldTime | None, after: int, limit: int
) -> JobLog:
    """Lines of a job, by its id or its display name: then of the newest of that name. NotFound."""
    job = await jobs.named(tx, world, named)
    now = (await read(tx, world)).now
    scope = Scope(world, job.account, job.region)
    lines = await logs.of_job(tx, scope, job.job_id, task=task, since=since, after=after, limit=limit)
    return JobLog(job, lines, state(job, now) in FINAL)


async def tail(
    tx: Tx, world: str, named: str, *, task: str | None, least: str, before: int | None, limit: int
) -> JobLog:
    """The newest lines of a job, in order, as severe as `least` or more: those with numbers below `before`. NotFound;
    Invalid for no severity."""
    if least not in SEVERITIES:
        raise Invalid(f"There is no severity {least[:40]!r}. Give one of {', '.join(SEVERITIES)}.")
    job = await jobs.named(tx, world, named)
    now = (await read(tx, world)).now
    severities = [name for name, rank in SEVERITIES.items() if rank >= SEVERITIES[least]]
    scope = Scope(world, job.account, job.region)
    lines = await logs.tail(tx, scope, job.job_id, task=task, severities=severities, before=before, limit=limit)
    return JobLog(job, lines[::-1], state(job, now) in FINAL)
