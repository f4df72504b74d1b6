"""Programs of jobs that really run: taken by an executor, heard, and ended or lost (VX-16)."""

from collections.abc import Sequence
from typing import NamedTuple

from app.core.errors import DomainError
from app.core.executing import Held, Start
from app.core.hypertune import measurements
from app.core.job_faults import exits
from app.core.log_lines import from_output
from app.core.replica import Replica, Worker
from app.core.reports import Measurement
from app.core.scope import Scope
from app.core.times import WorldTime, millis
from app.core.values import evolve
from app.store import executions, jobs, logs, replicas, worlds
from app.store.db import Database, Tx
from app.usecases import tuning

EXECUTOR = "executor"
"""The kind of the processes that run programs, and what a worker is lost to when its executor is gone."""
BATCH = 100


class Output(NamedTuple):
    """A line that a program wrote, or that is told of it."""

    severity: str
    text: str


async def claim(tx: Tx, executor: str, number: int, limit: int) -> list[tuple[Held, Start]]:
    """Take up to so many of the runs that wait, as the executor's claim `number`, and nobody else will have them."""
    found = await executions.claim(tx, executor, number, limit)
    return [
        (Held(one.world, one.job.account, one.job.region, one.job.job_id, one.pool, one.ordinal, executor, number), one)
        for one in found
    ]


async def held(tx: Tx, executor: str) -> dict[Held, bool]:
    """The executor's runs; False for those that are to be stopped."""
    return await executions.held(tx, executor)


async def tell(tx: Tx, one: Held, lines: Sequence[Output], keep: int) -> None:
    """Add the program's lines to its job's log, as of now, which keeps the newest `keep`; a run that is no longer ours
    has nothing to tell."""
    world = await worlds.keep(tx, one.world)
    if world is None or not await executions.is_held(tx, one):
        return
    last = await executions.number_lines(tx, one, len(lines))
    if last is None:
        return
    first = last - len(lines) + 1
    task = f"workerpool{one.pool}-{one.ordinal}"
    written = [
        logs.Written(one.scope, one.job_id, first + place, from_output(world.now, task, line.text, line.severity))
        for place, line in enumerate(lines)
    ]
    await logs.append(tx, written)
    await logs.trim(tx, one.scope, one.job_id, last, keep)


async def report(
    tx: Tx, one: Held, start: Start, lines: Sequence[str], reported: int, last: Measurement | None
) -> list[Measurement]:
    """Tell the tuning job what the trial's program wrote to its metric file, and that it is a real one; what was told.
    Nothing, when there is no such trial any more."""
    job, world = start.job, await worlds.keep(tx, one.world)
    if job.tuning_id is None or job.trial_id is None or world is None or not await executions.is_held(tx, one):
        return []
    found = measurements(lines, reported, last, max(0, millis(start.run_at, world.now)))
    try:
        async with tx.transaction():
            await tuning.report(tx, one.scope, job.tuning_id, int(job.trial_id), found)
    except DomainError:  # the tuning job was deleted
        return []
    return found


async def ended(tx: Tx, one: Held, code: int) -> None:
    """The program has exited: so does the worker, now, unless its run is over anyway."""
    await _conclude(tx, one, code)


async def lose(tx: Tx, one: Held) -> bool:
    """Whoever ran the program is gone: the worker is lost, as with its machine (VX-7). False: it was no longer so."""
    return await _conclude(tx, one, None)


async def lose_orphans(db: Database, *, waiting: bool) -> bool:
    """Lose the runs whose executor lives no more, with `waiting` also those that no executor is there for; False when
    there were none."""
    found = await db.run(executions.orphans, EXECUTOR, BATCH, waiting=waiting)
    for one in found:
        await db.run(lose, one)
    return bool(found)


async def _conclude(tx: Tx, one: Held, code: int | None) -> bool:
    world = await worlds.share(tx, one.world)
    if world is None:
        return False
    job = await jobs.lock(tx, one.scope, one.job_id)
    run = await executions.remove(tx, one)
    if job is None or run is None:
        return False
    found = (await replicas.of_jobs(tx, one.scope, [one.job_id]))[one.job_id]
    for replica in found:
        if (replica.pool, replica.ordinal, replica.runs) == (one.pool, one.ordinal, run):
            await _save(tx, one.scope, one.job_id, replica, code, world.now)
    return True


async def _save(tx: Tx, scope: Scope, job_id: str, replica: Replica, code: int | None, now: WorldTime) -> None:
    if replica.status is not Worker.RUNNING:
        return
    if code is not None:
        over = exits(replica, now, code)
    elif replica.lost_at is None or replica.lost_at > now:
        over = evolve(replica, lost_at=now, lost_to=EXECUTOR)
    else:
        return
    await replicas.save(tx, scope, {job_id: [over]})
    await jobs.hurry(tx, scope, job_id, now)
