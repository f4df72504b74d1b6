"""Hyperparameter tuning jobs through their use cases (VX-21)."""

import pytest

from app.core.errors import FailedPrecondition, Invalid, LimitExceeded, NotFound
from app.core.reports import Measurement
from app.store import worlds
from app.store.db import Database
from app.usecases import jobs, tuning
from app.usecases.tuning import TuningView
from tests.core.builders import at
from tests.core.studies import categorical, discrete, double, integer, study, under
from tests.jobs import Driver, pool, spec
from tests.store.conftest import make_world
from tests.tuning import create, get, job_id, set_cpus, state, trials, value


async def cancel(driver: Driver, tuning_id: str) -> None:
    await driver.db.run(tuning.cancel, driver.scope, tuning_id)


async def walked(driver: Driver, tuning_id: str, seconds: int, step: int = 1) -> list[str]:
    """The different states on the way, the job's and the trials'."""
    seen: list[str] = []
    for _ in range(0, seconds, step):
        told = f"{await state(driver, tuning_id)} {await trials(driver, tuning_id)}".strip()
        if told not in seen[-1:]:
            seen.append(told)
        await driver.advance(step)
    return seen


async def test_a_job_from_its_beginning_to_its_end(driver: Driver) -> None:
    """VX-21: parallel trials, each with its custom job, one after another up to the number of all."""
    tuning_id = await create(driver, max_trials=3)
    assert await walked(driver, tuning_id, 60) == [
        "PENDING",
        "RUNNING RR",
        "RUNNING AA",
        "RUNNING SAR",
        "RUNNING SSA",
        "SUCCEEDED SSS",
    ]
    told = await get(driver, tuning_id)
    first = told.trials[0].trial
    assert told.tuning.started_at == at(1) and told.tuning.ended_at == told.trials[2].trial.ended_at
    assert told.error is None and told.tuning.updated_at == told.tuning.ended_at
    job = await driver.job(first.job_id or "")
    assert (job.tuning_id, job.trial_id, job.display_name) == (tuning_id, "1", "tune-trial-1")
    assert first.started_at == job.created_at and first.ended_at == job.ended_at
    assert len(told.trials[0].measurements) == 10 and first.final == told.trials[0].measurements[-1]


async def test_what_a_trial_s_job_is_told(driver: Driver) -> None:
    """VX-21: arguments for every replica, the trial's number in the environment, a directory of its own."""
    parameters = (double("lr", 0.5, 0.5), integer("units", 3, 3), discrete("batch", 64), categorical("opt", "adam"))
    job = spec(pool(), {}, pool(2)) | {"baseOutputDirectory": {"outputUriPrefix": "gs://b/out/"}}
    job["workerPoolSpecs"][0]["containerSpec"]["args"] = ["--fixed"]
    tuning_id = await create(driver, study(*parameters), job, labels={"team": "a"}, encryption="k")
    await driver.advance(5)
    made = await driver.job(await job_id(driver, tuning_id, 1))
    given = ["--lr=0.5", "--units=3", "--batch=64.0", "--opt=adam"]
    assert [one.get("containerSpec", {}).get("args") for one in made.spec["workerPoolSpecs"]] == [
        ["--fixed", *given],
        None,
        given,
    ]
    assert made.spec["baseOutputDirectory"] == {"outputUriPrefix": "gs://b/out/1"}
    assert made.environment == {"CLOUD_ML_TRIAL_ID": "1", "CLOUD_ML_HP_METRIC_TAG": "accuracy"}
    assert (made.labels, made.encryption) == ({"team": "a"}, "k")
    assert (await get(driver, tuning_id)).trials[0].parameters == [
        ("lr", 0.5),
        ("units", 3),
        ("batch", 64.0),
        ("opt", "adam"),
    ]


async def test_search_improves(driver: Driver) -> None:
    """VX-21: the default search learns from the trials before; chance does not."""
    late = {}
    for algorithm in ("ALGORITHM_UNSPECIFIED", "RANDOM_SEARCH"):
        bowl = study(
            double("x", 0, 10), double("y", 1e-4, 1, "UNIT_LOG_SCALE"), integer("n", 1, 9), algorithm=algorithm
        )
        tuning_id = await create(driver, bowl, max_trials=40, parallel_trials=4)
        await driver.advance(600)
        values = [value(trial) for trial in (await get(driver, tuning_id)).trials]
        assert len(values) == 40
        late[algorithm] = sum(values[-10:]) / 10
    assert late["ALGORITHM_UNSPECIFIED"] > late["RANDOM_SEARCH"] + 0.1


