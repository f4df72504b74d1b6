"""Training pipelines and tuning jobs over REST (VX-18, VX-21)."""

from typing import Any

import pytest
from google.api_core import exceptions
from google.cloud import aiplatform_v1 as v1

from tests.kit import TestWorld
from tests.wire.vertex.mutations import DEFINITION, TUNING

PARENT = "projects/p1/locations/us-central1"
BASE = f"v1/{PARENT}/trainingPipelines"
MIXED = {
    "worker_pool_specs": [
        {
            "machine_spec": {"machine_type": "n1-standard-4"},
            "containerSpec": {"imageUri": "gcr.io/demo/train", "args": []},
            "replica_count": 1.0,
            "disk_spec": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100.0},
        }
    ],
    "base_output_directory": {"output_uri_prefix": "gs://bkt/out"},
}
"""As the SDK writes inputs: a snake outside, a camel inside, and floats."""


def post(world: TestWorld, inputs: Any, definition: str = DEFINITION, **facts: Any) -> Any:
    body = {"displayName": "pipeline", "trainingTaskDefinition": definition, "trainingTaskInputs": inputs} | facts
    return world.http.post(f"{world.endpoint}/{BASE}", json=body)


def get(world: TestWorld, name: str) -> Any:
    return world.http.get(f"{world.endpoint}/v1/{name}").json()


def test_mixed_inputs_become_a_job(world: TestWorld) -> None:
    """VX-18: the inputs are normalised, and the job that they ask for is there at once."""
    made = post(world, MIXED, labels={"team": "red"}).json()
    assert made["trainingTaskInputs"] == {
        "workerPoolSpecs": [
            {
                "machineSpec": {"machineType": "n1-standard-4"},
                "containerSpec": {"imageUri": "gcr.io/demo/train"},
                "replicaCount": "1",
                "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
            }
        ],
        "baseOutputDirectory": {"outputUriPrefix": "gs://bkt/out"},
    }
    job = get(world, made["trainingTaskMetadata"]["backingCustomJob"])
    assert (job["jobSpec"], job["labels"]) == (made["trainingTaskInputs"], {"team": "red"})


def test_its_states(world: TestWorld) -> None:
    """VX-18: those of the job behind it; what has ended can be deleted, and the job stays."""
    client = world.google(v1.PipelineServiceClient)
    world.control(
        "POST",
        "quotas",
        json={"name": "aiplatform.googleapis.com/custom_model_training_cpus", "value": 4, "project": "p1"},
    )
    one, two, three = (post(world, MIXED).json()["name"] for _ in range(3))
    states = [get(world, name)["state"] for name in (one, two, three)]
    assert states == ["PIPELINE_STATE_PENDING", "PIPELINE_STATE_QUEUED", "PIPELINE_STATE_QUEUED"]
    world.advance(5)
    client.cancel_training_pipeline(name=three)
    assert get(world, three)["state"] == "PIPELINE_STATE_CANCELLING"
    with pytest.raises(exceptions.BadRequest, match="Cancel it first"):
        client.delete_training_pipeline(name=two)
    world.advance(hours=3)
    listed = client.list_training_pipelines(request={"parent": PARENT, "filter": "state=PIPELINE_STATE_SUCCEEDED"})
    assert [each.name for each in listed] == [two, one]
    gone = get(world, three)
    assert (gone["state"], gone["error"]["code"]) == ("PIPELINE_STATE_CANCELLED", 1)
    operation: Any = client.delete_training_pipeline(name=one)
    backing = get(world, two)["trainingTaskMetadata"]["backingCustomJob"]
    operation.result()
    with pytest.raises(exceptions.NotFound):
        client.get_training_pipeline(name=one)
    client.delete_training_pipeline(name=two)
    assert get(world, backing)["state"] == "JOB_STATE_SUCCEEDED"


def test_more_than_the_quota_fails_the_pipeline(world: TestWorld) -> None:
    """VX-1: the pipeline is there, and its error is of code 8 (vertex-ai-samples#700)."""
    world.control(
        "POST",
        "quotas",
        json={"name": "aiplatform.googleapis.com/custom_model_training_cpus", "value": 1, "project": "p1"},
    )
    made = post(world, MIXED).json()
    assert (made["state"], made["error"]["code"]) == ("PIPELINE_STATE_FAILED", 8)
    assert "The following quota metrics exceed quota limits" in made["error"]["message"]


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"workerPools": []}, 'Unknown name "workerPools": Cannot find field.'),
        ({"worker_pool_specs": [{"replica_count": 1.5}]}, "(TYPE_INT64), 1.5"),
        ("text", "Root element must be a message"),
        ([], "Root element must be a message"),
    ],
)
def test_inputs_that_are_none(world: TestWorld, inputs: Any, told: str) -> None:
    """VX-18: in the service's words (python-aiplatform#762)."""
    answer = post(world, inputs)
    message = answer.json()["error"]["message"]
    assert answer.status_code == 400
    assert message.startswith("Unable to parse `training_pipeline.training_task_inputs` into custom task `inputs`")
    assert told in message


