"""Hyperparameter tuning as Google's client sees it (VX-21)."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from google.api_core import exceptions
from google.cloud import aiplatform_v1 as v1

from tests.fleets import fleet, gpu_group, gpus
from tests.kit import Running, TestWorld, eks, worker_pool

PARENT = "projects/p1/locations/us-central1"
CPUS = "aiplatform.googleapis.com/custom_model_training_cpus"


def double(name: str, low: float, high: float, scale: int = 1) -> dict[str, Any]:
    return {"parameter_id": name, "double_value_spec": {"min_value": low, "max_value": high}, "scale_type": scale}


def discrete(name: str, *values: float) -> dict[str, Any]:
    return {"parameter_id": name, "discrete_value_spec": {"values": list(values)}}


def program(**env: str) -> dict[str, Any]:
    """A trial's job, whose container has these variables."""
    pool = worker_pool()
    pool["container_spec"]["env"] = [{"name": f"WINDTUNNEL_{name}", "value": value} for name, value in env.items()]
    return {"worker_pool_specs": [pool]}


def tuning_job(*parameters: dict[str, Any], job: dict[str, Any] | None = None, **facts: Any) -> dict[str, Any]:
    """Four trials, two at a time; further members of the study by `study`, of the job by keyword."""
    study = {
        "metrics": [{"metric_id": "accuracy", "goal": "MAXIMIZE"}],
        "parameters": list(parameters) or [double("lr", 0.001, 1, 2)],
    } | facts.pop("study", {})
    defaults = {"display_name": "tune", "max_trial_count": 4, "parallel_trial_count": 2}
    return defaults | {"study_spec": study, "trial_job_spec": job or program()} | facts


def create(world: TestWorld, *parameters: dict[str, Any], **facts: Any) -> str:
    wanted = tuning_job(*parameters, **facts)
    return world.vertex.create_hyperparameter_tuning_job(parent=PARENT, hyperparameter_tuning_job=wanted).name


def told(world: TestWorld, name: str) -> Any:
    return world.vertex.get_hyperparameter_tuning_job(name=name)


def states(world: TestWorld, name: str) -> tuple[str, list[str]]:
    job = told(world, name)
    return job.state.name.removeprefix("JOB_STATE_"), [trial.state.name for trial in job.trials]


def sorted_states(world: TestWorld, name: str) -> tuple[str, list[str]]:
    """Which of the trials that run at once ends first is the seed's to say."""
    state, trials = states(world, name)
    return state, sorted(trials)


def test_a_study_from_its_beginning_to_its_end(world: TestWorld) -> None:
    """VX-21: each state on the way, with its time; each trial has its custom job."""
    name = create(world, max_trial_count=3)
    seen = []
    for _ in range(40):
        now = sorted_states(world, name)
        seen += [] if now in seen else [now]
        world.advance(seconds=1)
    assert seen == [
        ("PENDING", []),
        ("RUNNING", ["REQUESTED", "REQUESTED"]),
        ("RUNNING", ["ACTIVE", "ACTIVE"]),
        ("RUNNING", ["ACTIVE", "REQUESTED", "SUCCEEDED"]),
        ("RUNNING", ["ACTIVE", "SUCCEEDED", "SUCCEEDED"]),
        ("SUCCEEDED", ["SUCCEEDED"] * 3),
    ]
    job = told(world, name)
    assert job.create_time < job.start_time < job.end_time == max(trial.end_time for trial in job.trials)
    for trial in job.trials:
        inner = world.vertex.get_custom_job(name=trial.custom_job)
        assert (inner.state.name, inner.end_time) == ("JOB_STATE_SUCCEEDED", trial.end_time)
        [argument] = inner.job_spec.worker_pool_specs[0].container_spec.args
        assert argument == f"--lr={trial.parameters[0].value}"
        assert [report.step_count for report in trial.measurements] == list(range(1, 11))
        assert trial.final_measurement == trial.measurements[-1]
        assert trial.final_measurement.elapsed_duration.total_seconds() == 10


def test_a_failed_trial(world: TestWorld) -> None:
    """CT-3, VX-21: a fault rule strikes the job of one trial; the study goes on."""
    world.fault("worker-exit", job="tune-trial-2", times=1, code="1")
    name = create(world)
    world.advance(minutes=5)
    job = told(world, name)
    assert states(world, name) == ("SUCCEEDED", ["SUCCEEDED", "INFEASIBLE", "SUCCEEDED", "SUCCEEDED"])
    failed = job.trials[1]
    assert "exited with a non-zero status of 1" in failed.infeasible_reason and not failed.final_measurement.metrics
    assert world.vertex.get_custom_job(name=failed.custom_job).error.message == failed.infeasible_reason


