"""One pass over due jobs: claim, think, save; one transaction for state, capacity, ledger and log.

A batch is the jobs of one account and region that are due at one instant, so that they meet the same machines.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from app import catalog
from app.core.binding import is_hole
from app.core.capacity import Stock
from app.core.faults import Faults
from app.core.gang import Gang, Surroundings
from app.core.job import Job, JobState
from app.core.job_errors import DEADLINE_EXCEEDED
from app.core.job_spec import pools
from app.core.metering import settle
from app.core.replica import Replica, Worker, next_due
from app.core.running import is_over, work
from app.core.running import next_due as job_next_due
from app.core.scope import Scope
from app.core.times import WorldTime, to_millis
from app.core.world import World
from app.store import capacity, executions, faults, jobs, ledger, logs, replicas, wakes, workloads, worlds
from app.store.db import Tx
from app.store.fleet_jobs import JobKey
from app.store.jobs import Claimed
from app.store.workloads import CANCEL, FINISH, HOLE
from app.usecases import guests
from app.usecases.attempts import attempt, told
from app.usecases.machine_prices import machine_rates
from app.usecases.machines import machine
from app.usecases.provisioning import Policy

BATCH_JOBS = 50
BATCH_REPLICAS = 2000
"""The most jobs and replicas that one transaction moves, so that no lock is held for long; one job goes always."""
log = logging.getLogger(__name__)


class Loaded(NamedTuple):
    """A claimed job and its workers as they were."""

    claimed: Claimed
    replicas: list[Replica]


async def pass_over(tx: Tx, world_name: str, policy: Policy, epoch: int | None = None) -> Counter[str] | None:
    """Handle the jobs that have been due the longest; None when nothing is due, or the world is not ours to move.

    `epoch` is the caller's lease on the world, as in a pass over a cluster.
    """
    world = await worlds.share(tx, world_name)
    if world is None or not world.may_be_moved(epoch):
        return None
    claimed = await jobs.claim_due(tx, world_name, world.now, BATCH_JOBS, wait=epoch is not None)
    if not claimed:
        return None
    scope = Scope(world_name, claimed[0].job.account, claimed[0].job.region)
    batch = _bounded(claimed)
    return await attempt(
        tx, partial(_handle, tx, world, scope, batch, policy), partial(_one_by_one, tx, world, scope, batch, policy)
    )


def _bounded(claimed: Sequence[Claimed]) -> list[Claimed]:
    """As many of the jobs, from the first, as there may be replicas in a batch."""
    batch: list[Claimed] = []
    count = 0
    for one in claimed:
        count += sum(pool.replicas for pool in pools(one.job.spec))
        if batch and count > BATCH_REPLICAS:
            break
        batch.append(one)
    return batch


async def _one_by_one(
    tx: Tx, world: World, scope: Scope, batch: Sequence[Claimed], policy: Policy, error: Exception
) -> Counter[str]:
    """One of them is wrong: each alone, so that it stops no other."""
    log.warning("pass over jobs failed, each is tried alone", extra={"facts": {"error": str(error)}})
    done: Counter[str] = Counter()
    for one in batch:
        done += await attempt(tx, partial(_handle, tx, world, scope, [one], policy), partial(_postpone, tx, scope, one))
    return done


async def _postpone(tx: Tx, scope: Scope, one: Claimed, error: Exception) -> Counter[str]:
    facts = {"world": scope.world, "job": one.job.job_id}
    log.error("pass over a job failed", exc_info=error, extra={"facts": facts})
    await jobs.postpone(tx, scope, one.job.job_id, told(error))
    return Counter(failed=1)


async def _handle(tx: Tx, world: World, scope: Scope, batch: Sequence[Claimed], policy: Policy) -> Counter[str]:
    at = batch[0].due_at or world.now
    loaded = await load(tx, scope, batch)
    rules = await faults.lock_rules(tx, world.name)
    around = await surroundings(tx, world, scope, loaded, policy, Faults(rules, world.seed))
    gangs = [work(one.claimed.job, one.replicas, at, around) for one in loaded]
    await save(tx, scope, world, loaded, gangs)
    for gang in gangs:
        await logs.trim(tx, scope, gang.job.job_id, gang.job.log_seq, policy.log_lines_per_job)
    await _save_bills(tx, scope, gangs)
    await _save_around(tx, scope, around)
    moved = [(one.claimed.job, one.replicas, gang) for one, gang in zip(loaded, gangs, strict=True)]
    await guests.depart(tx, scope.world, moved, at)
    await _leave_wakes(tx, scope, loaded, gangs)
    return Counter(jobs=len(gangs), passes=1)


async def load(tx: Tx, scope: Scope, batch: Sequence[Claimed]) -> list[Loaded]:
    """The jobs with their workers."""
    found = await replicas.of_jobs(tx, scope, [one.job.job_id for one in batch])
    return [Loaded(one, found[one.job.job_id]) for one in batch]


async def surroundings(
    tx: Tx, world: World, scope: Scope, loaded: Sequence[Loaded], policy: Policy, struck: Faults
) -> Surroundings:
    """Locks, in this order everywhere: the jobs and the fault rules (already held), the pools of machines."""
    types = sorted({replica.machine_type for one in loaded for replica in one.replicas})
    stock = Stock(await capacity.lock_pools(tx, world.name, scope.region, types), types)
    return Surroundings(
        seed=world.seed,
        timings=world.timings,
        stock=stock,
        faults=struck,
        machines={name: machine(name) for name in types},
        zones=catalog.vertex_region(scope.region).zones,
        error_delay=policy.error_delay,
        executes=policy.executes,
    )


async def save(tx: Tx, scope: Scope, world: World, loaded: Sequence[Loaded], gangs: Sequence[Gang]) -> None:
    """Save what has changed of jobs and workers, when they next need looking at, and what they wrote."""
    delays = world.timings.delays
    changed = {
        gang.job.job_id: [new for old, new in zip(one.replicas, gang.replicas, strict=True) if new is not old]
        for one, gang in zip(loaded, gangs, strict=True)
    }
    await replicas.save(tx, scope, changed)
    rows: list[tuple[Job, WorldTime | None]] = []
    written: list[logs.Written] = []
    for gang in gangs:
        job, lines = gang.job, [] if gang.job.deleted_at else gang.lines
        written += [logs.Written(scope, job.job_id, job.log_seq + place, line) for place, line in enumerate(lines, 1)]
        gang.become(log_seq=job.log_seq + len(lines))
        times = (job_next_due(gang), *(next_due(replica, delays) for replica in gang.replicas))
        rows.append((gang.job, min((time for time in times if time is not None), default=None)))
    await logs.append(tx, written)
    await executions.want(tx, scope, [(gang.job.job_id, one) for gang in gangs for one in _begun(gang)])
    await jobs.save(tx, scope.world, rows)
    over = [gang.job.job_id for gang in gangs if gang.job.deleted_at is not None and is_over(gang)]
    if over:
        await jobs.forget(tx, scope, over)


def _begun(gang: Gang) -> list[Replica]:
    """The workers whose programs have begun in this pass, and not ended in it, and are to run really."""
    some = ((gang.replicas[place], run) for place, run in gang.executed.items())
    return [one for one, run in some if one.status is Worker.RUNNING and one.runs == run]


async def _save_bills(tx: Tx, scope: Scope, gangs: Sequence[Gang]) -> None:
    closed: list[ledger.Owned] = []
    opened: list[ledger.Owned] = []
    for gang in gangs:
        over, new = settle(gang.opened, gang.closed)
        closed += [(gang.job.job_id, one) for one in over]
        opened += [(gang.job.job_id, one) for one in new]
    await ledger.close_all(tx, scope, closed)
    if opened:
        goods = {gang.goods(replica) for gang in gangs for replica in gang.replicas}
        await ledger.insert_all(tx, scope, opened, await machine_rates(tx, scope, goods))


async def _save_around(tx: Tx, scope: Scope, around: Surroundings) -> None:
    stock, struck = around.stock, around.faults
    if stock.deltas:
        await capacity.count(tx, scope.world, scope.region, stock)
    if stock.freed:
        await capacity.leave_wake(tx, scope.world, scope.region, stock.freed)
    if struck.counted:
        await faults.record(tx, scope.world, struck.counted, struck.hits, struck.hits_before)


def _lacks_nodes(gang: Gang) -> bool:
    """Some of the workers wait for a cluster's node in the place of a lost one."""
    job = gang.job
    return job.on_cluster and job.admitted_at is not None and any(is_hole(replica) for replica in gang.replicas)


