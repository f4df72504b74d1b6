"""Long-running operations and locations, as the mixins of Google's clients ask for them (VX-18)."""

from typing import Any

import pytest
from google.api_core import exceptions

from tests.kit import TestWorld, custom_job

PARENT = "projects/p1/locations/us-central1"


@pytest.fixture
def operation(world: TestWorld) -> str:
    """The name of the operation that has deleted a job."""
    job = world.vertex.create_custom_job(parent=PARENT, custom_job=custom_job("gone"))
    world.advance(hours=1)
    future: Any = world.vertex.delete_custom_job(name=job.name)
    assert future.done()
    assert future.metadata.generic_metadata.create_time
    name: str = future.operation.name
    assert name.startswith(f"{job.name}/operations/")
    return name


def flat(name: str) -> str:
    return f"{PARENT}/operations/{name.rpartition('/')[2]}"


def test_the_client_finds_it_flat_and_nested(world: TestWorld, operation: str) -> None:
    """VX-18: the SDK asks under `/ui/`."""
    client = world.vertex
    for name in (operation, flat(operation)):
        found = client.get_operation({"name": name})
        assert (found.name, found.done) == (operation, True)
        assert found.response.type_url.endswith("/google.protobuf.Empty")
        assert found.metadata.type_url.endswith("google.cloud.aiplatform.v1.DeleteOperationMetadata")
        assert client.wait_operation({"name": name, "timeout": {"seconds": 5}}).name == operation
        client.cancel_operation({"name": name})
    other = operation.replace("/customJobs/", "/hyperparameterTuningJobs/")
    with pytest.raises(exceptions.NotFound):
        client.get_operation({"name": other})


@pytest.mark.parametrize("prefix", ["v1", "v1beta1", "ui"])
def test_every_prefix(world: TestWorld, operation: str, prefix: str) -> None:
    """VX-18: each verb under each prefix; what the version is called shows in the metadata alone."""
    url = f"{world.endpoint}/{prefix}/{operation}"
    package = "v1beta1" if prefix == "v1beta1" else "v1"
    kind = world.http.get(url).json()["metadata"]["@type"]
    assert kind == f"type.googleapis.com/google.cloud.aiplatform.{package}.DeleteOperationMetadata"
    assert world.http.post(f"{url}:wait?timeout=5s").json()["done"]
    assert world.http.post(f"{url}:wait", json={"timeout": "5s"}).json()["done"]
    assert world.http.post(f"{url}:cancel", json={}).json() == {}
    assert world.http.delete(url).json() == {}
    assert world.http.get(url).status_code == 404
    assert world.http.delete(url).status_code == 404


def test_lists(world: TestWorld, operation: str) -> None:
    """VX-18: of a location, and of one resource."""
    job = operation.partition("/operations/")[0]
    for name, count in ((PARENT, 1), (job, 1), (f"{PARENT}/customJobs/1", 0)):
        found = world.vertex.list_operations({"name": name, "filter": "done=true"})
        assert len(found.operations) == count


def test_they_are_forgotten(world: TestWorld, operation: str) -> None:
    """Chosen: after thirty days, when another is begun."""
    job = world.vertex.create_custom_job(parent=PARENT, custom_job=custom_job("next"))
    world.advance(hours=24 * 31)
    assert world.vertex.get_operation({"name": operation}).done
    world.vertex.delete_custom_job(name=job.name)
    with pytest.raises(exceptions.NotFound, match="30 days"):
        world.vertex.get_operation({"name": operation})


def test_locations(world: TestWorld) -> None:
    """VX-18."""
    found = world.vertex.list_locations({"name": "projects/p1"})
    ids = [each.location_id for each in found.locations]
    assert "us-central1" in ids
    assert ids == sorted(ids)
    one = world.vertex.get_location({"name": PARENT})
    assert (one.name, one.location_id) == (PARENT, "us-central1")
    first = world.vertex.list_locations({"name": "projects/p1", "page_size": 2})
    second = world.vertex.list_locations({"name": "projects/p1", "page_token": first.next_page_token})
    assert [each.location_id for each in (*first.locations, *second.locations)] == ids
    assert len(world.vertex.list_locations({"name": "projects/p1", "filter": "location_id:europe-*"}).locations) > 3
    with pytest.raises(exceptions.BadRequest, match="moon-1"):
        world.vertex.get_location({"name": "projects/p1/locations/moon-1"})


def test_each_location_that_the_sdk_knows_is_known(world: TestWorld) -> None:
    """`aiplatform.init` checks against a list of its own: what it lets through must be there."""
    from google.cloud.aiplatform.constants.base import SUPPORTED_REGIONS

    ids = {each.location_id for each in world.vertex.list_locations({"name": "projects/p1"}).locations}
    assert set(SUPPORTED_REGIONS) - {"global"} <= ids
