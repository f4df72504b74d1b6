"""The workers of custom jobs: rows in and out as core values."""

from collections.abc import Iterable, Mapping, Sequence

from app.core.asking import Waiting
from app.core.replica import Replica, Worker
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import Shape, insert_rows

SHAPE = Shape(Replica)
_STATUS = SHAPE.columns.index("status")
_PLACE = ("pool", "ordinal")
_KEY = ("world", "account", "region", "job_id", *_PLACE)
_CHANGING = [column for column in SHAPE.columns if column not in (*_PLACE, "machine_type")]
_ARRAYS = ", ".join(f"${5 + n}::{SHAPE.types[column]}[]" for n, column in enumerate(SHAPE.columns))
# An upsert finds each row by its key, whatever the planner believes of a table that was empty a moment ago.
SAVE = f"""INSERT INTO job_replica ({", ".join(_KEY[:4])}, {SHAPE.select})
    SELECT $1, $2, $3, u.* FROM unnest($4::text[], {_ARRAYS}) AS u
    ON CONFLICT ({", ".join(_KEY)}) DO UPDATE
        SET {", ".join(f"{column} = excluded.{column}" for column in _CHANGING)}"""
OF_JOBS = f"""SELECT job_id, {SHAPE.select} FROM job_replica
    WHERE world = $1 AND account = $2 AND region = $3 AND job_id = ANY($4) ORDER BY job_id, pool, ordinal"""
# Those of jobs on clusters wait for a node.
WAITING = """SELECT r.account, r.job_id, j.strategy, count(*), j.number
    FROM job_replica r JOIN custom_job j USING (world, account, region, job_id)
    WHERE r.world = $1 AND r.region = $2 AND r.machine_type = $3 AND r.waiting_since IS NOT NULL
        AND (j.fleet = '' OR j.fleet LIKE 'pool:%')
    GROUP BY r.account, r.job_id, j.strategy, j.number ORDER BY min(r.waiting_since), r.account, j.number"""
WAKE = """UPDATE job_replica SET launch_after = greatest(waiting_since, $5)
    WHERE world = $1 AND account = $2 AND region = $3 AND job_id = $4 AND waiting_since IS NOT NULL
        AND stop_at IS NULL"""


def _replica(row: Iterable[object]) -> Replica:
    values = list(row)
    values[_STATUS] = Worker(str(values[_STATUS]))
    return Replica(*values)  # type: ignore[arg-type]


async def insert(tx: Tx, scope: Scope, job_id: str, new: Iterable[Replica]) -> None:
    head = (scope.world, scope.account, scope.region, job_id)
    records = [(*head, *SHAPE.values(replica)) for replica in new]
    await insert_rows(tx, "job_replica", (*_KEY[:4], *SHAPE.columns), records)


async def of_jobs(tx: Tx, scope: Scope, job_ids: Sequence[str]) -> dict[str, list[Replica]]:
    """The workers of the jobs, by pool and ordinal."""
    found: dict[str, list[Replica]] = {job_id: [] for job_id in job_ids}
    for job_id, *values in await tx.fetch(OF_JOBS, scope.world, scope.account, scope.region, list(job_ids)):
        found[job_id].append(_replica(values))
    return found


async def save(tx: Tx, scope: Scope, changed: Mapping[str, Sequence[Replica]]) -> None:
    """Save the workers that have changed, by job."""
    rows = [(job_id, *SHAPE.values(replica)) for job_id, some in changed.items() for replica in some]
    if rows:
        job_ids, *columns = zip(*rows, strict=True)
        await tx.execute(SAVE, scope.world, scope.account, scope.region, list(job_ids), *map(list, columns))


async def waiting(tx: Tx, world: str, region: str, machine_type: str) -> list[Waiting]:
    """The jobs with workers that wait for a machine of the type, those first that have waited the longest."""
    return [Waiting(*row) for row in await tx.fetch(WAITING, world, region, machine_type)]


async def wake(tx: Tx, scope: Scope, job_id: str, at: WorldTime) -> None:
    """The job's waiting workers may ask for machines at `at`."""
    await tx.execute(WAKE, scope.world, scope.account, scope.region, job_id, at)
