"""Training pipelines through their use cases (VX-18, VX-21)."""

import pytest

from app.core.errors import FailedPrecondition, Invalid, NotFound
from app.usecases import jobs, pipelines, tuning
from app.usecases.pipelines import PipelineView
from tests.core.builders import at
from tests.core.studies import study
from tests.jobs import Driver, pool, spec
from tests.tuning import get as tuned
from tests.tuning import pipeline, set_cpus, value

TUNE = {"studySpec": study(), "trialJobSpec": spec(), "maxTrialCount": 3, "parallelTrialCount": 2}


async def get(driver: Driver, made: PipelineView) -> PipelineView:
    return await driver.db.run(pipelines.get, driver.scope, made.pipeline.pipeline_id)


async def test_a_custom_task(driver: Driver) -> None:
    """A custom job of its own in the same transaction; state, times and error are the job's."""
    made = await pipeline(driver)
    assert made.state == "PIPELINE_STATE_PENDING" and made.pipeline.job_id is not None and made.started_at is None
    job = await driver.job(made.pipeline.job_id)
    assert (job.pipeline_id, job.display_name) == (made.pipeline.pipeline_id, "train-custom-job")
    await driver.advance(5)
    assert (await get(driver, made)).state == "PIPELINE_STATE_RUNNING"
    await driver.advance(60)
    told, job = await get(driver, made), await driver.job(made.pipeline.job_id)
    assert (told.state, told.error) == ("PIPELINE_STATE_SUCCEEDED", None)
    assert (told.started_at, told.ended_at) == (job.started_at, job.ended_at)


async def test_a_tuning_task(driver: Driver) -> None:
    """VX-21: the best trial's custom job is told when the tuning job has ended."""
    made = await pipeline(driver, "tuning", TUNE)
    assert made.state == "PIPELINE_STATE_PENDING" and made.pipeline.tuning_id is not None
    await driver.advance(10)
    assert (await get(driver, made)).state == "PIPELINE_STATE_RUNNING" and (await get(driver, made)).best_job_id is None
    await driver.advance(60)
    told, study_told = await get(driver, made), await tuned(driver, made.pipeline.tuning_id)
    assert told.state == "PIPELINE_STATE_SUCCEEDED" and told.ended_at == study_told.tuning.ended_at
    assert told.best_job_id == max(study_told.trials, key=value).trial.job_id
    assert study_told.tuning.display_name == "train-hyperparameter-tuning-job"


async def test_a_task_that_fails(driver: Driver) -> None:
    """VX-9: state and error when the job's are told."""
    made = await pipeline(driver, inputs=spec(pool(EXIT_CODE="1")))
    await driver.advance(60)
    assert (await get(driver, made)).state == "PIPELINE_STATE_RUNNING"
    await driver.advance(60)
    told = await get(driver, made)
    assert told.state == "PIPELINE_STATE_FAILED" and told.error is not None and told.error[0] == 3


@pytest.mark.parametrize("task", ["custom", "tuning"])
async def test_cancel(driver: Driver, task: str) -> None:
    made = await pipeline(driver, task, TUNE if task == "tuning" else None)
    await driver.advance(8)
    pipeline_id = made.pipeline.pipeline_id
    await driver.db.run(pipelines.cancel, driver.scope, pipeline_id)
    assert (await get(driver, made)).state == "PIPELINE_STATE_CANCELLING"
    with pytest.raises(FailedPrecondition, match="PIPELINE_STATE_CANCELLING"):
        await driver.db.run(pipelines.delete, driver.scope, pipeline_id)
    await driver.advance(30)
    told = await get(driver, made)
    assert told.state == "PIPELINE_STATE_CANCELLED" and told.error is not None and told.error[0] == 1
    await driver.db.run(pipelines.cancel, driver.scope, pipeline_id)
    assert await get(driver, made) == told


async def test_a_task_that_waits_for_quota(driver: Driver) -> None:
    await set_cpus(driver, 4)
    first, second = await pipeline(driver), await pipeline(driver)
    assert (first.state, second.state) == ("PIPELINE_STATE_PENDING", "PIPELINE_STATE_QUEUED")
    await driver.advance(60)
    assert (await get(driver, second)).state == "PIPELINE_STATE_SUCCEEDED"


@pytest.mark.parametrize("task", ["custom", "tuning"])
async def test_more_than_the_quota(driver: Driver, task: str) -> None:
    """The pipeline is there, and has failed with code 8 and the metric's name (vertex-ai-samples#700)."""
    await set_cpus(driver, 3)
    told = await pipeline(driver, task, TUNE if task == "tuning" else None)
    assert told.state == "PIPELINE_STATE_FAILED" and told.ended_at == at(0)
    assert told.error is not None and told.error[0] == 8 and "custom_model_training_cpus" in told.error[1]
    assert await driver.db.run(jobs.listed, driver.scope) == [] == await driver.db.run(tuning.listed, driver.scope)
    await driver.db.run(pipelines.cancel, driver.scope, told.pipeline.pipeline_id)
    await driver.db.run(pipelines.delete, driver.scope, told.pipeline.pipeline_id)


async def test_refused(driver: Driver) -> None:
    """What cannot be a job is no pipeline."""
    with pytest.raises(Invalid, match="abacus-1"):
        await pipeline(driver, inputs=spec(pool(machine="abacus-1")))
    with pytest.raises(Invalid, match="max_trial_count"):
        await pipeline(driver, "tuning", {})
    assert await driver.db.run(pipelines.listed, driver.scope) == []


async def test_delete_and_list(driver: Driver) -> None:
    """What carried a pipeline out stays; a pipeline whose job is deleted remembers how it ended."""
    first, second = await pipeline(driver), await pipeline(driver, "tuning", TUNE)
    await driver.advance(100)
    first_job, tuning_id = first.pipeline.job_id or "", second.pipeline.tuning_id or ""
    told: list[PipelineView] = await driver.db.run(pipelines.listed, driver.scope)
    assert [one.pipeline.pipeline_id for one in told] == [second.pipeline.pipeline_id, first.pipeline.pipeline_id]
    assert await driver.db.run(pipelines.listed, driver.scope, second.pipeline.number) == told[1:]
    await driver.db.run(jobs.delete, driver.scope, first_job)
    await driver.db.run(tuning.delete, driver.scope, tuning_id)
    assert [one.state for one in (await get(driver, first), await get(driver, second))] == [
        "PIPELINE_STATE_SUCCEEDED"
    ] * 2
    await driver.db.run(pipelines.cancel, driver.scope, first.pipeline.pipeline_id)
    await driver.db.run(pipelines.delete, driver.scope, first.pipeline.pipeline_id)
    for work in (pipelines.get, pipelines.cancel, pipelines.delete):
        with pytest.raises(NotFound, match="trainingPipelines"):
            await driver.db.run(work, driver.scope, first.pipeline.pipeline_id)