async def _leave_wakes(tx: Tx, scope: Scope, loaded: Sequence[Loaded], gangs: Sequence[Gang]) -> None:
    """Last of all: fleets in which something came free, or is needed again, and studies whose trials have ended, or
    have begun to run: a study may stop a trial for what it reports."""
    left: dict[tuple[Scope, str, str], WorldTime] = {}
    told: list[tuple[JobKey, dict[str, Any]]] = []
    for one, gang in zip(loaded, gangs, strict=True):
        before, job = one.claimed.job, gang.job
        ended = job.ended_at is not None and before.ended_at is None
        home = Scope(scope.world, job.fleet_account, job.fleet_region)
        gave_up = ended or (job.admitted_at is None and before.admitted_at is not None)
        lacks = _lacks_nodes(gang)
        if gave_up or lacks:
            _note(left, (home, wakes.FLEET, job.fleet), gang.at)
        if job.is_scheduled and (ended or lacks):
            what = _ending(job) if ended else {"kind": HOLE}
            told.append(((job.account, job.region, job.job_id), {"at": to_millis(gang.at)} | what))
        if job.tuning_id is not None and (ended or _has_begun(one, gang)):
            _note(left, (scope, wakes.STUDY, job.tuning_id), (job.shown_at if ended else None) or gang.at)
    await workloads.tell_of_jobs(tx, scope.world, told)
    for (home, kind, subject), at in sorted(left.items(), key=lambda item: (item[0][1:], str(item[0][0]))):
        await wakes.leave(tx, home, kind, subject, at)


def _ending(job: Job) -> dict[str, Any]:
    """What the scheduler is told of the end, and why it came (FS-4): whoever withdraws what it has reserved for waits
    for the next (FS-18)."""
    if job.outcome == JobState.CANCELLED:
        return {"kind": CANCEL}
    if job.outcome == JobState.SUCCEEDED:
        return {"kind": FINISH}
    timed_out = job.error_code == DEADLINE_EXCEEDED
    return {"kind": FINISH, "reason": "timed-out" if timed_out else job.failure or "failed"}


def _has_begun(one: Loaded, gang: Gang) -> bool:
    """The program of the primary replica runs, or runs once more."""
    return gang.replicas[0].run_at not in (None, one.replicas[0].run_at)


def _note(left: dict[tuple[Scope, str, str], WorldTime], key: tuple[Scope, str, str], at: WorldTime) -> None:
    left[key] = min(at, left.get(key, at))