async def test_a_grid_that_ends(driver: Driver) -> None:
    """VX-21: the points of the grid in order; the job ends with the last one, however many trials it may have."""
    grid = study(under(categorical("opt", "adam", "sgd"), (["sgd"], discrete("m", 0.5, 0.9))), algorithm="GRID_SEARCH")
    tuning_id = await create(driver, grid, max_trials=9, parallel_trials=2)
    await driver.advance(120)
    told = await get(driver, tuning_id)
    assert [dict(trial.parameters) for trial in told.trials] == [
        {"opt": "adam"},
        {"opt": "sgd", "m": 0.5},
        {"opt": "sgd", "m": 0.9},
    ]
    assert told.state == "JOB_STATE_SUCCEEDED" and told.tuning.exhausted_at is not None


async def test_failed_trials(driver: Driver) -> None:
    """VX-21: a trial whose job fails is infeasible; too many fail the job, when their ends are told (VX-9)."""
    tuning_id = await create(driver, job=spec(pool(EXIT_CODE="1")), max_trials=9, max_failed=3)
    await driver.advance(100)
    assert await trials(driver, tuning_id) == "AA", "their jobs have ended, and nobody is told yet"
    await driver.advance(400)
    told = await get(driver, tuning_id)
    assert (told.state, await trials(driver, tuning_id)) == ("JOB_STATE_FAILED", "IIII")
    assert told.error is not None and told.error[0] == 3
    assert told.error[1].startswith("4 trials failed; the limit is 3. The last, trial 4: The replica workerpool0-0")
    assert told.trials[0].trial.reason == (await driver.view(await job_id(driver, tuning_id, 1))).error[1]  # type: ignore[index]


async def test_a_failure_that_is_no_end(driver: Driver) -> None:
    """One of many fails: the metric of its program has no value there."""
    grid = study(integer("n", 0, 3), algorithm="GRID_SEARCH")
    tuning_id = await create(driver, grid, spec(pool(METRICS="accuracy = 1 / n")))
    await driver.advance(120)
    told = await get(driver, tuning_id)
    assert await trials(driver, tuning_id) == "ISSS" and told.state == "JOB_STATE_SUCCEEDED"
    assert told.trials[0].trial.reason == "The trial ended without a measurement of accuracy."
    assert [value(trial) for trial in told.trials[1:]] == [1, 0.5, 0.333333333333]


async def test_cancel_in_the_middle(driver: Driver) -> None:
    """VX-21: CANCELLING at once, the trials' jobs are cancelled, CANCELLED when they have ended; code 1."""
    tuning_id = await create(driver)
    await driver.advance(20)
    await cancel(driver, tuning_id)
    assert await state(driver, tuning_id) == "CANCELLING"
    await driver.advance(0)
    assert await trials(driver, tuning_id) == "SSTT"
    assert await driver.state(await job_id(driver, tuning_id, 3)) == "CANCELLING"
    await driver.advance(10)
    told = await get(driver, tuning_id)
    assert told.state == "JOB_STATE_CANCELLED" and told.error is not None and told.error[0] == 1
    assert await driver.state(await job_id(driver, tuning_id, 3)) == "CANCELLED"
    assert {trial.state for trial in told.trials[2:]} <= {"SUCCEEDED", "INFEASIBLE"}
    await cancel(driver, tuning_id)
    await driver.advance(10)
    assert await get(driver, tuning_id) == told, "cancelling again does nothing (VX-14)"


async def test_cancel_before_anything(driver: Driver) -> None:
    tuning_id = await create(driver)
    await cancel(driver, tuning_id)
    await driver.advance(0)
    told = await get(driver, tuning_id)
    assert (told.state, list(told.trials), told.tuning.started_at) == ("JOB_STATE_CANCELLED", [], None)


async def test_requested_trials_are_withdrawn(driver: Driver) -> None:
    tuning_id = await create(driver)
    await driver.advance(1)
    assert await trials(driver, tuning_id) == "RR"
    await cancel(driver, tuning_id)
    await driver.advance(0)
    assert (await state(driver, tuning_id), await trials(driver, tuning_id)) == ("CANCELLED", "")


