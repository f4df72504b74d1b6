"""Faults of requests to Cloud Storage, as its own client meets them (CT-3)."""

import httpx
import pytest
from google.api_core import exceptions
from google.cloud.storage.retry import DEFAULT_RETRY

from tests.kit import TestWorld


def names(world: TestWorld) -> list[str]:
    return [blob.name for blob in world.storage.list_blobs("bkt")]


def upload(world: TestWorld, name: str, **asked: object) -> None:
    world.storage.bucket("bkt").blob(name).upload_from_string("hello", **asked)


def test_an_error_and_its_end(world: TestWorld) -> None:
    """CT-3: the code of the rule as HTTP has it, with the rule's text; then the request goes its way."""
    world.storage.create_bucket("bkt")
    world.fault(
        "api-error", api="storage", operation="objects.insert", code="PERMISSION_DENIED", message="No.", times=1
    )
    with pytest.raises(exceptions.Forbidden, match=r"No\."):
        upload(world, "a")
    assert names(world) == []
    upload(world, "a")
    assert names(world) == ["a"]


def test_the_client_tries_again(world: TestWorld) -> None:
    """CT-3: 503 and 429 are met by the client's own back-off."""
    patient = DEFAULT_RETRY.with_delay(0.01, 0.02)
    for effect, code in (("api-error", {"code": "UNAVAILABLE"}), ("api-throttle", {})):
        world.fault(effect, api="storage", operation="objects.insert", times=2, **code)
        upload(world, effect, retry=patient)
        world.fault(effect, api="storage", operation="objects.list", times=1, **code)
        assert [blob.name for blob in world.storage.list_blobs("bkt", retry=patient)][-1] == effect


def test_downloads_are_befallen(world: TestWorld) -> None:
    """CT-3: in Cloud Storage's form, with 429 for throttling."""
    upload(world, "a")
    world.fault("api-throttle", api="storage", operation="objects.get", times=1)
    answer = world.http.get("/download/storage/v1/b/bkt/o/a?alt=media")
    assert (answer.status_code, answer.json()["error"]["errors"][0]["reason"]) == (429, "rateLimitExceeded")
    assert world.http.get("/download/storage/v1/b/bkt/o/a?alt=media").content == b"hello"


def test_a_drop_before_and_after(world: TestWorld) -> None:
    """CT-3: no answer either way; the object is there only when the connection was dropped after the commit."""
    for code, there in (("before", []), ("after", ["a"])):
        world.fault("api-drop", api="storage", operation="objects.insert", code=code, times=1)
        with pytest.raises((ConnectionError, OSError)):
            upload(world, "a", retry=None)
        assert [each["name"] for each in _listed(world)] == there


def _listed(world: TestWorld) -> list[dict[str, str]]:
    answer = world.http.get("/storage/v1/b/bkt/o")
    found: list[dict[str, str]] = answer.json().get("items", [])
    return found


def test_latency(world: TestWorld) -> None:
    """CT-3: the answer is late; what was asked is done."""
    world.storage.create_bucket("bkt")
    world.fault("api-latency", api="storage", seconds=0.4, times=1)
    with pytest.raises(httpx.ReadTimeout):
        world.http.delete("/storage/v1/b/bkt", timeout=0.2)
    assert world.http.get("/storage/v1/b/bkt").status_code == 404


def test_operations_have_the_api_s_names(world: TestWorld) -> None:
    """CT-3: another one is refused, with the one that was meant."""
    url = f"{world.endpoint}/_windtunnel/faults"
    answer = world.http.post(url, json={"effect": "api-error", "api": "storage", "operation": "objects.inserts"})
    assert "objects.insert?" in answer.json()["error"]["message"]