def test_inputs_that_make_no_job(world: TestWorld) -> None:
    """VX-22: every field is told, where it is."""
    inputs = {"workerPoolSpecs": [{"machineSpec": {"machineType": "n1-mega"}}]}
    found = post(world, inputs).json()["error"]["details"][0]["fieldViolations"]
    pool = "training_task_inputs.worker_pool_specs[0]"
    assert {each["field"] for each in found} == {pool, f"{pool}.machine_spec.machine_type"}
    assert "training_task_inputs" in post(world, None).text


def test_tasks_that_are_not_emulated(world: TestWorld) -> None:
    """VX-18."""
    answer = post(world, {}, DEFINITION.replace("custom_task", "automl_tables"))
    assert (answer.status_code, "automl_tables_1.0.0.yaml" in answer.text) == (400, True)


def test_a_pipeline_of_a_tuning_job(world: TestWorld) -> None:
    """VX-21: enums by number and by name, floats for whole numbers, and trials with their jobs."""
    inputs = TUNING | {"maxTrialCount": 2.0, "studySpec": TUNING["studySpec"] | {"algorithm": 3}}
    made = post(world, inputs, DEFINITION.replace("custom_task", "hyperparameter_tuning_task")).json()
    assert made["trainingTaskInputs"]["studySpec"] == TUNING["studySpec"]
    tuning = made["trainingTaskMetadata"]["backingHyperparameterTuningJob"]
    world.advance(hours=5)
    told = get(world, made["name"])
    assert told["state"] == "PIPELINE_STATE_SUCCEEDED"
    best = get(world, told["trainingTaskMetadata"]["bestTrialBackingCustomJob"])
    job = world.vertex.get_hyperparameter_tuning_job(name=tuning)
    assert best["name"] in [trial.custom_job for trial in job.trials]
    assert best["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["args"][0] == "--a"


def test_the_states_of_a_tuning_job_and_its_trials(world: TestWorld) -> None:
    """VX-21: both forms of enums, a filter and a read mask; what has ended can be deleted."""
    url = f"{world.endpoint}/v1/{PARENT}/hyperparameterTuningJobs"
    made = world.http.post(url, json={"displayName": "tunes", **TUNING}).json()
    name = made["name"]
    assert (made["state"], made["studySpec"]) == ("JOB_STATE_PENDING", TUNING["studySpec"])
    with pytest.raises(exceptions.BadRequest, match="Cancel it first"):
        world.vertex.delete_hyperparameter_tuning_job(name=name)
    world.advance(5)
    running = world.vertex.get_hyperparameter_tuning_job(name=name)
    assert running.state == v1.JobState.JOB_STATE_RUNNING
    assert {trial.state for trial in running.trials} >= {v1.Trial.State.ACTIVE}
    world.vertex.cancel_hyperparameter_tuning_job(name=name)
    assert {trial["state"] for trial in get(world, name)["trials"]} <= {"STOPPING", "ACTIVE", "SUCCEEDED"}
    world.advance(hours=1)
    [told] = world.http.get(f"{url}?filter=state%3DJOB_STATE_CANCELLED&readMask=name,error.code").json()[
        "hyperparameterTuningJobs"
    ]
    assert told == {"name": name, "error": {"code": 1}}
    operation: Any = world.vertex.delete_hyperparameter_tuning_job(name=name)
    operation.result()
    with pytest.raises(exceptions.NotFound):
        world.vertex.get_hyperparameter_tuning_job(name=name)


def test_finished_trials(world: TestWorld) -> None:
    """VX-21: parameters, measurements and the job of each; numbers of enums where they are asked for."""
    url = f"{world.endpoint}/v1/{PARENT}/hyperparameterTuningJobs"
    name = world.http.post(url, json={"displayName": "tunes", **TUNING}).json()["name"]
    world.advance(hours=5)
    job = world.vertex.get_hyperparameter_tuning_job(name=name)
    assert [trial.id for trial in job.trials] == ["1", "2", "3", "4"]
    for trial in job.trials:
        assert trial.state == v1.Trial.State.SUCCEEDED
        assert trial.final_measurement.metrics[0].metric_id == "accuracy"
        assert trial.measurements[-1].step_count >= 1
        assert world.vertex.get_custom_job(name=trial.custom_job).state == v1.JobState.JOB_STATE_SUCCEEDED
    by_number = world.http.get(f"{world.endpoint}/v1/{name}?$alt=json;enum-encoding=int").json()
    assert (by_number["state"], by_number["trials"][0]["state"]) == (4, 4)
    assert by_number["studySpec"]["metrics"][0]["goal"] == 1
    assert by_number["studySpec"]["parameters"][0]["scaleType"] == 2