async def test_somebody_cancels_the_job_of_a_trial(driver: Driver) -> None:
    tuning_id = await create(driver)
    await driver.advance(5)
    await driver.db.run(jobs.cancel, driver.scope, await job_id(driver, tuning_id, 2))
    await driver.advance(90)
    told = await get(driver, tuning_id)
    assert (told.state, await trials(driver, tuning_id)) == ("JOB_STATE_SUCCEEDED", "SISS")
    assert told.trials[1].trial.reason == "The trial's custom job was cancelled."


MEDIAN = {"medianAutomatedStoppingSpec": {}}


async def test_early_stopping(driver: Driver) -> None:
    """VX-21: a trial that is worse than the median is stopped, and is done with what it has reported."""
    grid = study(discrete("x", 0.1, 0.5, 0.9), algorithm="GRID_SEARCH", goal="MINIMIZE", **MEDIAN)
    tuning_id = await create(driver, grid, spec(pool(METRICS="accuracy = x", RUN_SECONDS="100")), parallel_trials=1)
    await driver.advance(107)
    assert await trials(driver, tuning_id) == "SA"
    assert (await walked(driver, tuning_id, 60))[:3] == ["RUNNING SA", "RUNNING ST", "RUNNING SSR"]
    await driver.advance(200)
    told = await get(driver, tuning_id)
    assert (told.state, await trials(driver, tuning_id)) == ("JOB_STATE_SUCCEEDED", "SSS")
    assert [len(trial.measurements) for trial in told.trials] == [10, 1, 1]
    assert await driver.state(await job_id(driver, tuning_id, 2)) == "CANCELLED"


async def test_trials_wait_for_quota(driver: Driver) -> None:
    """VX-1, VX-21: a trial's job queues as any other; the trial is active meanwhile (chosen)."""
    await set_cpus(driver, 8)
    tuning_id = await create(driver, max_trials=3, parallel_trials=3)
    await driver.advance(8)
    states = [await driver.state(await job_id(driver, tuning_id, number)) for number in (1, 2, 3)]
    assert states == ["RUNNING", "RUNNING", "QUEUED"] and await trials(driver, tuning_id) == "AAA"
    await driver.advance(60)
    assert await trials(driver, tuning_id) == "SSS"


async def test_more_than_the_quota(driver: Driver) -> None:
    """VX-1: refused at creation; lowered later, each trial is infeasible, and the job fails with the quota's code."""
    await set_cpus(driver, 3)
    with pytest.raises(LimitExceeded, match="custom_model_training_cpus"):
        await create(driver)
    await set_cpus(driver, 8)
    tuning_id = await create(driver, max_trials=4)
    await set_cpus(driver, 3)
    await driver.advance(10)
    told = await get(driver, tuning_id)
    assert (told.state, await trials(driver, tuning_id)) == ("JOB_STATE_FAILED", "IIII")
    assert told.error is not None and told.error[0] == 8 and "custom_model_training_cpus" in told.error[1]
    assert {trial.trial.job_id for trial in told.trials} == {None}


async def test_refused(driver: Driver) -> None:
    """Everything wrong with the study at once; and what is wrong with a trial's job."""
    with pytest.raises(Invalid, match=r"max_trial_count: .* study_spec.metrics\[0\].metric_id: "):
        await create(driver, study(metric=""), max_trials=0)
    with pytest.raises(Invalid, match="abacus-1"):
        await create(driver, job=spec(pool(machine="abacus-1")))
    with pytest.raises(Invalid, match="WINDTUNNEL_METRICS"):
        await create(driver, job=spec(pool(METRICS="accuracy = depth")))


async def test_unknown(driver: Driver) -> None:
    for work in (tuning.get, tuning.cancel, tuning.delete):
        with pytest.raises(NotFound, match="hyperparameterTuningJobs/17"):
            await driver.db.run(work, driver.scope, "17")


async def test_delete(driver: Driver) -> None:
    """VX-14: only when it has ended; the custom jobs of its trials stay."""
    tuning_id = await create(driver)
    with pytest.raises(FailedPrecondition, match="JOB_STATE_PENDING"):
        await driver.db.run(tuning.delete, driver.scope, tuning_id)
    await driver.advance(100)
    job = await job_id(driver, tuning_id, 1)
    await driver.db.run(tuning.delete, driver.scope, tuning_id)
    with pytest.raises(NotFound):
        await get(driver, tuning_id)
    assert await driver.state(job) == "SUCCEEDED"
    assert await driver.db.run(tuning.listed, driver.scope) == []
    await driver.advance(100)