def test_too_many_failed_trials(world: TestWorld) -> None:
    """VX-21: the limit that the job names."""
    name = create(world, job=program(EXIT_CODE="1"), max_failed_trial_count=2)
    world.advance(minutes=10)
    job = told(world, name)
    assert job.state == v1.JobState.JOB_STATE_FAILED and job.error.code == 3
    assert job.error.message.startswith("2 trials failed; the limit is 2.")


def test_an_early_stop(world: TestWorld) -> None:
    """VX-21: STOPPING while its job is cancelled, and done with what it had reported."""
    rule = {"median_automated_stopping_spec": {}, "algorithm": "GRID_SEARCH"}
    job = program(METRICS="accuracy = x", RUN_SECONDS="100")
    name = create(world, discrete("x", 0.1, 0.9), discrete("y", 1), job=job, study=rule, parallel_trial_count=1)
    world.advance(seconds=300)
    assert states(world, name)[1] == ["SUCCEEDED", "SUCCEEDED"], "the better one is not stopped"
    worse = create(world, discrete("x", 0.5, 0.6), discrete("y", 1), job=job, study=rule | {
        "metrics": [{"metric_id": "accuracy", "goal": "MINIMIZE"}]
    }, parallel_trial_count=1)  # fmt: skip
    seen = set[str]()
    while states(world, worse)[0] != "SUCCEEDED":
        seen.add(" ".join(states(world, worse)[1]))
        world.advance(seconds=1)
    assert "SUCCEEDED STOPPING" in seen
    stopped = told(world, worse).trials[1]
    assert len(stopped.measurements) == 1 and stopped.final_measurement == stopped.measurements[0]
    assert world.vertex.get_custom_job(name=stopped.custom_job).state.name == "JOB_STATE_CANCELLED"


def test_cancel_and_delete(world: TestWorld) -> None:
    """VX-14, VX-15, VX-21."""
    name = create(world)
    world.advance(seconds=5)
    with pytest.raises(exceptions.BadRequest, match="Cancel it first"):
        world.vertex.delete_hyperparameter_tuning_job(name=name)
    world.vertex.cancel_hyperparameter_tuning_job(name=name)
    assert states(world, name)[0] == "CANCELLING"
    world.advance(minutes=1)
    job = told(world, name)
    assert job.state.name == "JOB_STATE_CANCELLED" and job.error.code == 1
    world.vertex.cancel_hyperparameter_tuning_job(name=name)
    world.vertex.delete_hyperparameter_tuning_job(name=name).result()
    with pytest.raises(exceptions.NotFound):
        told(world, name)
    assert len(list(world.vertex.list_custom_jobs(parent=PARENT))) == 2, "the trials' jobs stay"


def test_everything_wrong_at_once(world: TestWorld) -> None:
    """VX-18: 400 with each field."""
    broken = tuning_job(double("lr", 0, 1, 2), double("lr", 2, 1), max_trial_count=0, study={"metrics": []})
    with pytest.raises(exceptions.BadRequest) as refused:
        world.vertex.create_hyperparameter_tuning_job(parent=PARENT, hyperparameter_tuning_job=broken)
    [details] = refused.value.response.json()["error"]["details"]
    assert {
        "max_trial_count",
        "study_spec.metrics",
        "study_spec.parameters[0].double_value_spec",
        "study_spec.parameters[1].parameter_id",
        "study_spec.parameters[1].double_value_spec",
    } == {violation["field"] for violation in details["fieldViolations"]}


def test_more_than_the_quota(world: TestWorld) -> None:
    """VX-1: a trial that is larger than the quota is refused with the study."""
    world.control("POST", "quotas", json={"name": CPUS, "value": 2, "project": "p1"})
    with pytest.raises(exceptions.TooManyRequests, match="custom_model_training_cpus"):
        create(world)


def test_trials_are_billed(world: TestWorld) -> None:
    """VX-23: as any custom job, by its name."""
    create(world)
    world.advance(minutes=2)
    lines = world.bill(by="job")["lines"]
    assert sorted(line["job_name"] for line in lines) == [f"tune-trial-{number}" for number in (1, 2, 3, 4)]
    assert all(line["micro_usd"] > 0 for line in lines)


