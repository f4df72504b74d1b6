"""Programs of jobs that really run: each row is one run of one replica, and who runs it (VX-16).

A row without an executor waits for one; with one it is his alone, and he has started it or died before. Scans begin at
`world`, so that none meets the rows of a snapshot.
"""

from collections.abc import Iterable

from app.core.executing import Held, Start
from app.core.job import Job
from app.core.replica import Replica, Worker
from app.core.scope import Scope
from app.store.db import Tx
from app.store.jobs import JOB
from app.store.processes import ALIVE
from app.store.rows import insert_rows

_NAMES = ("world", "account", "region", "job_id", "pool", "ordinal")
_USING = ", ".join(_NAMES)
_E = ", ".join(f"e.{name}" for name in _NAMES)
_R = ", ".join(f"r.{name}" for name in _NAMES)
_KEY = " AND ".join(f"{name} = ${place}" for place, name in enumerate(_NAMES, 1))
_RUNS = f"r.status = '{Worker.RUNNING}' AND r.runs = e.run"
CLAIM = f"""WITH next AS MATERIALIZED (SELECT {_E}, r.run_at
        FROM world w JOIN execution e ON e.world = w.name JOIN job_replica r USING ({_USING})
        WHERE e.executor IS NULL AND {_RUNS} ORDER BY r.run_at, {_E} LIMIT $3 FOR UPDATE OF e SKIP LOCKED)
    UPDATE execution e SET executor = $1, claim = $2 FROM next JOIN custom_job j USING (world, account, region, job_id)
    WHERE ({_E}) = ({", ".join(f"next.{name}" for name in _NAMES)})
    RETURNING e.world, e.pool, e.ordinal, e.run, next.run_at, {", ".join(f"j.{column}" for column in JOB.columns)}"""
HELD = f"""SELECT {_E}, e.executor, e.claim, {_RUNS} FROM world w JOIN execution e ON e.world = w.name
    LEFT JOIN job_replica r USING ({_USING}) WHERE e.executor = $1"""
ORPHANS = f"""SELECT {_E}, e.executor, e.claim FROM world w JOIN execution e ON e.world = w.name
    WHERE CASE WHEN e.executor IS NOT NULL THEN NOT EXISTS (SELECT 1 FROM process WHERE name = e.executor AND {ALIVE})
        ELSE NOT EXISTS (SELECT 1 FROM job_replica r WHERE ({_R}) = ({_E}) AND {_RUNS})
            OR ($1 AND NOT EXISTS (SELECT 1 FROM process WHERE kind = $2 AND {ALIVE})) END
    ORDER BY {_E} LIMIT $3"""


async def want(tx: Tx, scope: Scope, begun: Iterable[tuple[str, Replica]]) -> None:
    """The replicas' programs, each with its job's id, are to run; the runs before are over, whoever had them."""
    head = (scope.world, scope.account, scope.region)
    records = [(*head, job_id, one.pool, one.ordinal, one.runs) for job_id, one in begun]
    await insert_rows(
        tx,
        "execution",
        (*_NAMES, "run"),
        records,
        on_conflict=f"ON CONFLICT ({_USING}) DO UPDATE SET run = excluded.run, executor = NULL, claim = NULL",
    )


async def claim(tx: Tx, executor: str, number: int, limit: int) -> list[Start]:
    """Take up to so many of the runs that wait, the longest first, as the executor's claim `number`."""
    rows = await tx.fetch(CLAIM, executor, number, limit)
    found = [Start(world, Job(*job), pool, ordinal, run, at) for world, pool, ordinal, run, at, *job in rows]
    return sorted(found, key=lambda one: (one.run_at, one.world, one.job.number, one.pool, one.ordinal))


async def held(tx: Tx, executor: str) -> dict[Held, bool]:
    """The executor's runs; False for those whose replicas have moved on."""
    return {Held(*tuple(row)[:-1]): bool(row[-1]) for row in await tx.fetch(HELD, executor)}


async def orphans(tx: Tx, kind: str, limit: int, *, waiting: bool) -> list[Held]:
    """The runs whose executor lives no more, and those that wait for a replica that has moved on; with `waiting` all
    that wait while no process of the kind lives."""
    return [Held(*row) for row in await tx.fetch(ORPHANS, waiting, kind, limit)]


async def is_held(tx: Tx, one: Held) -> bool:
    """The run is still under this claim."""
    found: bool = await tx.fetchval(
        f"SELECT EXISTS (SELECT 1 FROM execution WHERE {_KEY} AND executor = $7 AND claim = $8)", *one
    )
    return found


async def remove(tx: Tx, one: Held) -> int | None:
    """The run is over: its number, or None when it is no longer under this claim and nothing was removed."""
    found: int | None = await tx.fetchval(
        f"""DELETE FROM execution WHERE {_KEY} AND executor IS NOT DISTINCT FROM $7 AND claim IS NOT DISTINCT FROM $8
        RETURNING run""",
        *one,
    )
    return found


async def number_lines(tx: Tx, one: Held, count: int) -> int | None:
    """Take so many numbers of the job's log: the last of them; None for a job that is gone."""
    found: int | None = await tx.fetchval(
        """UPDATE custom_job SET log_seq = log_seq + $5 WHERE world = $1 AND account = $2 AND region = $3
        AND job_id = $4 AND deleted_at IS NULL RETURNING log_seq""",
        *one[:4],
        count,
    )
    return found
