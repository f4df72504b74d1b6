"""Proto3 JSON on the wire (VX-19): every form that clients write is read, and one canonical form is written."""

import re
from typing import Any

import pytest
from google.cloud import aiplatform_v1 as v1
from google.protobuf import json_format

from tests.kit import TestWorld, custom_job

JOBS = "projects/p1/locations/us-central1/customJobs"
POOL = {
    "machineSpec": {"machineType": "a3-highgpu-8g", "acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 8},
    "replicaCount": "1",
    "containerSpec": {"imageUri": "gcr.io/demo/train"},
}
JOB = {
    "displayName": "demo",
    "jobSpec": {
        "workerPoolSpecs": [POOL],
        "scheduling": {"timeout": "3600s", "strategy": "FLEX_START", "maxWaitDuration": "1800s"},
    },
    "labels": {"team": "red"},
}


def post(world: TestWorld, body: Any, query: str = "", version: str = "v1") -> Any:
    return world.http.post(f"{world.endpoint}/{version}/{JOBS}{query}", json=body)


def test_what_is_written(world: TestWorld) -> None:
    """VX-19: camel case, enums by name, 64-bit integers and durations as texts, instants in UTC with microseconds, and
    nothing that is unset."""
    told = post(world, JOB).json()
    assert {name: told[name] for name in JOB} == JOB
    assert told.keys() == {*JOB, "name", "state", "createTime", "updateTime"}
    assert re.fullmatch(r"2026-01-01T00:00:00\.000000Z", told["createTime"])
    json_format.ParseDict(told, v1.CustomJob.pb(v1.CustomJob()))  # as strictly as the protocol's own parser


@pytest.mark.parametrize("query", ["?$alt=json;enum-encoding=int", "?%24alt=json%3Benum-encoding%3Dint"])
def test_enums_by_number(world: TestWorld, query: str) -> None:
    """VX-19: as the SDK asks for them, wherever they are."""
    told = post(world, JOB, query).json()
    machine = told["jobSpec"]["workerPoolSpecs"][0]["machineSpec"]
    assert (machine["acceleratorType"], told["jobSpec"]["scheduling"]["strategy"]) == (13, 6)
    assert told["state"] in (1, 2)
    listed = world.http.get(f"{world.endpoint}/v1/{JOBS}{query}").json()
    assert listed["customJobs"] == [told]


@pytest.mark.parametrize("alt", ["?alt=json", "?$alt=json", "?alt=json;enum-encoding=string", "?alt="])
def test_enums_by_name_otherwise(world: TestWorld, alt: str) -> None:
    assert post(world, JOB, alt).json()["jobSpec"] == JOB["jobSpec"]


@pytest.mark.parametrize("alt", ["?alt=proto", "?$alt=media", "?alt=json;enum-encoding=hex"])
def test_no_other_answers_than_json(world: TestWorld, alt: str) -> None:
    answer = post(world, JOB, alt)
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


def changed(**pool: Any) -> dict[str, Any]:
    return {"displayName": "demo", "jobSpec": {"workerPoolSpecs": [{**POOL, **pool}]}}


MACHINE: dict[str, Any] = dict(POOL["machineSpec"])  # type: ignore[call-overload]
SNAKE = {
    "display_name": "demo",
    "job_spec": {
        "worker_pool_specs": [
            {
                "machine_spec": {
                    "machine_type": "a3-highgpu-8g", "accelerator_type": 13, "accelerator_count": "8"
                },
                "replica_count": 1,
                "container_spec": {"image_uri": "gcr.io/demo/train"},
            }
        ]
    },
}  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        changed(),
        changed(replicaCount=1),
        changed(replicaCount=1.0),
        changed(machineSpec={**MACHINE, "acceleratorType": 13}),
        changed(machineSpec={**MACHINE, "acceleratorCount": "8"}),
        changed(machineSpec={**MACHINE, "acceleratorCount": 8.0}),
        changed(diskSpec=None),
        SNAKE,
        {**changed(), "name": "ignored", "state": "JOB_STATE_FAILED", "createTime": "2020-01-01T00:00:00+02:00"},
        {
            **changed(),
            "error": {"code": 3, "message": "mine", "details": [{"@type": "x"}]},
            "webAccessUris": {"a": "b"},
        },
        {**changed(), "labels": {}, "encryptionSpec": None},
        {"displayName": "demo", "jobSpec": {"workerPoolSpecs": POOL}},
    ],
)
def test_forms_that_mean_the_same(world: TestWorld, body: Any) -> None:
    """VX-19: either spelling of names, enums and numbers; null is unset; what is output only is ignored; one value
    stands for a list of it."""
    made = post(world, body)
    assert made.status_code == 200, made.text
    told = made.json()
    assert told["jobSpec"] == {"workerPoolSpecs": [POOL]}
    assert told["displayName"] == "demo"
    assert not {"error", "webAccessUris", "labels", "encryptionSpec"} & told.keys()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("60s", "60s"),
        ("1.5s", "1.500s"),
        ("0.000001s", "0.000001s"),
        ("0060s", "60s"),
        ("-0s", "0s"),
        ("1.10s", "1.100s"),
    ],
)
def test_durations(world: TestWorld, given: str, told: str) -> None:
    """VX-19: with none, three, six or nine digits of a fraction, as the protocol's libraries write them."""
    body = custom_job("demo")
    body["job_spec"]["scheduling"] = {"timeout": given}
    assert post(world, body).json()["jobSpec"]["scheduling"]["timeout"] == told


