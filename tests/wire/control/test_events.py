"""Events out: envelopes by poll and as server-sent events, in order, from any id (HP-28, CT-8)."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from app.settings import Settings
from tests.kit import Running, TestWorld, classic, eks, group, serving, slurm, workers

EVENT, CHANGE = "SageMaker HyperPod Cluster Event", "SageMaker HyperPod Cluster State Change"
KEYS = {"Cluster", "InstanceGroup", "InstanceGroupScaling", "Instance", "InstanceMonitor", "InstanceHealth"}


def polled(world: TestWorld, **params: Any) -> list[dict[str, Any]]:
    return world.control("GET", "events", params={"limit": 10_000, **params})["events"]  # type: ignore[no-any-return]


@contextmanager
def stream(world: TestWorld, headers: dict[str, str] | None = None, **params: Any) -> Iterator["Reader"]:
    with httpx.stream(
        "GET", f"{world.endpoint}/_windtunnel/events/stream", params=params, headers=headers or {}, timeout=20
    ) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        reader = Reader(answer.iter_lines())
        assert next(reader.lines) == "retry: 1000"
        yield reader


class Reader:
    """What a client of server-sent events makes of the lines."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines = lines

    def take(self, count: int) -> list[tuple[str, dict[str, Any]]]:
        """The next events, as (id, envelope)."""
        found: list[tuple[str, dict[str, Any]]] = []
        number = ""
        while len(found) < count:
            line = next(self.lines)
            if line.startswith("id: "):
                number = line.removeprefix("id: ")
            elif line.startswith("data: "):
                found.append((number, json.loads(line.removeprefix("data: "))))
        return found


def test_each_cluster_event_is_an_envelope(world: TestWorld) -> None:
    """HP-28: the detail is the event's record; EventTime in milliseconds, the envelope's id another than EventId."""
    arn = world.sagemaker.create_cluster(**slurm(workers(2)))["ClusterArn"]
    world.advance(minutes=30)
    told = [one for one in polled(world) if one["detail-type"] == EVENT]
    records = [one["detail"]["EventDetails"] for one in told]
    listed = world.events()
    assert sorted(one["EventId"] for one in records) == sorted(one["EventId"] for one in listed)
    by_id = {one["EventId"]: one for one in listed}
    for envelope, record in zip(told, records, strict=True):
        event = by_id[record["EventId"]]
        assert envelope["id"] != record["EventId"]
        assert (envelope["source"], envelope["version"], envelope["resources"]) == ("aws.sagemaker", "0", [arn])
        assert record["EventTime"] == round(event["EventTime"].timestamp() * 1000)
        assert (record["Description"], record["EventLevel"]) == (event["Description"], event["EventLevel"])
        assert record.get("InstanceId") == event.get("InstanceId")
        assert record["EventDetails"] == {"EventMetadata": dict.fromkeys(KEYS)}
    assert len({one["id"] for one in told}) == len(told) > 10


def test_the_metadata_can_be_full(dsn: str) -> None:
    """HP-28: a choice; as the documentation's sample has it."""
    with serving(Settings(database_url=dsn, frozen=True, event_metadata="full")) as running:
        world = running.world()
        world.sagemaker.create_cluster(**slurm(workers(1)))
        world.advance(minutes=30)
        records = [one["detail"]["EventDetails"] for one in polled(world, **{"detail-type": EVENT})]
    states = [one["EventDetails"]["EventMetadata"].get("Instance", {}).get("LcsExecutionState") for one in records]
    assert {"Started", "Succeeded"} <= set(states)


def test_a_state_change_has_the_configuration(world: TestWorld) -> None:
    """HP-28: of classic clusters too, which have no events."""
    world.sagemaker.create_cluster(**classic(group("all", 2)))
    world.advance(minutes=30)
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(minutes=30)
    told = polled(world)
    assert {one["detail-type"] for one in told} == {CHANGE}
    details = [one["detail"] for one in told]
    assert [one["ClusterStatus"] for one in details] == ["Creating", "InService", "Deleting"]
    shown = details[1]["InstanceGroups"][0]
    assert (shown["InstanceGroupName"], shown["CurrentCount"], shown["Status"]) == ("all", 2, "InService")
    assert isinstance(details[0]["CreationTime"], int)


HEALTH = "SageMaker HyperPod Cluster Node Health Event"


@pytest.mark.parametrize(("recovery", "repair"), [("Automatic", "Replace"), ("None", "None")])
def test_a_nodes_health_is_told(recovery: str, repair: str, world: TestWorld) -> None:
    """HP-28: the health summary, with what is done about it."""
    world.sagemaker.create_cluster(**eks(group("all", 2), NodeRecovery=recovery))
    world.advance(minutes=1)
    sick = world.nodes()[0]["InstanceId"]
    world.fault("node-hardware", node=sick, code="Xid-74", times=1)
    world.advance(minutes=2)
    told = polled(world, **{"detail-type": HEALTH})
    first = told[0]["detail"]
    assert (first["InstanceId"], first["ClusterName"], first["Tags"]) == (sick, "demo", {})
    summary = first["HealthSummary"]
    assert (summary["HealthStatus"], summary["RepairAction"]) == ("Unhealthy", repair)
    assert set(summary) == {"HealthStatus", "HealthStatusReason", "RepairAction", "Recommendation"}
    assert summary["HealthStatusReason"]