async def test_listed(driver: Driver) -> None:
    """The newest first, in pages; trials inside."""
    made = [await create(driver, display_name=name) for name in "abc"]
    await driver.advance(5)
    told: list[TuningView] = await driver.db.run(tuning.listed, driver.scope, None, 2)
    assert [one.tuning.tuning_id for one in told] == made[:0:-1] and [len(one.trials) for one in told] == [2, 2]
    rest = await driver.db.run(tuning.listed, driver.scope, told[-1].tuning.number)
    assert [one.tuning.tuning_id for one in rest] == made[:1]
    assert len(await driver.db.run(jobs.listed, driver.scope)) == 6, "trials' jobs are custom jobs as others"


async def test_the_job_of_a_trial_is_deleted(driver: Driver) -> None:
    """The trial remembers what it was."""
    tuning_id = await create(driver, max_trials=1)
    await driver.advance(60)
    before = await get(driver, tuning_id)
    await driver.db.run(jobs.delete, driver.scope, await job_id(driver, tuning_id, 1))
    assert await get(driver, tuning_id) == before


async def test_a_program_that_really_runs_reports(driver: Driver) -> None:
    """VX-16, VX-21: its reports take the place of simulated ones, and rules look at them."""
    tuning_id = await create(driver, study(**MEDIAN), max_trials=2, parallel_trials=1)
    await driver.advance(4)

    async def report(number: int, *values: float) -> None:
        told = [Measurement(step, step, {"accuracy": value}) for step, value in enumerate(values, 1)]
        await driver.db.run(tuning.report, driver.scope, tuning_id, number, told)

    await report(1)
    assert (await get(driver, tuning_id)).trials[0].measurements == ()
    await report(1, 0.4, 0.5)
    while await trials(driver, tuning_id) != "SA":
        await driver.advance(1)
    told = (await get(driver, tuning_id)).trials
    assert value(told[0]) == 0.5 and len(told[0].measurements) == 2
    await report(1, 0.9)
    await report(2, 0.1)
    await report(9, 0.1)
    await driver.advance(0)
    assert await trials(driver, tuning_id) == "ST"
    assert value((await get(driver, tuning_id)).trials[0]) == 0.5, "it has ended"


async def test_a_hundred_at_once(driver: Driver) -> None:
    """VX-21: a hundred parallel trials, started in batches, all different."""
    tuning_id = await create(driver, max_trials=100, parallel_trials=100)
    done = await driver.advance(60)
    told = await get(driver, tuning_id)
    assert told.state == "JOB_STATE_SUCCEEDED" and await trials(driver, tuning_id) == "S" * 100
    assert len({str(trial.parameters) for trial in told.trials}) == 100
    assert {trial.trial.started_at for trial in told.trials} == {at(2)}
    assert done.counts["passes"] < 300


async def test_the_most_there_can_be(driver: Driver) -> None:
    """A thousand trials of one job that fails at once is bounded."""
    await set_cpus(driver, 8)
    tuning_id = await create(
        driver, study(algorithm="RANDOM_SEARCH"), max_trials=1000, parallel_trials=1000, max_failed=1000
    )
    await set_cpus(driver, 3)
    await driver.advance(10)
    assert (await state(driver, tuning_id), len((await get(driver, tuning_id)).trials)) == ("FAILED", 1000)


async def test_without_any_delay(database: Database) -> None:
    """CT-16: in the profile `instant`, programs that take no time make a whole study of one instant, which ends."""
    name = await make_world(database, profile="instant")
    driver = Driver(database, name)
    for facts in ({}, {"EXIT_CODE": "1"}, {"METRIC_STEPS": "0"}):
        tuning_id = await create(
            driver, study(), spec(pool(RUN_SECONDS="0", **facts)), max_trials=30, parallel_trials=3
        )
        await driver.advance(0 if "EXIT_CODE" not in facts else 3600)
        told = await get(driver, tuning_id)
        assert told.state == ("JOB_STATE_FAILED" if facts else "JOB_STATE_SUCCEEDED"), facts
    async with database.transaction() as tx:
        await worlds.remove(tx, name)
