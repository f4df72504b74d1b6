"""One pass over a due tuning job, in one transaction: ask for trials, start them, stop them, end.

In this order, as locks are: the tuning job, what it takes to create custom jobs, then the custom jobs to be cancelled.
"""

import asyncio
import logging
from collections import Counter
from dataclasses import replace
from functools import partial

from app.core.errors import DomainError, LimitExceeded
from app.core.job_errors import INVALID_ARGUMENT, RESOURCE_EXHAUSTED
from app.core.reports import metrics_of
from app.core.scope import Scope
from app.core.search_space import space_of
from app.core.study import Study
from app.core.trials import infeasible, laboratory
from app.core.tuning import Trial, TrialState, Tuning
from app.core.world import World
from app.store import tuning as store
from app.store import worlds
from app.store.db import Tx
from app.usecases import jobs
from app.usecases.attempts import attempt, told
from app.usecases.search import Search, Tried
from app.usecases.trial_jobs import job_of, whole

BATCH = 10
"""The most trials that one transaction starts, so that no lock is held for long."""
log = logging.getLogger(__name__)


async def pass_over(tx: Tx, world_name: str, epoch: int | None = None) -> Counter[str] | None:
    """Handle the tuning job that has been due the longest; None when none is, or the world is not ours to move.

    `epoch` is the caller's lease on the world, as in a pass over a cluster.
    """
    world = await worlds.share(tx, world_name)
    if world is None or not world.may_be_moved(epoch):
        return None
    claimed = await store.claim_due(tx, world_name, world.now, wait=epoch is not None)
    if claimed is None:
        return None
    return await attempt(
        tx, partial(_handle, tx, world, claimed), lambda error: _postpone(tx, world, claimed.tuning, error)
    )


async def _postpone(tx: Tx, world: World, tuning: Tuning, error: Exception) -> Counter[str]:
    facts = {"world": world.name, "tuning_job": tuning.tuning_id}
    log.error("pass over a tuning job failed", exc_info=error, extra={"facts": facts})
    scope = Scope(world.name, tuning.account, tuning.region)
    await store.postpone(tx, scope, tuning.tuning_id, told(error))
    return Counter(failed=1)


async def wake(tx: Tx, world: World, scope: Scope, tuning_id: str) -> int:
    """A trial's job has ended: the tuning job is due."""
    await store.hurry(tx, scope, tuning_id, world.now)
    return 1


async def _handle(tx: Tx, world: World, claimed: store.Claimed) -> Counter[str]:
    tuning = claimed.tuning
    scope = Scope(world.name, tuning.account, tuning.region)
    study = await _study(tx, world, scope, claimed)
    study.move()
    await _start(tx, scope, world, study)
    for trial in study.stopped:
        assert trial.job_id is not None
        await jobs.cancel(tx, scope, trial.job_id)
    due_at = study.conclude()
    if study.removed:
        await store.remove_trials(tx, scope, tuning.tuning_id, study.removed)
    await store.save_trials(tx, scope, tuning.tuning_id, study.changed.values())
    await store.save(tx, world.name, study.tuning, due_at)
    return Counter(trials=len(study.changed), passes=1)


async def _study(tx: Tx, world: World, scope: Scope, claimed: store.Claimed) -> Study:
    tuning = claimed.tuning
    lab = laboratory(tuning, world.seed, whole(tuning, world))
    if lab.rule is None:
        trials = await store.outlines(tx, scope, tuning.tuning_id)
    else:
        trials = (await store.trials(tx, scope, [tuning.tuning_id]))[tuning.tuning_id]
    active = {trial.job_id: trial.number for trial in trials if trial.open and trial.job_id is not None}
    found = await store.runs(tx, scope, list(active))
    runs = {active[job_id]: run for job_id, run in found.items()}
    return Study(tuning, trials, runs, claimed.due_at or world.now, lab, world.timings.delays)


async def _start(tx: Tx, scope: Scope, world: World, study: Study) -> None:
    """Give parameters and a job to the trials that are to have them, as many as one transaction may."""
    tuning = study.tuning
    search = Search(
        tuning.study_spec.get("algorithm", ""),
        space_of(tuning.study_spec),
        metrics_of(tuning.study_spec),
        world.seed,
        tuning.tuning_id,
    )
    ready = study.ready()[:BATCH]
    if not ready:
        return
    history = [_tried(trial) for trial in study.trials if trial.parameters is not None]
    found = await asyncio.to_thread(search.suggest, ready[0].number, len(ready), history)
    for trial, values in zip(ready, found, strict=False):
        study.put(await _started(tx, scope, world, tuning, replace(trial, parameters=values)))
    if len(found) < len(ready):
        study.exhaust()


def _tried(trial: Trial) -> Tried:
    return Tried(
        trial.parameters or {},
        None if trial.final is None else trial.final.metrics,
        failed=trial.outcome == TrialState.INFEASIBLE,
    )


async def _started(tx: Tx, scope: Scope, world: World, tuning: Tuning, trial: Trial) -> Trial:
    """The trial with its job; infeasible when that cannot be made any more."""
    try:
        async with tx.transaction():
            job = await jobs.create(tx, scope, job_of(tuning, trial.number, trial.parameters or {}))
    except DomainError as refused:
        code = RESOURCE_EXHAUSTED if isinstance(refused, LimitExceeded) else INVALID_ARGUMENT
        over = replace(trial, started_at=world.now, ended_at=world.now)
        return infeasible(over, refused.message, code)
    return replace(trial, started_at=job.created_at, job_id=job.job_id)
