"""Google's error envelope everywhere on its surface, and what is not served there (VX-18, VX-19, RL-13)."""

import re

import httpx
import pytest

from tests.kit import Running, TestWorld

BASE = "v1/projects/p1/locations/us-central1"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def told(answer: httpx.Response) -> tuple[int, str, str]:
    """Status, canonical code and message of a refusal, once it is one of Google's."""
    assert answer.headers["content-type"].startswith("application/json")
    assert UUID.fullmatch(answer.headers["x-request-id"])
    error = answer.json()["error"]
    assert error["code"] == answer.status_code
    return answer.status_code, error["status"], error["message"]


@pytest.mark.parametrize(
    ("method", "path", "status", "code", "said"),
    [
        ("GET", f"{BASE}/endpoints", 501, "UNIMPLEMENTED", "not emulated"),
        ("POST", f"{BASE}/endpoints/1:predict", 501, "UNIMPLEMENTED", "docs/coverage.md"),
        ("POST", f"{BASE}/customJobs/1:pause", 501, "UNIMPLEMENTED", "not emulated"),
        ("POST", f"{BASE}/pipelineJobs", 501, "UNIMPLEMENTED", "not emulated"),
        ("PATCH", f"{BASE}/customJobs/1", 405, "UNIMPLEMENTED", "it takes DELETE, GET"),
        ("PUT", f"{BASE}/customJobs", 405, "UNIMPLEMENTED", "it takes GET, POST"),
        ("GET", f"{BASE}/customJobs/1:cancel", 405, "UNIMPLEMENTED", "it takes POST"),
        ("GET", "v1/models", 404, "NOT_FOUND", "Nothing is served"),
        ("GET", "v1beta1/", 404, "NOT_FOUND", "Nothing is served"),
        ("GET", "v1", 404, "NOT_FOUND", ""),
        ("GET", f"ui/{BASE.removeprefix('v1/')}/customJobs", 501, "UNIMPLEMENTED", "not emulated"),
        ("GET", "v2/anything", 404, "NOT_FOUND", ""),
        ("GET", f"{BASE}/customJobs/1", 404, "NOT_FOUND", "customJobs/1 was not found"),
        ("GET", f"{BASE}/hyperparameterTuningJobs/1", 404, "NOT_FOUND", "hyperparameterTuningJobs/1 was not found"),
        ("GET", f"{BASE}/trainingPipelines/1", 404, "NOT_FOUND", "trainingPipelines/1 was not found"),
        ("POST", f"{BASE}/trainingPipelines/1:cancel", 404, "NOT_FOUND", "was not found"),
        ("DELETE", f"{BASE}/hyperparameterTuningJobs/x%00y", 400, "INVALID_ARGUMENT", "TYPE_STRING"),
        ("GET", f"{BASE}/persistentResources/1", 404, "NOT_FOUND", "persistentResources/1"),
        ("GET", "v1/projects/P_1/locations/us-central1/customJobs", 400, "INVALID_ARGUMENT", "project's id"),
        ("GET", "v1/projects/p1/locations/moon-1/customJobs", 400, "INVALID_ARGUMENT", "'moon-1' is not supported"),
        ("GET", "v1/projects/p1/locations//customJobs", 400, "INVALID_ARGUMENT", "no resource name"),
    ],
)
def test_a_refusal(world: TestWorld, method: str, path: str, status: int, code: str, said: str) -> None:
    """VX-19: 404, 405 and 501 included; what is not emulated says so."""
    found = told(world.http.request(method, f"{world.endpoint}/{path}"))
    assert found[:2] == (status, code)
    assert said in found[2]


def test_the_gate_speaks_google(service: Running, world: TestWorld) -> None:
    """CT-14, VX-19: sizes, hosts, origins and worlds are refused in the envelope."""
    url = f"{world.endpoint}/{BASE}/customJobs"
    assert told(world.http.post(url, content=b" " * 2**21))[:2] == (413, "INVALID_ARGUMENT")
    assert told(world.http.get(url, headers={"host": "evil.com"}))[:2] == (421, "PERMISSION_DENIED")
    assert told(world.http.get(url, headers={"origin": "http://evil.com"}))[:2] == (403, "PERMISSION_DENIED")
    assert told(world.http.post(url, headers={"content-encoding": "gzip"}, content=b"x"))[:2] == (
        415,
        "INVALID_ARGUMENT",
    )
    missing = f"{service.base}/w/nowhere/{BASE}/customJobs"
    assert told(world.http.get(missing))[:2] == (404, "NOT_FOUND")


def test_anybody_may_ask(world: TestWorld) -> None:
    """VX-19: neither no credentials nor made-up ones are refused: the SDK cannot refresh anonymous ones."""
    url = f"{world.endpoint}/{BASE}/customJobs"
    for headers in ({}, {"authorization": "Bearer fake"}, {"authorization": "nonsense"}):
        assert world.http.get(url, headers=headers).json() == {}


def test_requests_are_logged_and_counted(world: TestWorld) -> None:
    """CT-7: by the RPC's name."""
    world.http.get(f"{world.endpoint}/{BASE}/customJobs/1")
    newest = world.control("GET", "requests")["requests"]
    found = next(one for one in newest if one["api"] == "vertex")
    assert (found["operation"], found["status"], found["code"]) == ("GetCustomJob", 404, "NOT_FOUND")
    assert found["region"] == "us-central1"


def test_worlds_do_not_see_each_other(service: Running, world: TestWorld) -> None:
    """CT-0: the same project in two worlds is two."""
    other = service.world()
    body = {
        "displayName": "here",
        "jobSpec": {
            "workerPoolSpecs": [
                {"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": "gcr.io/demo/train"}}
            ]
        },
    }
    made = world.http.post(f"{world.endpoint}/{BASE}/customJobs", json=body).json()
    assert other.http.get(f"{other.endpoint}/v1/{made['name']}").status_code == 404
    assert other.http.get(f"{other.endpoint}/{BASE}/customJobs").json() == {}
