"""Cloud Logging's entries:list in JSON, and by google-cloud-logging and gcloud (VX-17)."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import logging_v2

from app.core.log_lines import SEVERITIES
from app.core.projects import number_of
from tests.jobs import pool
from tests.kit import Running, TestWorld, custom_job, worker_pool

PARENT = "projects/p1/locations/us-central1"
FAILS = [{"name": f"WINDTUNNEL_EXIT_{what}", "value": "1"} for what in ("CODE", "AFTER_SECONDS")]
RUNS = [{"name": "WINDTUNNEL_RUN_SECONDS", "value": "300"}]
START = [
    "Waiting for job to be provisioned.",
    "Vertex AI is provisioning job running framework. First time usage might take couple of minutes, and subsequent "
    "runs can be much faster.",
    "Vertex AI is setting up this job.",
    "Waiting for training program to start.",
    "Job is preparing.",
]


def create(world: TestWorld, name: str = "demo", parent: str = PARENT, *, fails: bool = False) -> str:
    """The id of a new job; of one that fails the second worker exits with 1."""
    pools = [worker_pool()]
    if fails:
        pools = [worker_pool(), worker_pool()]
        pools[0]["container_spec"] |= {"env": RUNS}
        pools[1]["container_spec"] |= {"env": FAILS}
    made = world.vertex.create_custom_job(parent=parent, custom_job=custom_job(name, *pools))
    return str(made.name.rpartition("/")[2])


def ask(world: TestWorld, query: str = "", **request: Any) -> httpx.Response:
    body = {"resourceNames": ["projects/p1"]} | request
    return world.http.post(f"{world.endpoint}/v2/entries:list{query}", json=body)


def entries(world: TestWorld, **request: Any) -> list[dict[str, Any]]:
    answer = ask(world, **request)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json().get("entries", [])
    return found


def text(found: list[dict[str, Any]]) -> list[str]:
    return [each["textPayload"] for each in found]


def by_pages(world: TestWorld, **request: Any) -> Iterator[list[dict[str, Any]]]:
    token = ""
    while True:
        answer = ask(world, pageToken=token, **request).json()
        yield answer.get("entries", [])
        token = answer.get("nextPageToken")
        if not token:
            return


@pytest.fixture
def failed(world: TestWorld) -> TestWorld:
    """Two jobs of one project, of which the second fails, and one of another."""
    create(world, "first")
    create(world, "second", fails=True)
    create(world, "third", "projects/p2/locations/europe-west4")
    world.advance(minutes=20)
    return world


def test_a_job_from_its_start_to_its_end(world: TestWorld) -> None:
    """VX-17: what service and replicas write, in order, with the real task names."""
    job_id = create(world, fails=True)
    world.advance(minutes=20)
    found = entries(world, filter=f'resource.type="ml_job" AND resource.labels.job_id="{job_id}"')
    assert text(found)[: len(START)] == START
    assert {each["resource"]["labels"]["task_name"] for each in found} == {"service", "workerpool1-0"}
    *_, error = [each for each in found if each["severity"] == "ERROR"]
    assert error["logName"] == f"projects/p1/logs/ml.googleapis.com%2F{job_id}"
    assert error["textPayload"].startswith("The replica workerpool1-0 exited with a non-zero status of 1.")
    assert "To find out more about why your job exited please check the logs:" in error["textPayload"]
    assert [each["insertId"] for each in found] == sorted({each["insertId"] for each in found})
    assert [each["timestamp"] for each in found] == sorted(each["timestamp"] for each in found)


def test_projects_and_regions(failed: TestWorld) -> None:
    """VX-17: a project's jobs of all regions, and no other's; a number is the project too, and shown as asked."""
    assert len({each["resource"]["labels"]["job_id"] for each in entries(failed, pageSize=1000)}) == 2
    number = number_of("p2")
    [only, *_] = entries(failed, resourceNames=[f"projects/{number}/locations/global/buckets/_Default/views/_AllLogs"])
    assert only["resource"]["labels"]["project_id"] == number
    both = entries(failed, resourceNames=["projects/p1"], projectIds=["p2"], pageSize=1000)
    assert len({each["resource"]["labels"]["job_id"] for each in both}) == 3
    assert {each["resource"]["labels"]["project_id"] for each in both} == {"p1", "p2"}
    assert entries(failed, resourceNames=["projects/nothing-here"]) == []


@pytest.mark.parametrize("order", ["timestamp asc", "timestamp desc"])
def test_pages(failed: TestWorld, order: str) -> None:
    """VX-17: nothing is missing, nothing comes twice; the last page has no token."""
    whole = entries(failed, orderBy=order, pageSize=1000)
    pages = list(by_pages(failed, orderBy=order, pageSize=3))
    assert [each for page in pages for each in page] == whole
    assert [len(page) for page in pages[:-1]] == [3] * (len(pages) - 1)
    assert entries(failed, pageSize=1000, orderBy="timestamp") == (whole if order.endswith("asc") else whole[::-1])
    service = list(by_pages(failed, orderBy=order, pageSize=2, filter="resource.labels.task_name=service"))
    assert [each for page in service for each in page] == [
        each for each in whole if each["resource"]["labels"]["task_name"] == "service"
    ]


def test_pages_are_stable_while_lines_are_written(world: TestWorld) -> None:
    """VX-17: what comes behind is on later pages, and nothing moves."""
    create(world)
    world.advance(0.5)
    pages = by_pages(world, pageSize=2)
    found = next(pages)
    create(world, "other")
    world.advance(minutes=20)
    found += [each for page in pages for each in page]
    ids = [each["insertId"] for each in found]
    assert len(set(ids)) == len(ids)
    assert found[2:] == [each for each in entries(world, pageSize=1000) if each["insertId"] not in ids[:2]]


def test_severities_by_number(failed: TestWorld) -> None:
    """VX-19: as `$alt=json;enum-encoding=int` asks."""
    named = entries(failed)
    numbered = ask(failed, "?%24alt=json%3Benum-encoding%3Dint&prettyPrint=false").json()["entries"]
    assert [each["severity"] for each in numbered] == [SEVERITIES[each["severity"]] for each in named]
    assert ask(failed, "?$alt=json;enum-encoding=int", filter="severity=ALERT").json() == {}


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"resourceNames": []}, "Name at least one project"),
        ({"resourceNames": ["organizations/5"]}, "'organizations/5' is no project"),
        ({"resourceNames": ["projects/p"] * 101}, "101 resources"),
        ({"resourceNames": "projects/p1", "filter": "severity=LOUD"}, "At character 1: 'LOUD' is no severity"),
        ({"filter": 'textPayload=~"x"'}, "regular expressions are not read"),
        ({"orderBy": "severity"}, "'severity' is no order"),
        ({"orderBy": "timestamp up"}, "is no order"),
        ({"pageSize": -1}, "page_size is -1"),
        ({"pageSize": 1001}, "page_size is 1001"),
        ({"pageToken": "x"}, "not one of this list"),
        ({"resources": []}, "Unknown name"),
        ({"filter": 5}, "Invalid value at 'filter'"),
    ],
)
def test_what_is_refused(world: TestWorld, request_: dict[str, Any], said: str) -> None:
    """VX-19: 400 INVALID_ARGUMENT, and where."""
    answer = ask(world, **request_)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["status"] == "INVALID_ARGUMENT"
    assert said in error["message"]


def test_a_token_is_of_its_question(failed: TestWorld) -> None:
    """A page token is refused with another filter, order, project or world."""
    token = ask(failed, pageSize=1).json()["nextPageToken"]
    assert ask(failed, pageSize=5, pageToken=token).status_code == 200
    for other in ({"filter": "severity=INFO"}, {"orderBy": "timestamp desc"}, {"resourceNames": ["projects/p2"]}):
        assert ask(failed, pageToken=token, **other).status_code == 400


@pytest.mark.parametrize(
    ("query", "content", "status"),
    [
        ("", b"{", 400),
        ("", b"[]", 400),
        ("", b"", 400),
        ("?pageSize=5", b"{}", 400),
        ("?alt=media", b"{}", 400),
        ("", b"[" * 10_000, 400),
        ("", b"\xff", 400),
    ],
)
def test_what_is_no_request(world: TestWorld, query: str, content: bytes, status: int) -> None:
    answer = world.http.post(f"{world.endpoint}/v2/entries:list{query}", content=content)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, status), answer.text


def test_faults(failed: TestWorld) -> None:
    """CT-3: of the API `logging`; a drop comes without an answer."""
    failed.fault("api-error", api="logging", operation="ListLogEntries", code="UNAVAILABLE", times=1)
    assert ask(failed).status_code == 503
    failed.fault("api-throttle", api="logging", times=1)
    assert ask(failed).json()["error"]["status"] == "RESOURCE_EXHAUSTED"
    failed.fault("api-drop", api="logging", code="after", times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        ask(failed)
    assert ask(failed).status_code == 200


def test_no_such_world(world: TestWorld) -> None:
    assert httpx.post(f"{world.base}/w/nowhere/v2/entries:list", json={}).status_code == 404
    assert httpx.get(f"{world.endpoint}/v2/entries:list").json()["error"]["status"] == "UNIMPLEMENTED"


def test_google_cloud_logging(failed: TestWorld) -> None:
    """VX-17: list_entries, which asks for the last day by the clock of its machine."""
    options = {"api_endpoint": failed.endpoint}
    client = logging_v2.Client(
        project="p1", credentials=AnonymousCredentials(), client_options=options, _use_grpc=False
    )
    found = list(client.list_entries(page_size=4))
    assert len(found) == len(entries(failed, pageSize=1000))
    assert [entry.payload for entry in found[: len(START)]] == START
    errors = list(client.list_entries(filter_="severity>=ERROR", order_by="timestamp desc", max_results=1))
    assert errors[0].severity == "ERROR"
    assert errors[0].resource.labels["task_name"] == "service"
    client.close()


def stream(world: TestWorld, kind: str, job_id: str, *arguments: str) -> list[list[str]]:
    where = ("--region=us-central1", "--project=p1", "--polling-interval=1")
    ran = world.gcloud("ai", kind, "stream-logs", job_id, *where, *arguments)
    assert ran.returncode == 0, ran.stderr
    return [line.split("\t") for line in ran.stdout.splitlines()]


def test_gcloud_streams_logs(service: Running) -> None:
    """VX-17: each line once, of a job that has ended; here of a world that is years ahead of gcloud's machine."""
    world = service.world(start="2040-01-01T00:00:00Z")
    job_id = create(world, fails=True)
    world.advance(minutes=20)
    lines = stream(world, "custom-jobs", job_id)
    assert [line[3] for line in lines[: len(START)]] == START
    assert lines[0] == ["INFO", "2040-01-01 00:00:00 +0000", "service", START[0]]
    told = [piece for whole in text(entries(world)) for piece in whole.splitlines()]
    assert [line[3] for line in lines] == told
    only = stream(world, "custom-jobs", job_id, "--task-name=workerpool1-0")
    assert only and {line[2] for line in only} == {"workerpool1-0"}


def test_gcloud_streams_logs_of_trials(world: TestWorld) -> None:
    """VX-17, VX-21: of all trials, by the id of the tuning job."""
    study = {
        "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
        "parameters": [{"parameterId": "lr", "doubleValueSpec": {"minValue": 0.1, "maxValue": 1}}],
        "algorithm": "RANDOM_SEARCH",
    }
    body = {
        "displayName": "tunes",
        "studySpec": study,
        "trialJobSpec": {"workerPoolSpecs": [pool()]},
        "maxTrialCount": 2,
        "parallelTrialCount": 2,
    }
    made = world.http.post(f"{world.endpoint}/v1/{PARENT}/hyperparameterTuningJobs", json=body).json()
    world.advance(hours=1)
    job_id = made["name"].rpartition("/")[2]
    found = entries(world, filter=f"resource.labels.job_id={job_id}", pageSize=1000)
    assert {each["labels"]["ml.googleapis.com/trial_id"] for each in found} == {"1", "2"}
    assert len(stream(world, "hp-tuning-jobs", job_id)) == len(found)
