"""What users write with `google.cloud.aiplatform`, in a process of its own: its settings are global.

Each function is one scenario; what it returns is printed as one line of JSON, an exception as its text. The endpoint
of the world is the only argument. Nothing of the SDK is changed but the pause between its looks at a job.
"""

import json
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from google.auth.credentials import AnonymousCredentials
from google.cloud import aiplatform, storage
from google.cloud.aiplatform import hyperparameter_tuning as hpt
from google.cloud.aiplatform import jobs, training_jobs

ENDPOINT = sys.argv[1]
POOLS = [
    {
        "machine_spec": {"machine_type": "n1-standard-4"},
        "replica_count": 1,
        "container_spec": {"image_uri": "gcr.io/demo/train"},
    }
]
jobs._JOB_WAIT_TIME = training_jobs._JOB_WAIT_TIME = 0.05


def control(path: str, **body: Any) -> Any:
    answer = httpx.post(f"{ENDPOINT}/_windtunnel/{path}", json=body, timeout=60)
    assert answer.is_success, answer.text
    return answer.json()


def init(**facts: Any) -> None:
    aiplatform.init(
        project="p1",
        location="us-central1",
        staging_bucket="gs://bkt",
        api_endpoint=ENDPOINT,
        api_transport="rest",
        credentials=AnonymousCredentials(),
        **facts,
    )


def custom(name: str) -> Any:
    return aiplatform.CustomJob(display_name=name, worker_pool_specs=POOLS)


def while_time_goes_by(work: Callable[[], Any], collection: str = "customJobs") -> Any:
    """Run `work`, which waits for a job's end; the clock is moved on as soon as the job is there."""
    url = f"{ENDPOINT}/v1/projects/p1/locations/us-central1/{collection}"
    before = httpx.get(url).json()
    done = threading.Event()

    def move() -> None:
        while httpx.get(url).json() == before and not done.wait(0.05):
            pass
        while not done.is_set():
            control("clock/advance", by=600)
            done.wait(0.05)

    mover = threading.Thread(target=move)
    mover.start()
    try:
        return work()
    finally:
        done.set()
        mover.join()


def a_job_that_succeeds() -> Any:
    job = custom("succeeds")
    while_time_goes_by(lambda: job.run(timeout=3600, restart_job_on_worker_restart=True))
    same = aiplatform.CustomJob.get(job.resource_name.rpartition("/")[2])
    return [job.state.name, same.resource_name == job.resource_name, same.job_spec.scheduling.timeout.seconds]


def a_job_that_fails() -> Any:
    job = custom("fails")
    job.job_spec.worker_pool_specs[0].container_spec.env = [{"name": "WINDTUNNEL_EXIT_CODE", "value": "1"}]
    while_time_goes_by(job.run)
    return "no error"


def a_job_that_is_cancelled() -> Any:
    job = custom("cancelled")
    job.submit()
    states = [job.state.name]
    job.cancel()
    states.append(job.state.name)
    control("clock/advance", by=600)
    return [*states, job.state.name, job.error.code]


def lists_and_deletion() -> Any:
    made = [custom(name) for name in ("one", "two", "three")]
    for each in made:
        each.submit()
    control("clock/advance", by=3600)
    found = aiplatform.CustomJob.list(filter='display_name="two"')
    ordered = aiplatform.CustomJob.list(filter="display_name:t*", order_by="create_time desc")
    made[1].delete()
    left = aiplatform.CustomJob.list(filter='display_name="two" AND state="JOB_STATE_SUCCEEDED"')
    return [[each.display_name for each in some] for some in (found, ordered, left)]


def a_container_training_job() -> Any:
    job = aiplatform.CustomContainerTrainingJob(display_name="trains", container_uri="gcr.io/demo/train")
    while_time_goes_by(
        lambda: job.run(replica_count=2, machine_type="n1-standard-4", args=["--epochs", "3"]), "trainingPipelines"
    )
    backing = job._gca_resource.training_task_metadata["backingCustomJob"]
    inner = aiplatform.CustomJob.get(backing)
    pools = [(pool.replica_count, list(pool.container_spec.args)) for pool in inner.job_spec.worker_pool_specs]
    return [job.state.name, inner.state.name, pools]


def a_tuning_job() -> Any:
    job = aiplatform.HyperparameterTuningJob(
        display_name="tunes",
        custom_job=custom("trial"),
        metric_spec={"accuracy": "maximize"},
        parameter_spec={
            "lr": hpt.DoubleParameterSpec(min=0.001, max=0.1, scale="log"),
            "units": hpt.IntegerParameterSpec(min=4, max=64, scale="linear"),
            "kind": hpt.CategoricalParameterSpec(values=["a", "b"]),
        },
        max_trial_count=3,
        parallel_trial_count=3,
        search_algorithm="random",
    )
    while_time_goes_by(job.run, "hyperparameterTuningJobs")
    trials = job.trials
    values = [{each.parameter_id: each.value for each in trial.parameters} for trial in trials]
    return [job.state.name, [trial.state.name for trial in trials], [sorted(value) for value in values]]


def a_local_script() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "task.py"
        script.write_text("print('hello')\n", encoding="utf-8")
        job = aiplatform.CustomJob.from_local_script(
            display_name="script",
            script_path=str(script),
            container_uri="us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-14.py310:latest",
        )
    job.submit()
    package = job.job_spec.worker_pool_specs[0].python_package_spec
    uploaded = [blob.name for blob in storage.Client("p1", AnonymousCredentials()).list_blobs("bkt")]
    return [job.state.name, package.python_module, [f"gs://bkt/{name}" for name in uploaded] == package.package_uris]


def an_experiment() -> Any:
    init(experiment="trials", experiment_description="of many")
    again = aiplatform.Experiment("trials")
    return [again.name, bool(again.backing_tensorboard_resource_name)]


def too_much() -> Any:
    control("quotas", name="aiplatform.googleapis.com/custom_model_training_cpus", value=3, project="p1")
    custom("too much").submit()
    return "no error"


SCENARIOS = (
    a_job_that_succeeds,
    a_job_that_is_cancelled,
    lists_and_deletion,
    a_container_training_job,
    a_tuning_job,
    a_local_script,
    an_experiment,
    a_job_that_fails,
    too_much,
)


def main() -> None:
    init()
    for scenario in SCENARIOS:
        try:
            told = scenario()
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
        print(json.dumps([scenario.__name__, told]), flush=True)


if __name__ == "__main__":
    main()
