"""Hyperparameter tuning jobs as requests see them: create, get, list, cancel, delete; and what a real program reports
(VX-21)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from app.core.errors import FailedPrecondition, Invalid, NotFound
from app.core.ids import job_id
from app.core.job import FINAL, JobState
from app.core.job_labels import Home
from app.core.reports import Measurement
from app.core.scope import Scope
from app.core.search_space import Value, applied
from app.core.study_problems import Problem, problems
from app.core.trials import Run, laboratory
from app.core.tuning import Trial, TrialState, Tuning, state, trial_state
from app.core.world import World
from app.store import fleets
from app.store import tuning as store
from app.store.db import Tx
from app.usecases import jobs, search
from app.usecases.clusters import hold_world, no_world, world_of
from app.usecases.trial_jobs import any_job_of, whole

MOST_LISTED = 1000


@dataclass(frozen=True, slots=True)
class TuningIntent:
    """What a request wants; the specs are a StudySpec and a CustomJobSpec in canonical JSON."""

    display_name: str
    study_spec: Mapping[str, Any]
    trial_job_spec: Mapping[str, Any]
    max_trials: int
    parallel_trials: int
    max_failed: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    encryption: str | None = None
    pipeline_id: str | None = None
    home: Home = field(default_factory=Home)


class TrialView(NamedTuple):
    """A trial as it is told: its parameters in the order of the study, and all that it has reported."""

    trial: Trial
    state: TrialState
    parameters: Sequence[tuple[str, Value]]
    measurements: Sequence[Measurement]


class TuningView(NamedTuple):
    """A tuning job as it is told. `error` is a code of google.rpc.Code and its message."""

    tuning: Tuning
    state: JobState
    error: tuple[int, str] | None
    trials: Sequence[TrialView]


def study_problems(intent: TuningIntent) -> list[Problem]:
    """What is wrong with it, field by field, as far as it can be told without the world."""
    return problems(
        {
            "studySpec": intent.study_spec,
            "trialJobSpec": intent.trial_job_spec,
            "maxTrialCount": intent.max_trials,
            "parallelTrialCount": intent.parallel_trials,
            "maxFailedTrialCount": intent.max_failed,
        }
    )


async def create(tx: Tx, scope: Scope, intent: TuningIntent) -> TuningView:
    """Write down what is wanted; a pass asks for the trials.

    Invalid for a study or a trial's job that cannot be; LimitExceeded when one trial's job needs more than a quota;
    FailedPrecondition without what its search needs.
    """
    if found := study_problems(intent):
        raise Invalid(" ".join(f"{problem.field}: {problem.description}" for problem in found))
    search.check(intent.study_spec.get("algorithm", ""))
    world = await hold_world(tx, scope)
    tuning = Tuning(
        account=scope.account,
        region=scope.region,
        tuning_id="",
        number=0,
        display_name=intent.display_name,
        study_spec=intent.study_spec,
        trial_job_spec=intent.trial_job_spec,
        max_trials=intent.max_trials,
        parallel_trials=intent.parallel_trials,
        max_failed=intent.max_failed,
        labels=intent.labels,
        encryption=intent.encryption,
        pipeline_id=intent.pipeline_id,
        home_account=intent.home.account,
        home_region=intent.home.region,
        created_at=world.now,
        updated_at=world.now,
    )
    await jobs.check_now(tx, scope, any_job_of(tuning), world)
    number = await fleets.number_job(tx, scope)
    named = replace(tuning, tuning_id=job_id(world.seed, scope.account, scope.region, number), number=number)
    await store.insert(tx, scope.world, named, world.now)
    return TuningView(named, state(named), None, ())


async def get(tx: Tx, scope: Scope, tuning_id: str) -> TuningView:
    """The tuning job and its trials. NotFound."""
    found = await store.seen(tx, scope, tuning_id)
    if found is None:
        raise no_world(scope)
    world, tuning = found
    if tuning is None:
        raise _unknown(scope, tuning_id)
    [view] = await _views(tx, scope, world, [tuning])
    return view


async def listed(tx: Tx, scope: Scope, before: int | None = None, limit: int = MOST_LISTED) -> list[TuningView]:
    """The project's tuning jobs in the region, the newest first: those with a `number` below `before` if that is
    given."""
    world = await world_of(tx, scope)
    return await _views(tx, scope, world, await store.listed(tx, scope, before, limit))


async def cancel(tx: Tx, scope: Scope, tuning_id: str) -> None:
    """Ask for the job's end, and its trials'; of one that has ended, or is being cancelled, nothing is asked."""
    world = await hold_world(tx, scope)
    tuning = (await _locked(tx, scope, tuning_id)).tuning
    if tuning.ended_at is None and tuning.cancel_at is None:
        await store.save(tx, scope.world, replace(tuning, cancel_at=world.now, updated_at=world.now), world.now)


async def delete(tx: Tx, scope: Scope, tuning_id: str) -> None:
    """Delete the tuning job; the custom jobs of its trials stay (chosen). FailedPrecondition while it is active."""
    world = await hold_world(tx, scope)
    tuning = (await _locked(tx, scope, tuning_id)).tuning
    if state(tuning) not in FINAL:
        raise FailedPrecondition(
            f"The hyperparameter tuning job {tuning_id} is in state {state(tuning)}, and only one that has ended can "
            "be deleted. Cancel it first, and wait until it has ended."
        )
    await store.save(tx, scope.world, replace(tuning, deleted_at=world.now), None)
    await store.remove_trials(tx, scope, tuning_id)


async def report(tx: Tx, scope: Scope, tuning_id: str, number: int, measurements: Sequence[Measurement]) -> None:
    """What the really running program of a trial has reported, in addition to what it had. From the first call on, be
    it of nothing, nothing is simulated for the trial."""
    world = await hold_world(tx, scope)
    await _locked(tx, scope, tuning_id)
    trials = (await store.trials(tx, scope, [tuning_id]))[tuning_id]
    trial = next((one for one in trials if one.number == number), None)
    if trial is None or not trial.open:
        return
    told = replace(trial, measurements=(*(trial.measurements or ()), *measurements))
    await store.save_trials(tx, scope, tuning_id, [told])
    await store.hurry(tx, scope, tuning_id, world.now)


async def _locked(tx: Tx, scope: Scope, tuning_id: str) -> store.Claimed:
    found = await store.lock(tx, scope, tuning_id)
    if found is None:
        raise _unknown(scope, tuning_id)
    return found


def _unknown(scope: Scope, tuning_id: str) -> NotFound:
    name = f"projects/{scope.account}/locations/{scope.region}/hyperparameterTuningJobs/{tuning_id[:64]}"
    return NotFound(f"The hyperparameter tuning job {name} was not found. List those of this location.")


async def _views(tx: Tx, scope: Scope, world: World, some: Sequence[Tuning]) -> list[TuningView]:
    trials = await store.trials(tx, scope, [tuning.tuning_id for tuning in some])
    open_jobs = [one.job_id for found in trials.values() for one in found if one.open and one.job_id is not None]
    runs = await store.runs(tx, scope, open_jobs)
    return [_view(tuning, trials[tuning.tuning_id], runs, world) for tuning in some]


def _view(tuning: Tuning, trials: Sequence[Trial], runs: Mapping[str, Run], world: World) -> TuningView:
    lab = laboratory(tuning, world.seed, whole(tuning, world))
    told = [
        TrialView(
            trial,
            trial_state(trial),
            [
                (parameter.parameter_id, value)
                for parameter, value in applied(lab.program.space, trial.parameters or {})
            ],
            lab.reported(trial, runs.get(trial.job_id or "", Run()), world.now),
        )
        for trial in trials
    ]
    error = None if tuning.error_code is None else (tuning.error_code, tuning.error_message or "")
    return TuningView(tuning, state(tuning), error, told)