def test_trials_on_a_cluster(world: TestWorld) -> None:
    """VX-24, VX-21: the study's labels choose the nodes of a HyperPod cluster for its trials, which take turns."""
    world.sagemaker.create_cluster(**eks(gpu_group(1)))
    world.advance(minutes=10)
    job = {"worker_pool_specs": [gpus(1, 4)]}
    with pytest.raises(exceptions.BadRequest, match="nowhere"):
        create(world, job=job, labels={"windtunnel-cluster": "nowhere"})
    name = create(world, job=job, labels={"windtunnel-cluster": "demo"}, parallel_trial_count=3)
    world.advance(seconds=8)
    queued = [world.vertex.get_custom_job(name=trial.custom_job).state.name for trial in told(world, name).trials]
    assert (queued, fleet(world)) == (["JOB_STATE_RUNNING"] * 2 + ["JOB_STATE_QUEUED"], (8, 8, 8))
    world.advance(minutes=5)
    assert states(world, name) == ("SUCCEEDED", ["SUCCEEDED"] * 4)


DEFINITIONS = "gs://google-cloud-aiplatform/schema/trainingjob/definition/"


def request(number: int) -> tuple[str, dict[str, Any]]:
    """A job, a study or a pipeline over either, by turns; every second of them on the cluster `demo`."""
    job = {"workerPoolSpecs": [gpus(1, 4) if number % 2 else worker_pool()]}
    study = {"metrics": [{"metricId": "m", "goal": "MAXIMIZE"}], "parameters": [double("x", 0, 1)]}
    tune = {"studySpec": study, "trialJobSpec": job, "maxTrialCount": 2, "parallelTrialCount": 2}
    collection, body = [
        ("customJobs", {"jobSpec": job}),
        ("hyperparameterTuningJobs", tune),
        ("trainingPipelines", {"task": "custom_task", "trainingTaskInputs": job}),
        ("trainingPipelines", {"task": "hyperparameter_tuning_task", "trainingTaskInputs": tune}),
    ][number // 2 % 4]
    if (task := body.pop("task", None)) is not None:
        body["trainingTaskDefinition"] = f"{DEFINITIONS}{task}_1.0.0.yaml"
    labels = {"labels": {"windtunnel-cluster": "demo"}} if number % 2 else {}
    return collection, {"displayName": f"d{number}"} | labels | body


def test_everybody_at_once(world: TestWorld) -> None:
    """VX-24: jobs, studies and pipelines on one cluster and in the pool, made by several callers, all get there."""
    world.sagemaker.create_cluster(**eks(gpu_group(2)))
    world.advance(minutes=10)

    def ask(number: int) -> int:
        collection, body = request(number)
        return httpx.post(f"{world.endpoint}/v1/{PARENT}/{collection}", json=body, timeout=60).status_code

    with ThreadPoolExecutor(8) as callers:
        assert list(callers.map(ask, range(32))) == [200] * 32
    world.advance(hours=1)
    jobs = json.loads(world.export())["tables"]["custom_job"]
    assert len(jobs) == 8 + 16 + 8 + 16 and {row["outcome"] for row in jobs} == {"JOB_STATE_SUCCEEDED"}


def test_a_fork_has_the_same_future(service: Running, world: TestWorld) -> None:
    """CT-0, RL-10: the search of a copied world goes on as that of its source."""
    create(world, double("x", 0, 1), discrete("y", 1, 2, 4), max_trial_count=20, parallel_trial_count=3)
    world.advance(seconds=45)
    twin = TestWorld(service.base, f"{world.name}-twin")
    made = httpx.post(f"{service.base}/_windtunnel/worlds", json={"name": twin.name, "fork_of": world.name})
    assert made.is_success, made.text
    for one in (world, twin):
        one.advance(minutes=5)
    assert world.export() == twin.export()
    twin.close()


def test_a_study_that_cannot_be_read_stops_no_other(service: Running, world: TestWorld) -> None:
    """Its passes back off, and `status` says why; a forged export is the only way to one."""
    create(world, display_name="forged")
    forged = json.loads(world.export())
    [row] = forged["tables"]["tuning_job"]
    row["trial_job_spec"]["workerPoolSpecs"][0]["containerSpec"]["env"] = [{"name": "WINDTUNNEL_METRICS", "value": "x"}]
    broken = TestWorld(service.base, f"{world.name}-forged")
    url = f"{service.base}/_windtunnel/worlds/import?name={broken.name}"
    answer = httpx.post(url, json=forged, timeout=60)
    assert answer.is_success, answer.text
    fine = create(broken)
    done = broken.http.post(
        f"{broken.endpoint}/_windtunnel/clock/advance", json={"by": 60, "max_wall_seconds": 2}
    ).json()
    assert not done["settled"]
    failing = [one for one in broken.control("GET", "status")["failing"] if one["world"] == broken.name]
    assert [one["name"] for one in failing] == ["forged"] and states(broken, fine)[0] in ("PENDING", "RUNNING")
    httpx.delete(f"{service.base}/_windtunnel/worlds/{broken.name}")
    broken.close()