def test_ids_are_the_same_in_every_run(service: Running) -> None:
    """HP-28: drawn from the seed."""
    runs = []
    for _ in range(2):
        world = service.world(seed=5)
        world.sagemaker.create_cluster(**eks(group("all", 2)))
        world.advance(minutes=20)
        runs.append(polled(world))
    assert runs[0] == runs[1]


def test_events_of_a_deleted_cluster_are_still_told(world: TestWorld) -> None:
    """CT-8: at least once, though the cluster was gone before anybody looked."""
    world.sagemaker.create_cluster(**eks(group("all", 1)))
    world.advance(minutes=20)
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(minutes=20)
    texts = [one["detail"]["EventDetails"]["Description"] for one in polled(world, **{"detail-type": EVENT})]
    assert any(text.startswith("Termination of EC2 Instance") for text in texts)


def test_a_poll_goes_on_behind_an_id(world: TestWorld) -> None:
    """CT-8: page by page everything once, and then what is new."""
    world.sagemaker.create_cluster(**eks(group("all", 3)))
    world.advance(minutes=20)
    whole, found, last = polled(world), [], "0"
    while page := world.control("GET", "events", params={"after": last, "limit": 7}):
        found += page["events"]
        last = page["last"]
        if not page["events"]:
            break
    assert found == whole
    world.sagemaker.delete_cluster(ClusterName="demo")
    news = world.control("GET", "events", params={"after": last})["events"]
    assert news[0]["detail"]["ClusterStatus"] == "Deleting"
    assert polled(world, cluster="demo") == polled(world)
    assert polled(world, cluster="other") == []
    assert polled(world, after="9" * 18 + "-0") == polled(world), "an id of a world that had this name"


def test_a_stream_tells_what_happens_and_goes_on(world: TestWorld) -> None:
    """CT-8, RL-19: no id is missed or repeated over a break; a browser's Last-Event-ID goes before `after`."""
    with stream(world) as reader:
        world.sagemaker.create_cluster(**eks(group("all", 3)))
        first = reader.take(2)
    world.advance(minutes=20)
    whole = polled(world)
    with stream(world, {"Last-Event-ID": first[-1][0]}, after="0") as reader:
        rest = reader.take(len(whole) - 2)
        world.sagemaker.delete_cluster(ClusterName="demo")
        assert reader.take(1)[0][1]["detail"]["ClusterStatus"] == "Deleting"
    assert [one for _, one in first + rest] == whole
    assert len({number for number, _ in first + rest}) == len(whole)
    with stream(world, after="0", cluster="demo", **{"detail-type": CHANGE}) as reader:
        assert [one["detail"]["ClusterStatus"] for _, one in reader.take(2)] == ["Creating", "InService"]


def test_many_streams_hear_the_same(world: TestWorld) -> None:
    """RL-19 in small: twenty streams of one poll."""
    heard: list[list[str]] = []
    ready = threading.Barrier(21)

    def listen() -> None:
        with stream(world) as reader:
            ready.wait(20)
            heard.append([one["id"] for _, one in reader.take(40)])

    threads = [threading.Thread(target=listen) for _ in range(20)]
    for thread in threads:
        thread.start()
    ready.wait(20)
    world.sagemaker.create_cluster(**eks(group("all", 6)))
    world.advance(minutes=20)
    for thread in threads:
        thread.join(30)
    assert heard == [[one["id"] for one in polled(world)[:40]]] * 20


def test_a_stream_ends_with_its_world_and_outlives_a_reset(service: Running) -> None:
    """CT-0: a reset world's news come behind the old one's."""
    world = service.world()
    world.sagemaker.create_cluster(**eks(group("all", 1)))
    with stream(world, after="0") as reader:
        before = reader.take(3)
        world.control("POST", "reset", json={})
        world.sagemaker.create_cluster(**eks(group("all", 1)))
        again = reader.take(3)
        assert [one for _, one in again] == [one for _, one in before]
        assert again[0][0] > before[-1][0]
        world.http.delete(f"{world.base}/_windtunnel/worlds/{world.name}")
        assert [line for line in reader.lines if line.startswith("data")] == []


REFUSED = {
    "another id": ({"after": "x"}, "no id of an event"),
    "another detail type": ({"detail-type": "Nonsense"}, "No detail type"),
    "a bad ARN": ({"cluster": "arn:x"}, "not a cluster's ARN"),
}


@pytest.mark.parametrize("path", ["events", "events/stream"])
@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str, path: str, world: TestWorld) -> None:
    """CT-8: why, and what to do."""
    params, text = REFUSED[name]
    answer = world.http.get(f"{world.endpoint}/_windtunnel/{path}", params=params)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "Invalid")
    assert text in answer.json()["error"]["message"]


def test_no_more_streams_than_the_setting_says(dsn: str) -> None:
    """RL-19: a bound, told as one."""
    with serving(Settings(database_url=dsn, frozen=True, event_streams=1)) as running:
        world = running.world()
        with stream(world):
            answer = world.http.get(f"{world.endpoint}/_windtunnel/events/stream")
            assert (answer.status_code, answer.json()["error"]["code"]) == (429, "TooManyStreams")