def violations(answer: Any) -> list[tuple[str, str]]:
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT"), answer.text
    [detail] = error["details"]
    assert detail["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    found = [(each.get("field", ""), each["description"]) for each in detail["fieldViolations"]]
    assert error["message"] == "\n".join(description for _, description in found)
    return found


def test_everything_that_is_wrong_is_told_at_once(world: TestWorld) -> None:
    """VX-19: each as Google's parser says it."""
    body = {
        "displayName": 5,
        "owner": "me",
        "jobSpec": {
            "serviceAccount": ["a"],
            "workerPoolSpecs": [
                {"machineSpec": {"acceleratorType": "H100"}, "replicaCount": "many", "containerSpec": "x", "a": 1},
                7,
            ],
            "scheduling": {"timeout": 3600, "disableRetries": "perhaps"},
        },
        "createTime": "2026-01-01T00:00:00",
    }
    pool = "custom_job.job_spec.worker_pool_specs[0]"
    package = "type.googleapis.com/google.cloud.aiplatform.v1"
    assert set(violations(post(world, body))) == {
        ("custom_job.display_name", "Invalid value at 'custom_job.display_name' (TYPE_STRING), 5"),
        ("custom_job", "Invalid JSON payload received. Unknown name \"owner\" at 'custom_job': Cannot find field."),
        (
            "custom_job.job_spec",
            "Invalid JSON payload received. Unknown name \"service_account\" at 'custom_job.job_spec': "
            "Proto field is not repeating, cannot start list.",
        ),
        (
            f"{pool}.machine_spec.accelerator_type",
            f"Invalid value at '{pool}.machine_spec.accelerator_type' ({package}.AcceleratorType), \"H100\"",
        ),
        (f"{pool}.replica_count", f"Invalid value at '{pool}.replica_count' (TYPE_INT64), \"many\""),
        (f"{pool}.container_spec", f"Invalid value at '{pool}.container_spec' ({package}.ContainerSpec), \"x\""),
        (pool, f"Invalid JSON payload received. Unknown name \"a\" at '{pool}': Cannot find field."),
        (
            "custom_job.job_spec.worker_pool_specs[1]",
            f"Invalid value at 'custom_job.job_spec.worker_pool_specs[1]' ({package}.WorkerPoolSpec), 7",
        ),
        (
            "custom_job.job_spec.scheduling.timeout",
            "Invalid value at 'custom_job.job_spec.scheduling.timeout' (type.googleapis.com/google.protobuf.Duration), "
            "Field 'timeout', Illegal duration format; duration must end with 's'",
        ),
        (
            "custom_job.job_spec.scheduling.disable_retries",
            "Invalid value at 'custom_job.job_spec.scheduling.disable_retries' (TYPE_BOOL), \"perhaps\"",
        ),
        (
            "custom_job.create_time",
            "Invalid value at 'custom_job.create_time' (type.googleapis.com/google.protobuf.Timestamp), Field "
            "'create_time', Illegal timestamp format; timestamps must end with 'Z' or have a valid timezone offset",
        ),
    }


def test_both_of_a_oneof(world: TestWorld) -> None:
    """VX-19."""
    body = changed(pythonPackageSpec={"executorImageUri": "x"})
    [(field, told)] = violations(post(world, body))
    assert field == "custom_job.job_spec.worker_pool_specs[0]"
    assert told.endswith("(oneof), oneof field 'task' is already set. Cannot set 'pythonPackageSpec'")


def test_fields_of_a_version(world: TestWorld) -> None:
    """VX-18: v1beta1 has more of them."""
    body = changed(machineSpec={**MACHINE, "minGpuDriverVersion": "535"})
    assert post(world, body, version="v1beta1").status_code == 200
    [(_, told)] = violations(post(world, body))
    assert 'Unknown name "min_gpu_driver_version"' in told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"[]", 'Unknown name "": Root element must be a message.'),
        (b"7", 'Unknown name "": Root element must be a message.'),
        (b'{"displayName": "a"', "Unexpected token."),
        (b'{"displayName": NaN}', "Unexpected token."),
        (b"\xff\xfe", "Unexpected token."),
        (b"[" * 100_000, "Unexpected token."),
        (b'{"jobSpec":' * 200 + b"{}" + b"}" * 200, "Message too deep."),
    ],
)
def test_bodies_that_are_no_message(world: TestWorld, body: bytes, told: str) -> None:
    """VX-19: a place in the text where there is one."""
    answer = world.http.post(f"{world.endpoint}/v1/{JOBS}", content=body, headers={"content-type": "application/json"})
    assert told in answer.json()["error"]["message"] or "type.googleapis.com" in answer.text
    assert answer.status_code == 400


def test_an_empty_body_is_an_empty_message(world: TestWorld) -> None:
    """VX-19: so what is required is unset."""
    answer = world.http.post(f"{world.endpoint}/v1/{JOBS}", headers={"content-type": "application/json"})
    assert answer.json()["error"]["message"] == (
        "List of found errors:\t1.Field: display_name; Message: Required field is not set."
        "\t2.Field: job_spec; Message: Required field is not set.\t "
    )


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/xml"])
def test_other_types_of_bodies(world: TestWorld, kind: str) -> None:
    """VX-19: 415 in the envelope."""
    answer = world.http.post(f"{world.endpoint}/v1/{JOBS}", content=b"{}", headers={"content-type": kind})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, 415)
