"""Hyperparameter tuning jobs and their trials: facts, and what follows from them (VX-21)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.core.job import JobState
from app.core.job_errors import CANCELLED, INTERNAL
from app.core.reports import Measurement, metrics_of
from app.core.search_space import Values
from app.core.times import WorldTime

CANCEL_MESSAGE = "The hyperparameter tuning job was cancelled."


class TrialState(StrEnum):
    """The states of a trial, all of which it can be in."""

    REQUESTED = "REQUESTED"
    ACTIVE = "ACTIVE"
    STOPPING = "STOPPING"
    SUCCEEDED = "SUCCEEDED"
    INFEASIBLE = "INFEASIBLE"


@dataclass(frozen=True, slots=True)
class Tuning:
    """What is known of a tuning job. `number` counts those of the project in the region. A fact is a timestamp."""

    account: str
    region: str
    tuning_id: str
    number: int
    display_name: str
    study_spec: Mapping[str, Any]
    trial_job_spec: Mapping[str, Any]
    max_trials: int
    parallel_trials: int
    max_failed: int
    """Zero leaves it to the service."""
    labels: Mapping[str, str]
    encryption: str | None
    pipeline_id: str | None
    home_account: str
    home_region: str
    """Where the cluster that its labels name is looked for first."""
    created_at: WorldTime
    updated_at: WorldTime
    started_at: WorldTime | None = None
    exhausted_at: WorldTime | None = None
    """Since when there is nothing left to try."""
    cancel_at: WorldTime | None = None
    ended_at: WorldTime | None = None
    outcome: str | None = None
    error_code: int | None = None
    error_message: str | None = None
    deleted_at: WorldTime | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """What is known of a trial. From `started_at` on it has parameters and a job; `stop_at` says since when it is
    to stop. `measurements` is None as long as what it reports is computed; `final` is the one of them that counts."""

    number: int
    requested_at: WorldTime
    parameters: Values | None = None
    job_id: str | None = None
    started_at: WorldTime | None = None
    stop_at: WorldTime | None = None
    ended_at: WorldTime | None = None
    outcome: str | None = None
    reason: str | None = None
    """Why it is infeasible, and `error_code` of what kind that is, as in google.rpc.Code."""
    error_code: int | None = None
    final: Measurement | None = None
    measurements: tuple[Measurement, ...] | None = None

    @property
    def open(self) -> bool:
        return self.ended_at is None


def state(tuning: Tuning) -> JobState:
    """The tuning job's state; it runs since it asked for its first trials (chosen)."""
    if tuning.outcome is not None:
        return JobState(tuning.outcome)
    if tuning.cancel_at is not None:
        return JobState.CANCELLING
    return JobState.PENDING if tuning.started_at is None else JobState.RUNNING


def trial_state(trial: Trial) -> TrialState:
    if trial.outcome is not None:
        return TrialState(trial.outcome)
    if trial.stop_at is not None:
        return TrialState.STOPPING
    return TrialState.REQUESTED if trial.started_at is None else TrialState.ACTIVE


def failure_limit(tuning: Tuning) -> int:
    """So many trials must fail for the job to fail; more than half of all when that is left to the service (chosen)."""
    return tuning.max_failed or tuning.max_trials // 2 + 1


def failures(trials: Iterable[Trial]) -> list[Trial]:
    """The trials that have failed by themselves; who was stopped has not."""
    return [trial for trial in trials if trial.outcome == TrialState.INFEASIBLE and trial.stop_at is None]


def winding_down(tuning: Tuning, trials: Sequence[Trial]) -> bool:
    """True when the trials that run are to be stopped, too."""
    return tuning.cancel_at is not None or len(failures(trials)) >= failure_limit(tuning)


def wanted(tuning: Tuning, trials: Sequence[Trial]) -> int:
    """How many trials to ask for now."""
    if winding_down(tuning, trials) or tuning.exhausted_at is not None:
        return 0
    running = sum(trial.open for trial in trials)
    return max(0, min(tuning.parallel_trials - running, tuning.max_trials - len(trials)))


@dataclass(frozen=True, slots=True)
class End:
    """How a tuning job ends; the error is a code of google.rpc.Code and its message."""

    outcome: JobState
    error: tuple[int, str] | None = None


def end(tuning: Tuning, trials: Sequence[Trial]) -> End | None:
    """How the job ends now, or None while a trial is open or wanted."""
    if any(trial.open for trial in trials) or wanted(tuning, trials):
        return None
    if tuning.cancel_at is not None:
        return End(JobState.CANCELLED, (CANCELLED, CANCEL_MESSAGE))
    limit, failed = failure_limit(tuning), failures(trials)
    if len(failed) < limit and any(trial.outcome == TrialState.SUCCEEDED for trial in trials):
        return End(JobState.SUCCEEDED)
    last = max(failed, key=lambda trial: (trial.ended_at, trial.number))
    told = f"{len(failed)} trials failed; the limit is {limit}. The last, trial {last.number}: {last.reason}"
    return End(JobState.FAILED, (last.error_code or INTERNAL, told))


def best_trial(tuning: Tuning, trials: Iterable[Trial]) -> Trial | None:
    """The first of the trials that are best by the first metric; None while none has succeeded."""
    metric = metrics_of(tuning.study_spec)[0]
    sign = 1 if metric.maximize else -1
    done = [(sign * trial.final.metrics[metric.metric_id], trial) for trial in trials if trial.final is not None]
    return max(done, key=lambda one: one[0])[1] if done else None
