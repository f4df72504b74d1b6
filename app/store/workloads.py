"""Workloads: what was asked for, what has been asked since, and where each stands. Times are milliseconds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from app.core.scope import Scope
from app.store.db import Tx
from app.store.fleet_jobs import JobKey
from app.store.rows import insert_rows

NEW = "new"
"""The status of a workload that no pass has seen yet."""
ENDED = "ended"
SUBMIT, CANCEL, FINISH, PRIORITY, HOLE = "submit", "cancel", "finish", "priority", "hole"
"""What may be asked of a workload, or be told of the job whose it is."""
_KEY = "world = $1 AND account = $2 AND region = $3 AND fleet = $4"
_FLEET = ("world", "account", "region", "fleet")
_ASKED = ("name", "number", "leaf", "gpus", "replicas", "min_runtime", "priority", "submit", "resumable", "kind")
_MORE = ("checkpoint", "model", "zone", "project", "location", "job_id", "runtime")
_STANDING = ("status", "state", "attempt", "funded", "bound_at", "protected_until", "priority")
_DOING = ("done", "ends_at", "first_bound_at", "ended_at", "end_reason")
_COLUMNS = (*_ASKED, *_MORE, *_STANDING[:-1], *_DOING)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM workload WHERE {_KEY}"
LIVING = f"{_SELECT} AND ended_at IS NULL ORDER BY number"
NAMED = f"{_SELECT} AND name = ANY($5) ORDER BY number"
NEWS = f"SELECT name, number, news FROM workload WHERE {_KEY} AND news <> '[]'::jsonb ORDER BY number"
TAKEN = """UPDATE workload w SET news = (SELECT coalesce(jsonb_agg(e ORDER BY i), '[]'::jsonb)
        FROM jsonb_array_elements(w.news) WITH ORDINALITY AS n (e, i) WHERE i > t.count)
    FROM unnest($5::text[], $6::bigint[]) AS t (name, count)
    WHERE (w.world, w.account, w.region, w.fleet, w.name) = ($1, $2, $3, $4, t.name)"""
# The news given is how many entries of it were taken.
STAND = f"""ON CONFLICT (world, account, region, fleet, name) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in (*_STANDING, *_DOING))},
    news = CASE WHEN excluded.news = '0' THEN workload.news ELSE (
        SELECT coalesce(jsonb_agg(e ORDER BY i), '[]'::jsonb)
        FROM jsonb_array_elements(workload.news) WITH ORDINALITY AS n (e, i) WHERE i > excluded.news::bigint) END"""
TELL = f"UPDATE workload SET news = news || $6::jsonb WHERE {_KEY} AND name = $5 AND ended_at IS NULL"
# Passes over fleets and over jobs lock workloads in one order, so that they never wait for each other in a circle.
HOLD = f"SELECT 1 FROM workload WHERE {_KEY} AND name = ANY($5) ORDER BY name FOR UPDATE"
TELL_OF_JOBS = """WITH held AS MATERIALIZED (SELECT w.account, w.region, w.fleet, w.name, u.news FROM workload w
        JOIN jsonb_to_recordset($2) AS u (project text, location text, job_id text, news jsonb)
        ON (w.project, w.location, w.job_id) = (u.project, u.location, u.job_id)
        WHERE w.world = $1 AND w.ended_at IS NULL ORDER BY w.account, w.region, w.fleet, w.name FOR UPDATE OF w)
    UPDATE workload w SET news = w.news || held.news FROM held
    WHERE (w.world, w.account, w.region, w.fleet, w.name) = ($1, held.account, held.region, held.fleet, held.name)"""
INSERT_COLUMNS = (*_FLEET, *_ASKED, *_MORE, "status", "news")


@dataclass(slots=True)
class Row:
    """A workload as it is kept: `state` is the policy's, and what is about a run is None before the first."""

    name: str
    number: int
    leaf: str | None
    gpus: int
    replicas: int
    min_runtime: int
    priority: int
    submit: int
    resumable: bool
    kind: str
    checkpoint: int | None = None
    model: str = ""
    zone: str = ""
    project: str | None = None
    location: str | None = None
    job_id: str | None = None
    runtime: int | None = None
    """Of our own workloads alone: how long they work."""
    status: str = NEW
    state: Mapping[str, Any] | None = None
    attempt: int = 0
    funded: bool = False
    bound_at: int | None = None
    protected_until: int | None = None
    done: int = 0
    ends_at: int | None = None
    first_bound_at: int | None = None
    ended_at: int | None = None
    end_reason: str | None = None

    @property
    def job(self) -> JobKey | None:
        """The custom job whose it is: its project, region and id."""
        if self.job_id is None or self.project is None or self.location is None:
            return None
        return self.project, self.location, self.job_id


