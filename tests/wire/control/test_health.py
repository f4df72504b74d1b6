"""Health, readiness, status, metrics and the last requests (CT-7); events to the outside, polled."""

import httpx

from tests.kit import Running, TestWorld, slurm, workers


def get(service: Running, path: str) -> httpx.Response:
    return httpx.get(f"{service.base}/_windtunnel/{path}")


def test_health_says_alive(service: Running) -> None:
    assert get(service, "health").json() == {"status": "alive"}


def test_status_tells_what_the_service_is(world: TestWorld) -> None:
    """CT-7: address, database, clock, profile, auth mode, versions."""
    told = world.control("GET", "status")
    assert told["clock"]["world"] == world.name
    assert (told["profile"], told["auth"]) == ("fast", "off")
    assert set(told["versions"]) == {"windtunnel", "botocore", "postgres", "python"}
    assert "windtunnel@" not in told["database"]
    assert [each["kind"] for each in told["processes"]].count("api") >= 1
    assert told["failing"] == []


def test_requests_and_metrics_know_what_was_asked(world: TestWorld) -> None:
    """CT-7: the last requests, redacted, of this world alone; Prometheus metrics."""
    world.sagemaker.list_clusters()
    world.http.get(f"{world.endpoint}/_windtunnel/nothing")
    world.now()
    newest = world.control("GET", "requests", params={"limit": 3})["requests"]
    assert [(each["api"], each["operation"], each["status"]) for each in newest] == [
        ("control", "read_clock", 200),
        ("control", "", 404),
        ("sagemaker", "ListClusters", 200),
    ]
    text = world.http.get(f"{world.endpoint}/_windtunnel/metrics").text
    assert 'windtunnel_requests_total{api="sagemaker",code="ok",operation="ListClusters"}' in text
    assert "nothing" not in text


def test_every_answer_has_a_request_id_and_stays_in_the_dialect_of_its_path(service: Running) -> None:
    """CT-14: 404 and 405 too."""
    ours = get(service, "no/such/noun")
    assert (ours.status_code, ours.json()["error"]["code"]) == (404, "NotFound")
    wrong = httpx.patch(f"{service.base}/_windtunnel/clock", json={})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "MethodNotAllowed")
    google = httpx.get(f"{service.base}/v1/projects/p/locations/l/customJobs")
    assert (google.status_code, google.json()["error"]["status"]) == (404, "NOT_FOUND")
    aws = httpx.get(service.base + "/")
    assert (aws.status_code, aws.json()["__type"]) == (405, "MethodNotAllowed")
    for answer in (ours, wrong, google):
        assert len(answer.headers.get_list("x-request-id")) == 1


def test_a_body_that_is_no_json_or_no_object_is_told(world: TestWorld) -> None:
    for content in (b"{", b"[]", b'"x"', b""):
        answer = world.http.post(
            f"{world.endpoint}/_windtunnel/clock", content=content, headers={"content-type": "application/json"}
        )
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "Invalid")


def test_announcements_are_eventbridge_envelopes(world: TestWorld) -> None:
    """HP-28: the envelope's form."""
    arn = world.sagemaker.create_cluster(**slurm(workers(1)))["ClusterArn"]
    world.advance(60)
    events = world.control("GET", "events")["events"]
    assert events == world.control("GET", "events")["events"]
    assert len({event["id"] for event in events}) == len(events) > 0
    assert set(events[0]) == {
        "version", "id", "detail-type", "source", "account", "time", "region", "resources", "detail"
    }  # fmt: skip
    assert events[0]["resources"] == [arn]
    assert world.control("GET", "events", params={"limit": 1})["events"] == events[-1:]


def test_the_documents_are_served(service: Running) -> None:
    assert "/_windtunnel/bills" in get(service, "openapi.json").json()["paths"]
