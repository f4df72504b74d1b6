"""What has hurt people who run Vertex AI's custom jobs, each as a scenario, through Google's own client.

The public issues are named; pains of the SDK itself, of images and of data are not here. Further ones are where their
rules are proved: quotas in tests/scenarios/test_vertex_jobs.py, experiments in tests/wire/vertex/test_high_level.py.
"""

from typing import Any

import pytest
from google.api_core import exceptions
from google.cloud import aiplatform_v1 as v1

from tests.kit import TestWorld, custom_job, worker_pool

PARENT = "projects/p1/locations/us-central1"
L4 = {"machine_type": "g2-standard-4", "accelerator_type": "NVIDIA_L4", "accelerator_count": 1}
State = v1.JobState


def create(world: TestWorld, *pools: dict[str, Any], parent: str = PARENT, **scheduling: Any) -> str:
    body = custom_job("pain", *pools)
    if scheduling:
        body["job_spec"]["scheduling"] = scheduling
    name: str = world.vertex.create_custom_job(parent=parent, custom_job=body).name
    return name


def get(world: TestWorld, name: str) -> Any:
    return world.vertex.get_custom_job(name=name)


def test_a_job_fails_before_its_container_starts(world: TestWorld) -> None:
    """PrefectHQ/prefect#22727: accepted, and failed without ever having run, for lack of machines (VX-12)."""
    world.capacity("n1-standard-4", 0, region="us-central1")
    name = create(world)
    assert get(world, name).state == State.JOB_STATE_PENDING
    world.advance(hours=6)
    failed = get(world, name)
    assert (failed.state, failed.error.code, bool(failed.start_time)) == (State.JOB_STATE_FAILED, 8, False)
    assert failed.error.message.startswith("Resources are insufficient in region: us-central1.")


def test_another_region_or_patience_gets_the_machines(world: TestWorld) -> None:
    """openreview/openreview-expertise#401: a stockout is a region's; FLEX_START waits for its end (VX-12)."""
    world.capacity("g2-standard-4", 0, region="us-central1")
    patient = create(world, worker_pool(**L4), strategy="FLEX_START", max_wait_duration={"seconds": 86_400})
    elsewhere = create(world, worker_pool(**L4), parent=PARENT.replace("us-central1", "europe-west4"))
    world.advance(hours=8)
    assert get(world, elsewhere).state == State.JOB_STATE_SUCCEEDED
    assert get(world, patient).state == State.JOB_STATE_PENDING
    world.capacity("g2-standard-4", 1, region="us-central1")
    world.advance(hours=1)
    assert get(world, patient).state == State.JOB_STATE_SUCCEEDED


def test_a_timeout_ends_what_would_cost_for_ever(world: TestWorld) -> None:
    """googleapis/python-aiplatform#1032: the running time is bounded (VX-14)."""
    endless = worker_pool()
    endless["container_spec"]["env"] = [{"name": "WINDTUNNEL_RUN_SECONDS", "value": "31536000"}]
    name = create(world, endless, timeout={"seconds": 3600})
    world.advance(hours=2)
    failed = get(world, name)
    assert (failed.state, failed.error.code) == (State.JOB_STATE_FAILED, 4)
    assert (failed.end_time - failed.start_time).total_seconds() == 3600


def test_an_internal_error_tells_no_more(world: TestWorld) -> None:
    """googleapis/python-aiplatform#2231, tensorflow/tfx#5130: three attempts, and one sentence (VX-13)."""
    world.fault("internal-error", operation="CreateCustomJob", times=3)
    name = create(world)
    world.advance(hours=6)
    failed = get(world, name)
    assert (failed.state, failed.error.code) == (State.JOB_STATE_FAILED, 13)
    assert failed.error.message.startswith("Internal error occurred for the current attempt.")


def test_a_poller_reconnects(world: TestWorld) -> None:
    """kubeflow/pipelines#5805: a connection is reset while a job is looked at; the job goes on (CT-3)."""
    name = create(world)
    world.fault("api-drop", api="vertex", operation="GetCustomJob", times=2)
    for _ in range(2):
        with pytest.raises(OSError):  # as `requests` has it
            get(world, name)
    world.advance(hours=1)
    assert get(world, name).state == State.JOB_STATE_SUCCEEDED


def test_a_cancelled_job_passes_through_cancelling(world: TestWorld) -> None:
    """PrefectHQ/prefect#13056, prefect-archive/prefect-gcp#213: the window is there, and the error is filled, too."""
    name = create(world)
    world.advance(5)
    world.vertex.cancel_custom_job(name=name)
    assert get(world, name).state == State.JOB_STATE_CANCELLING
    world.vertex.cancel_custom_job(name=name)
    world.advance(minutes=5)
    cancelled = get(world, name)
    assert (cancelled.state, cancelled.error.code) == (State.JOB_STATE_CANCELLED, 1)
    assert cancelled.error.message
    world.vertex.cancel_custom_job(name=name)
    assert get(world, name) == cancelled, "of what has ended nothing is asked (VX-14)"


def test_records_live_on_until_they_are_deleted(world: TestWorld) -> None:
    """mondoohq/cnspec#3813: years later the finished job is still listed; only a deletion ends that."""
    name = create(world)
    world.advance(hours=24 * 365 * 3)
    assert [job.name for job in world.vertex.list_custom_jobs(parent=PARENT)] == [name]
    world.vertex.delete_custom_job(name=name).result()
    assert not list(world.vertex.list_custom_jobs(parent=PARENT))


def test_a_permission_that_is_missing_is_named(world: TestWorld) -> None:
    """zenml-io/zenml#1536: 403, with the reason that the SDK shows."""
    text = "You do not have permission to act as service account: sa@p1.iam.gserviceaccount.com"
    world.fault("api-error", api="vertex", operation="CreateCustomJob", code="PERMISSION_DENIED", message=text, times=1)
    with pytest.raises(exceptions.Forbidden, match="permission to act as service account") as raised:
        create(world)
    assert raised.value.reason == "IAM_PERMISSION_DENIED"
