"""Webhooks are told everything, in order per cluster, whoever dies meanwhile (CT-8, HP-28)."""

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from app.settings import Settings
from tests.kit import Running, TestWorld, eks, group
from tests.workers.forked import Forked
from tests.workers.receiver import Receiver, receiving

SECRET = "correct-horse-battery"


@pytest.fixture(scope="module")
def relays(settings: Settings) -> Iterator[list[Forked]]:
    """Two schedulers, each of which would relay: the lease lets one."""
    quick = replace(settings, webhook_attempts=3, webhook_retry_seconds=0.05, lease_seconds=1.0)
    started = [Forked("scheduler", quick) for _ in range(2)]
    yield started
    for one in started:
        one.stop()


@pytest.fixture
def world(remote: Running) -> TestWorld:
    return remote.world()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def hook(world: TestWorld, receiver: Receiver, **facts: Any) -> str:
    body = {"url": receiver.url, "secret": SECRET, **facts}
    return world.control("POST", "webhooks", json=body)["id"]  # type: ignore[no-any-return]


def polled(world: TestWorld) -> list[dict[str, Any]]:
    return world.control("GET", "events", params={"limit": 10_000})["events"]  # type: ignore[no-any-return]


def by_cluster(envelopes: list[dict[str, Any]]) -> dict[str, list[str]]:
    found = defaultdict(list)
    for one in envelopes:
        if one["id"] not in found[one["resources"][0]]:
            found[one["resources"][0]].append(one["id"])
    return found


def live(world: TestWorld, *names: str) -> None:
    for name in names:
        world.sagemaker.create_cluster(**eks(group("all", 3), name=name))
    world.advance(minutes=20)


def state(world: TestWorld, number: int = 0) -> dict[str, Any]:
    return world.control("GET", "webhooks")["webhooks"][number]  # type: ignore[no-any-return]


def settled(world: TestWorld, **wanted: int) -> dict[str, Any]:
    """Once the counts are there."""
    deadline = time.monotonic() + 20
    while any(state(world)[name] != value for name, value in wanted.items()):
        assert time.monotonic() < deadline, state(world)
        time.sleep(0.05)
    return state(world)


def test_each_envelope_once_and_signed(relays: list[Forked], world: TestWorld, receiver: Receiver) -> None:
    """CT-8: two relays in a steady state send nothing twice; a frozen world's news are sent as well."""
    made = hook(world, receiver)
    live(world, "one", "two")
    told = polled(world)
    receiver.wait(len(told))
    assert sorted(receiver.ids()) == sorted(one["id"] for one in told)
    assert by_cluster(receiver.taken) == by_cluster(told)
    receiver.check_signatures(SECRET)
    settled(world, delivered=len(told), failed=0, behind=0)
    shown = world.control("GET", f"webhooks/{made}/deliveries")["deliveries"]
    assert {one["outcome"] for one in shown} == {"delivered"}
    assert len(shown) == min(100, len(told))
    assert SECRET not in str(world.control("GET", "webhooks")) + str(shown) + world.export().decode()


def test_killed_relays_lose_nothing(relays: list[Forked], world: TestWorld, receiver: Receiver) -> None:
    """CT-8: at least once and in order per cluster, over `kill -9` of whichever relay sends."""
    hook(world, receiver)
    for number in range(6):
        world.sagemaker.create_cluster(**eks(group("all", 4), name=f"c-{number}"))
        world.advance(minutes=7)
        relays[number % 2].kill()
        relays[number % 2].start()
    world.advance(minutes=20)
    told = polled(world)
    receiver.wait(len(told), 60)
    assert by_cluster(receiver.taken) == by_cluster(told)


def test_a_failing_cluster_waits_alone(relays: list[Forked], world: TestWorld, receiver: Receiver) -> None:
    """CT-8: its order is kept, the others go on; when the receiver is well again, all has arrived."""
    ill = {"bad": True}
    receiver.answer = lambda envelope: 500 if ill["bad"] and "bad" in str(envelope["detail"]) else 200
    hook(world, receiver)
    live(world, "bad", "good")
    told = polled(world)
    good = [one for one in told if "good" in str(one["detail"])]
    receiver.wait(len(good))
    assert [one["id"] for one in receiver.taken] == [one["id"] for one in good]
    ill["bad"] = False
    settled(world, behind=0)
    arrived = by_cluster(receiver.taken)
    assert {tuple(ids) for ids in arrived.values()} <= {
        tuple(ids[-len(arrived[arn]) :]) for arn, ids in by_cluster(told).items() if arn in arrived
    }
    assert state(world)["failed"] > 0


def test_what_is_never_taken_is_given_up(relays: list[Forked], world: TestWorld, receiver: Receiver) -> None:
    """CT-8: after so many attempts, and counted; the next in order is tried then. Redirects are not followed."""
    receiver.answer = lambda envelope: 302 if envelope["detail-type"].endswith("State Change") else 200
    hook(world, receiver)
    live(world, "one")
    told = polled(world)
    changes = [one for one in told if one["detail-type"].endswith("State Change")]
    shown = settled(world, given_up=len(changes), delivered=len(told) - len(changes), behind=0)
    assert shown["failed"] == 2 * len(changes)
    tried = [one for one in world.control("GET", "webhooks/wh-1/deliveries")["deliveries"] if one["status"] == 302]
    assert {one["error"] for one in tried} == {"answered 302"}


def test_a_dead_webhook_stops_no_other(relays: list[Forked], world: TestWorld, receiver: Receiver) -> None:
    """CT-8; and filters: what is not wanted is not sent."""
    hook(world, receiver, detail_type="SageMaker HyperPod Cluster State Change", cluster="two")
    world.control("POST", "webhooks", json={"url": "http://127.0.0.1:9/nobody"})
    live(world, "one", "two")
    assert [one["detail"]["ClusterStatus"] for one in receiver.wait(2)] == ["Creating", "InService"]
    assert {one["detail"]["ClusterName"] for one in receiver.taken} == {"two"}
    assert world.control("POST", "webhooks/wh-1/test", json={})["status"] == 200
    assert receiver.taken[-1]["detail-type"] == "Windtunnel Test"
    world.control("DELETE", "webhooks/wh-1")
    before = len(receiver.posts)
    world.sagemaker.delete_cluster(ClusterName="two")
    time.sleep(0.5)
    assert len(receiver.posts) == before
