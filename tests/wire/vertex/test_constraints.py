"""What the service asks of resources beyond their types (VX-18, VX-22): told all at once, with the fields."""

from typing import Any

import pytest
from google.api_core import exceptions

from tests.kit import TestWorld, custom_job, worker_pool

PARENT = "projects/p1/locations/us-central1"
FIRST = "job_spec.worker_pool_specs[0]"


def refused(world: TestWorld, body: Any, collection: str = "customJobs") -> dict[str, str]:
    """The description of each violation by its field."""
    answer = world.http.post(f"{world.endpoint}/v1/{PARENT}/{collection}", json=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["status"]) == (400, "INVALID_ARGUMENT"), answer.text
    [detail] = error["details"]
    found = {each["field"]: each["description"] for each in detail["fieldViolations"]}
    told = "".join(f"\t{n}.Field: {field}; Message: {why}" for n, (field, why) in enumerate(found.items(), 1))
    assert error["message"] == f"List of found errors:{told}\t "
    return found


def pool(**facts: Any) -> dict[str, Any]:
    return worker_pool() | facts


def with_spec(**facts: Any) -> dict[str, Any]:
    body = custom_job()
    body["job_spec"] |= facts
    return body


def container(**facts: Any) -> dict[str, Any]:
    return custom_job("demo", pool(container_spec={"image_uri": "gcr.io/x/y"} | facts))


UNSET = "Required field is not set."
CASES: list[tuple[Any, str, str]] = [
    ({}, "display_name", UNSET),
    ({"displayName": "x"}, "job_spec", UNSET),
    (custom_job("x" * 129), "display_name", "at most 128 characters"),
    (custom_job(labels={"Team": "red"}), "labels", "lowercase letters"),
    (custom_job(labels={"team": "re d"}), "labels", "lowercase letters"),
    (custom_job(labels={"k" * 65: ""}), "labels", "lowercase letters"),
    (custom_job(labels={"1st": ""}), "labels", "begin with a letter"),
    (custom_job(labels={f"k{n}": "" for n in range(65)}), "labels", "at most 64"),
    (custom_job(encryption_spec={}), "encryption_spec.kms_key_name", UNSET),
    (custom_job(encryption_spec={"kms_key_name": "mine"}), "encryption_spec.kms_key_name", "keyRings"),
    (with_spec(worker_pool_specs=[]), "job_spec.worker_pool_specs", UNSET),
    (with_spec(worker_pool_specs=[{}, pool()]), FIRST, "must be set"),
    (with_spec(worker_pool_specs=[pool()] * 5), "job_spec.worker_pool_specs", "at most 4"),
    (custom_job("x", worker_pool(replicas=2)), f"{FIRST}.replica_count", "one replica"),
    (custom_job("x", worker_pool(replicas=-1)), f"{FIRST}.replica_count", "one replica"),
    (custom_job("x", pool(), pool(replica_count=-1)), "job_spec.worker_pool_specs[1].replica_count", "at least 1"),
    (custom_job("x", {"machine_spec": {"machine_type": "n1-standard-4"}}), FIRST, "One of container_spec"),
    (custom_job("x", pool(machine_spec={})), f"{FIRST}.machine_spec.machine_type", UNSET),
    (custom_job("x", worker_pool("n1-mega")), f"{FIRST}.machine_spec.machine_type", "n1-mega is not supported."),
    (
        custom_job("x", worker_pool(accelerator_type="NVIDIA_TESLA_T4")),
        f"{FIRST}.machine_spec.accelerator_type",
        "Both `accelerator_type` and `accelerator_count` should be specified or none.",
    ),
    (
        custom_job("x", worker_pool(accelerator_type="NVIDIA_H100_80GB", accelerator_count=8)),
        f"{FIRST}.machine_spec.machine_type",
        "NVIDIA_H100_80GB",
    ),
    (
        custom_job("x", worker_pool(reservation_affinity={"reservation_affinity_type": "SPECIFIC_RESERVATION"})),
        f"{FIRST}.machine_spec.reservation_affinity",
        "key and values",
    ),
    (custom_job("x", pool(disk_spec={"boot_disk_type": "floppy"})), f"{FIRST}.disk_spec.boot_disk_type", "pd-ssd"),
    (custom_job("x", pool(disk_spec={"boot_disk_size_gb": -1})), f"{FIRST}.disk_spec.boot_disk_size_gb", "64000"),
    (custom_job("x", pool(nfs_mounts=[{"server": "s", "path": "p"}])), f"{FIRST}.nfs_mounts[0].mount_point", UNSET),
    (container(image_uri=""), f"{FIRST}.container_spec.image_uri", UNSET),
    (container(env=[{"name": "a-b", "value": "x"}]), f"{FIRST}.container_spec.env[0].name", "C identifier"),
    (container(env=[{"name": "A", "value": ""}]), f"{FIRST}.container_spec.env[0].value", UNSET),
    (container(env=[{"name": "A", "value": "x"}] * 2), f"{FIRST}.container_spec.env", "must be unique"),
    (container(env=[{"name": f"A{n}", "value": "x"} for n in range(101)]), f"{FIRST}.container_spec.env", "most 100"),
    (with_spec(network="default"), "job_spec.network", "projects/NUMBER"),
    (
        with_spec(base_output_directory={"output_uri_prefix": "/tmp"}),
        "job_spec.base_output_directory.output_uri_prefix",
        "gs://",
    ),
    (with_spec(tensorboard="projects/1/locations/x/tensorboards/2"), "job_spec.service_account", "tensorboard"),
    (with_spec(experiment="e"), "job_spec.service_account", "experiment"),
    (with_spec(persistent_resource_id="pr"), "job_spec.persistent_resource_id", "no persistent resource 'pr'"),
    (with_spec(scheduling={"timeout": "-1s"}), "job_spec.scheduling.timeout", "negative"),
    (with_spec(scheduling={"max_wait_duration": "60s"}), "job_spec.scheduling.max_wait_duration", "FLEX_START"),
    (with_spec(scheduling={"strategy": "FLEX_START"}), f"{FIRST}.machine_spec.machine_type", "FLEX_START"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "field", "told"), CASES)
