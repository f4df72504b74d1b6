"""Tuning jobs and pipelines without any wire: through the use cases, on a frozen clock."""

from collections.abc import Mapping
from typing import Any

from app.usecases import pipelines, quotas, tuning
from app.usecases.pipelines import PipelineIntent, PipelineView
from app.usecases.tuning import TrialView, TuningIntent, TuningView
from tests.core.studies import study
from tests.jobs import Driver, spec

CUSTOM = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"
CPUS = "custom_model_training_cpus"


def intent(
    study_spec: Mapping[str, Any] | None = None, job: Mapping[str, Any] | None = None, **facts: Any
) -> TuningIntent:
    """Four trials, two at a time, of a program that runs for ten seconds."""
    defaults: dict[str, Any] = {"display_name": "tune", "max_trials": 4, "parallel_trials": 2}
    return TuningIntent(study_spec=study_spec or study(), trial_job_spec=job or spec(), **(defaults | facts))


async def create(driver: Driver, *args: Any, **facts: Any) -> str:
    return (await driver.db.run(tuning.create, driver.scope, intent(*args, **facts))).tuning.tuning_id


async def get(driver: Driver, tuning_id: str) -> TuningView:
    return await driver.db.run(tuning.get, driver.scope, tuning_id)


async def state(driver: Driver, tuning_id: str) -> str:
    return (await get(driver, tuning_id)).state.removeprefix("JOB_STATE_")


async def trials(driver: Driver, tuning_id: str) -> str:
    """The first letter of each trial's state; `T` for STOPPING."""
    told = (await get(driver, tuning_id)).trials
    return "".join("T" if trial.state == "STOPPING" else trial.state[0] for trial in told)


async def job_id(driver: Driver, tuning_id: str, number: int) -> str:
    """The custom job of a trial."""
    found = (await get(driver, tuning_id)).trials[number - 1].trial.job_id
    assert found is not None
    return found


def value(trial: TrialView) -> float:
    """What it measured in the end, of the first metric."""
    assert trial.trial.final is not None
    return next(iter(trial.trial.final.metrics.values()))


async def pipeline(driver: Driver, task: Any = "custom", inputs: Mapping[str, Any] | None = None) -> PipelineView:
    given = PipelineIntent("train", task, {"trainingTaskDefinition": CUSTOM}, inputs or spec())
    return await driver.db.run(pipelines.create, driver.scope, given)


async def set_cpus(driver: Driver, most: int) -> None:
    """The project's quota of N1 and E2 CPUs; a trial has four."""
    await driver.db.run(quotas.set_quota, driver.scope, CPUS, most)