@dataclass(frozen=True, slots=True)
class News:
    """What has been asked of a workload: submit, cancel, finish, priority, hole."""

    at: int
    number: int
    """The workload's."""
    name: str
    kind: str
    facts: Mapping[str, Any]


def _key(scope: Scope, fleet: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, fleet


async def insert(tx: Tx, scope: Scope, fleet: str, row: Row, at: int) -> None:
    """The workload waits for a pass to see it; it was submitted at `at`."""
    asked = [getattr(row, name) for name in (*_ASKED, *_MORE)]
    record = (*_key(scope, fleet), *asked, NEW, [{"at": at, "kind": SUBMIT}])
    await insert_rows(tx, "workload", INSERT_COLUMNS, [record])


async def living(tx: Tx, scope: Scope, fleet: str) -> list[Row]:
    """All that have not ended, in the order in which they came."""
    return [Row(*row) for row in await tx.fetch(LIVING, *_key(scope, fleet))]


async def named(tx: Tx, scope: Scope, fleet: str, names: Sequence[str]) -> list[Row]:
    return [Row(*row) for row in await tx.fetch(NAMED, *_key(scope, fleet), list(names))]


async def news(tx: Tx, scope: Scope, fleet: str, until: int) -> tuple[list[News], dict[str, int]]:
    """What has been asked until then, in the order of time; and how many entries of each workload that is, counted from
    the first: what was told of an earlier instant behind a later entry, by a pass that lags, waits for that."""
    found: list[News] = []
    counts: dict[str, int] = {}
    for name, number, entries in await tx.fetch(NEWS, *_key(scope, fleet)):
        due = list(takewhile(lambda entry: entry["at"] <= until, entries))
        if due:
            counts[name] = len(due)
        found += [News(entry["at"], number, name, entry["kind"], entry) for entry in due]
    return sorted(found, key=lambda one: (one.at, one.number)), counts


async def tell(tx: Tx, scope: Scope, fleet: str, name: str, at: int, kind: str, **facts: Any) -> bool:
    """Have the next pass know; False when there is no such workload that has not ended."""
    done = await tx.execute(TELL, *_key(scope, fleet), name, [{"at": at, "kind": kind, **facts}])
    return bool(int(done.rpartition(" ")[2]))


async def tell_of_jobs(tx: Tx, world: str, told: Iterable[tuple[JobKey, Mapping[str, Any]]]) -> None:
    """The same about the workloads of jobs, which are locked: by project, region and id, the news."""
    records = [{"project": key[0], "location": key[1], "job_id": key[2], "news": [news]} for key, news in told]
    if records:
        await tx.execute(TELL_OF_JOBS, world, records)


async def save(tx: Tx, scope: Scope, fleet: str, rows: Sequence[Row], taken: Mapping[str, int]) -> None:
    """Where they stand now. So many of the first entries of each one's news have been taken; what has been asked
    meanwhile stays. Who is not among the rows has ended, and its news goes by itself.

    Written as an insertion that always conflicts, because that finds each row by its key, whatever Postgres knows of
    the table: as an update it has taken half a minute for a burst of rows into a table that was small before.
    """
    if names := sorted({row.name for row in rows} | taken.keys()):
        await tx.execute(HOLD, *_key(scope, fleet), names)
    columns = (*_ASKED, *_MORE, *_STANDING[:-1], *_DOING)
    records = [(*_key(scope, fleet), *(getattr(row, name) for name in columns), taken.get(row.name, 0)) for row in rows]
    await insert_rows(tx, "workload", (*_FLEET, *columns, "news"), records, on_conflict=STAND)
    known = {row.name for row in rows}
    others = {name: count for name, count in taken.items() if name not in known}
    if others:
        await tx.execute(TAKEN, *_key(scope, fleet), list(others), list(others.values()))
