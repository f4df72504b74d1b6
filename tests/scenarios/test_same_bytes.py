"""Same seed, same script, same bytes: however the way is cut into steps and however many workers there are."""

import json
from collections.abc import Callable, Iterator

import httpx
import pytest

from app.settings import Settings
from tests.kit import Running, TestWorld, eks, group, login, slurm, workers
from tests.workers.processes import processes

P5, G5 = "ml.p5.48xlarge", "ml.g5.xlarge"
HOURS_3 = 3 * 3600


def begin(world: TestWorld) -> None:
    """Two accounts, three clusters, scarce machines, chance and schedules: something happens for three hours."""
    world.capacity(P5, 6)
    world.capacity(P5, 9, at="2026-01-01T00:47:11Z")
    world.capacity(P5, 8, at="2026-01-01T01:30:00Z")
    world.fault("launch-transient", probability=0.2)
    world.fault("script-failed", group="workers", every=3, times=5)
    world.fault("launch-unhealthy", instance_type=G5, probability=0.1)
    world.fault("boot-slow", probability=0.3, seconds=777)
    first = slurm(login(), workers(8, MinInstanceCount=7), workers(4, "small", InstanceType=G5))
    world.sagemaker.create_cluster(**first)
    world.sagemaker.create_cluster(**slurm(workers(3, MinInstanceCount=3), name="second"))
    other = world.client(account="444455556666")
    other.create_cluster(**eks(group("a", 3, InstanceType=P5), group("b", 5, InstanceType=G5, MinInstanceCount=2)))


def at_once(world: TestWorld) -> None:
    world.advance(HOURS_3)


def by_seconds(world: TestWorld) -> None:
    url, body = f"{world.endpoint}/_windtunnel/clock/advance", b'{"by":1}'
    headers = {"content-type": "application/json"}
    with httpx.Client(timeout=60) as client:  # one connection that is kept alive
        for _ in range(HOURS_3):
            answer = client.post(url, content=body, headers=headers)
            assert answer.status_code == 200, answer.text
            assert b'"settled":true' in answer.content


def told(service: Running, go: Callable[[TestWorld], None]) -> bytes:
    world = service.world(seed=99)
    begin(world)
    go(world)
    exported = world.export()
    world.close()
    return exported


@pytest.fixture(scope="module")
def reference(service: Running) -> bytes:
    """The world after three hours in one call."""
    return told(service, at_once)


@pytest.fixture(scope="module")
def one_reconciler(dsn: str) -> Iterator[None]:
    with processes(Settings(database_url=dsn), "reconciler"):
        yield


def test_the_script_does_something(reference: bytes) -> None:
    """CT-1: retries, rollbacks and bills are in it; so equal bytes say something."""
    tables = json.loads(reference)["tables"]
    assert len(tables["cluster_event"]) > 700
    assert len(tables["ledger"]) > 20
    assert len(tables["fault_hit"]) > 10
    kinds = {event["kind"] for event in tables["cluster_event"]}
    assert {"rollback-initiated", "minimum-reached", "script-failed", "provision-failed"} <= kinds


def test_the_same_again(service: Running, reference: bytes) -> None:
    """CT-1, RL-10: another world of the same seed, the same bytes."""
    assert told(service, at_once) == reference


def test_another_seed_is_another_story(service: Running, reference: bytes) -> None:
    """CT-1: else the seed would say nothing."""
    world = service.world(seed=100)
    begin(world)
    at_once(world)
    assert world.export() != reference


def test_ten_thousand_eight_hundred_seconds_with_two_reconcilers(
    service: Running, reference: bytes, one_reconciler: None, dsn: str
) -> None:
    """CT-1, RL-10: three hours in 10,800 calls of a second, while two reconcilers work on a running world of the same
    database."""
    busy = service.world(frozen=False, rate=10.0)
    busy.fault("launch-transient", probability=0.5)
    busy.sagemaker.create_cluster(**slurm(workers(10)))
    with processes(Settings(database_url=dsn), "reconciler"):
        assert told(service, by_seconds) == reference
    assert busy.group("workers")["CurrentCount"] > 0
    busy.control("POST", "clock", json={"frozen": True})


@pytest.mark.parametrize("cuts", [(7, 13, 3600, 1), (0.5, 0.001, 61.25, 5000)])
def test_any_cut(service: Running, reference: bytes, cuts: tuple[float, ...]) -> None:
    """CT-1, RL-10: in uneven steps, also below a second."""

    def go(world: TestWorld) -> None:
        gone = 0.0
        for step in cuts:
            world.advance(step)
            gone += step
        world.control("POST", "clock/advance", json={"to": "2026-01-01T03:00:00Z"})

    assert told(service, go) == reference


def test_to_the_next_event_again_and_again(service: Running, reference: bytes) -> None:
    """CT-1: `next` stops at every due instant, and none is left out; limits stop early and can be continued."""

    def go(world: TestWorld) -> None:
        moments = []
        while True:
            due = world.control("GET", "clock")["next_due"]
            if due is None or due > "2026-01-01T00:20:00":
                break
            done = world.control("POST", "clock/advance", json={"next": True, "max_events": 3})
            moments.append(done["after"])
            assert done["after"] <= due or done["settled"]
        assert moments == sorted(moments)
        world.control("POST", "clock/advance", json={"to": "2026-01-01T03:00:00Z"})

    assert told(service, go) == reference
