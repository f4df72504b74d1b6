"""Custom jobs over REST, through Google's own client (VX-18, VX-19)."""

from typing import Any

import pytest
from google.api_core import exceptions
from google.cloud import aiplatform_v1 as v1

from tests.kit import TestWorld, custom_job

PARENT = "projects/p1/locations/us-central1"


def test_a_job_from_its_creation_to_its_deletion(world: TestWorld) -> None:
    """VX-18: names answer with the project's number, and both forms find the job."""
    made = world.vertex.create_custom_job(parent=PARENT, custom_job=custom_job("demo"))
    assert made.state == v1.JobState.JOB_STATE_PENDING
    number = made.name.split("/")[1]
    assert number.isdecimal()
    assert made.name.startswith(f"projects/{number}/locations/us-central1/customJobs/")
    by_id = f"{PARENT}/customJobs/{made.name.rpartition('/')[2]}"
    with pytest.raises(exceptions.BadRequest, match="Cancel it first"):
        world.vertex.delete_custom_job(name=by_id)
    world.advance(minutes=10)
    done = world.vertex.get_custom_job(name=by_id)
    assert done == world.vertex.get_custom_job(name=made.name)
    assert done.state == v1.JobState.JOB_STATE_SUCCEEDED
    assert [each.name for each in world.vertex.list_custom_jobs(parent=PARENT)] == [made.name]
    operation: Any = world.vertex.delete_custom_job(name=made.name)
    operation.result()
    with pytest.raises(exceptions.NotFound):
        world.vertex.get_custom_job(name=made.name)
    assert not list(world.vertex.list_custom_jobs(parent=PARENT))
