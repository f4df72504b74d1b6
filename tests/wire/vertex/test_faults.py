"""Faults of requests in Google's dialect (CT-3, VX-19): each class of error as Google's client raises it."""

import httpx
import pytest
from google.api_core import exceptions
from google.cloud import aiplatform_v1 as v1

from tests.kit import TestWorld, custom_job

PARENT = "projects/p1/locations/us-central1"

CLASSES = {
    "INVALID_ARGUMENT": exceptions.BadRequest,
    "PERMISSION_DENIED": exceptions.Forbidden,
    "NOT_FOUND": exceptions.NotFound,
    "ALREADY_EXISTS": exceptions.Conflict,
    "ABORTED": exceptions.Conflict,
    "FAILED_PRECONDITION": exceptions.BadRequest,
    "OUT_OF_RANGE": exceptions.BadRequest,
    "RESOURCE_EXHAUSTED": exceptions.TooManyRequests,
    "CANCELLED": exceptions.GoogleAPICallError,
    "UNKNOWN": exceptions.InternalServerError,
    "INTERNAL": exceptions.InternalServerError,
    "DATA_LOSS": exceptions.InternalServerError,
    "UNIMPLEMENTED": exceptions.MethodNotImplemented,
    "UNAVAILABLE": exceptions.ServiceUnavailable,
    "DEADLINE_EXCEEDED": exceptions.GatewayTimeout,
    None: exceptions.InternalServerError,
}


@pytest.mark.parametrize("code", CLASSES)
def test_an_error_of_each_class(world: TestWorld, code: str | None) -> None:
    """CT-3: the code of the rule, its HTTP status, and the class that the client makes of it."""
    world.fault("api-error", api="vertex", operation="GetCustomJob", times=1, **({"code": code} if code else {}))
    with pytest.raises(CLASSES[code]) as raised:
        world.vertex.get_custom_job(name=f"{PARENT}/customJobs/1")
    assert raised.value.message
    with pytest.raises(exceptions.NotFound, match="was not found"):
        world.vertex.get_custom_job(name=f"{PARENT}/customJobs/1")


def test_an_error_has_the_text_of_its_rule(world: TestWorld) -> None:
    """CT-3, and why permission is denied is told as the SDK shows it."""
    world.fault("api-error", code="PERMISSION_DENIED", message="No act-as.", operation="CreateCustomJob", times=1)
    with pytest.raises(exceptions.Forbidden, match=r"No act-as\.") as raised:
        world.vertex.create_custom_job(parent=PARENT, custom_job=custom_job())
    assert raised.value.reason == "IAM_PERMISSION_DENIED"
    assert not list(world.vertex.list_custom_jobs(parent=PARENT))


def test_throttling(world: TestWorld) -> None:
    """CT-3: 429 RESOURCE_EXHAUSTED with the metric."""
    world.fault("api-throttle", api="vertex", times=1)
    with pytest.raises(exceptions.TooManyRequests, match="Quota exceeded for quota metric") as raised:
        world.vertex.list_custom_jobs(parent=PARENT)
    assert raised.value.reason == "RATE_LIMIT_EXCEEDED"


def test_a_drop_before_and_after(world: TestWorld) -> None:
    """CT-3: no answer either way; the job is there only when the connection was dropped after the commit."""
    for code, there in (("before", 0), ("after", 1)):
        world.fault("api-drop", api="vertex", operation="CreateCustomJob", code=code, times=1)
        with pytest.raises(OSError):  # as `requests` has it
            world.vertex.create_custom_job(parent=PARENT, custom_job=custom_job(code))
        assert len(list(world.vertex.list_custom_jobs(parent=PARENT))) == there


def test_an_error_for_one_job(world: TestWorld) -> None:
    """tfx#5870: polling meets a 503, of one job and for so many times."""
    job = world.vertex.create_custom_job(parent=PARENT, custom_job=custom_job("polled"))
    world.fault("api-error", code="UNAVAILABLE", operation="GetCustomJob", times=2)
    for _ in range(2):
        with pytest.raises(exceptions.ServiceUnavailable):
            world.vertex.get_custom_job(name=job.name)
    assert world.vertex.get_custom_job(name=job.name).state == v1.JobState.JOB_STATE_PENDING


def test_what_a_rule_may_name(world: TestWorld) -> None:
    """CT-3: an operation that the API lacks is refused, with the one that was meant."""
    answer = httpx.post(
        f"{world.endpoint}/_windtunnel/faults",
        json={"effect": "api-error", "api": "vertex", "operation": "CreateCustomJobs"},
    )
    assert answer.status_code == 400
    assert "CreateCustomJob?" in answer.json()["error"]["message"]