def test_a_constraint(world: TestWorld, body: Any, field: str, told: str) -> None:
    """VX-18, VX-22: the field is named, and why."""
    assert told in refused(world, body)[field]


def test_a_python_package(world: TestWorld) -> None:
    """VX-18: what it must have, and where its packages are."""
    task = {"executor_image_uri": "us-docker.pkg.dev/x", "package_uris": ["s3://x"]}
    body = custom_job("x", {"machine_spec": {"machine_type": "n1-standard-4"}, "python_package_spec": task})
    found = refused(world, body)
    assert found == {
        f"{FIRST}.python_package_spec.python_module": UNSET,
        f"{FIRST}.python_package_spec.package_uris": "Must be up to 100 URIs that begin with gs://.",
    }


def test_all_at_once(world: TestWorld) -> None:
    """VX-18: one answer names every field."""
    body = custom_job("", pool(machine_spec={}), worker_pool("n1-mega"), labels={"A": ""})
    assert set(refused(world, body)) == {
        "display_name",
        "labels",
        f"{FIRST}.machine_spec.machine_type",
        "job_spec.worker_pool_specs[1].machine_spec.machine_type",
    }


def test_flexible_starts(world: TestWorld) -> None:
    """VX-12: at most seven days, and the same machines everywhere."""
    machine = {"accelerator_type": "NVIDIA_L4", "accelerator_count": 1}
    body = custom_job("x", worker_pool("g2-standard-4", **machine), worker_pool("g2-standard-8", **machine))
    body["job_spec"]["scheduling"] = {"strategy": "FLEX_START", "timeout": "604801s"}
    assert set(refused(world, body)) == {"job_spec.scheduling.timeout", "job_spec.scheduling.strategy"}


def test_labels_of_other_alphabets(world: TestWorld) -> None:
    """VX-18: international characters are allowed; an unused middle pool is empty."""
    spare = {"machine_spec": {"machine_type": "n1-standard-4"}, "container_spec": {"image_uri": "x"}}
    body = custom_job("é" * 128, pool(), {}, spare, labels={"équipe_1": "日本-語", "x": ""})
    job = world.vertex.create_custom_job(parent=PARENT, custom_job=body)
    assert job.labels["équipe_1"] == "日本-語"
    assert len(job.job_spec.worker_pool_specs) == 3


def test_tuning_jobs(world: TestWorld) -> None:
    """VX-21: the study and the trials' job alike."""
    found = refused(world, {"displayName": "x"}, "hyperparameterTuningJobs")
    assert {"study_spec", "trial_job_spec", "max_trial_count", "parallel_trial_count"} <= set(found)
    body = {
        "displayName": "x",
        "studySpec": {"metrics": [{}], "parameters": [{"parameterId": "a", "doubleValueSpec": {"minValue": 1}}]},
        "maxTrialCount": 1,
        "parallelTrialCount": 1,
        "trialJobSpec": {"workerPoolSpecs": [pool(machine_spec={})]},
    }
    found = refused(world, body, "hyperparameterTuningJobs")
    assert found["study_spec.metrics[0].metric_id"] == UNSET
    assert found["study_spec.metrics[0].goal"] == UNSET
    assert found["trial_job_spec.worker_pool_specs[0].machine_spec.machine_type"] == UNSET


def test_the_client_raises_them(world: TestWorld) -> None:
    """VX-19: as users see them."""
    with pytest.raises(exceptions.BadRequest, match=r"List of found errors:\t1\.Field: display_name") as raised:
        world.vertex.create_custom_job(parent=PARENT, custom_job=custom_job(""))
    assert raised.value.details[0]["fieldViolations"][0]["field"] == "display_name"
