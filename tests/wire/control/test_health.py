"""Health, readiness, status, metrics and the last requests (CT-7); events to the outside, polled."""

import asyncio
import re
from datetime import UTC, datetime

import httpx

from app.core.times import WorldTime
from app.settings import Settings
from app.store.db import Database
from app.usecases import health, liveness, worlds
from app.usecases.worlds import Setting
from tests.kit import Running, TestWorld, serving, slurm, workers


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
    seen = [each[name] for each in told["processes"] for name in ("started_wall", "seen_wall")]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", each) for each in seen)


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


def gauge(world: TestWorld, name: str) -> float:
    """A gauge of this world."""
    text = world.http.get(f"{world.endpoint}/_windtunnel/metrics").text
    (value,) = re.findall(rf'^windtunnel_{name}{{world="{world.name}"}} (\S+)$', text, re.MULTILINE)
    return float(value)


def test_metrics_tell_of_processes_leases_and_worlds(fresh: str) -> None:
    """CT-7: read when they are asked for; a frozen world is never behind. A service of its own: beyond a hundred worlds
    they are counted together."""
    asyncio.run(_lead(fresh))
    with serving(Settings(database_url=fresh, frozen=True)) as service:
        text = get(service, "metrics").text
        assert int(re.findall(r'^windtunnel_process_up{kind="api"} (\d+)', text, re.MULTILINE)[0]) >= 1
        assert 'windtunnel_process_up{kind="scheduler"}' in text
        assert re.search(r'^windtunnel_process_passes{kind="api",name="api-[^"]+"} 0.0$', text, re.MULTILINE)
        assert 'windtunnel_lease_held{name="metrics"} 1.0' in text
        world = service.world()
        names = ("clusters_due", "lag_seconds", "clusters_failing")
        assert [gauge(world, name) for name in names] == [0, 0, 0]
        world.sagemaker.create_cluster(**slurm(workers(1)))
        assert [gauge(world, name) for name in names] == [1, 0, 0]
        world.control("POST", "clock", json={"frozen": False, "rate": 1_000_000})
        first = gauge(world, "lag_seconds")
        assert 0 < first < gauge(world, "lag_seconds")
        world.control("POST", "clock", json={"frozen": True})
        assert gauge(world, "lag_seconds") == 0


async def _lead(dsn: str) -> None:
    database = await Database.connect(dsn, size=1)
    await database.run(liveness.lead, "metrics", "a-test", None, 60.0)
    await database.close()


async def test_metrics_of_many_worlds_are_bounded(database: Database) -> None:
    """CT-7: a hundred worlds by name; the others' sums, and the longest lag, as `_other`."""
    setting = Setting(1, "fast", WorldTime(datetime(2026, 1, 1, tzinfo=UTC)), 1.0, True)
    async with database.connection() as connection:
        transaction = connection.transaction()
        await transaction.start()
        for number in range(health.MOST_WORLDS + 2):
            await worlds.create(connection, f"many-{number}", setting)
        shown, _ = await health.measured(connection)
        await transaction.rollback()
    assert len(shown) == health.MOST_WORLDS + 1
    assert shown[-1].world == "_other"


def test_every_answer_has_a_request_id_and_stays_in_the_dialect_of_its_path(service: Running) -> None:
    """CT-14: 404 and 405 too."""
    ours = get(service, "no/such/noun")
    assert (ours.status_code, ours.json()["error"]["code"]) == (404, "NotFound")
    wrong = httpx.patch(f"{service.base}/_windtunnel/clock", json={})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "MethodNotAllowed")
    google = httpx.get(f"{service.base}/v1/projects/p/models")
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
