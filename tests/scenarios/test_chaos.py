"""Everyday trouble, switched on with one word and a seed (CT-3)."""

import contextlib
import json
import time
from typing import Any

import boto3
import botocore.endpoint
import pytest
from botocore.config import Config

from app.core.chaos import PROFILE
from tests.kit import Running, TestWorld, eks, group

SEED = 7


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 does not sleep between its attempts."""
    monkeypatch.setattr(botocore.endpoint, "time", _NoSleep)


class _NoSleep:
    time = staticmethod(time.time)

    @staticmethod
    def sleep(seconds: float) -> None: ...


def patient(world: TestWorld) -> Any:
    client = boto3.client(
        "sagemaker",
        endpoint_url=world.endpoint,
        region_name="us-west-2",
        aws_access_key_id="111122223333",
        aws_secret_access_key="test",
        config=Config(retries={"mode": "standard", "total_max_attempts": 6}),
    )
    world.clients.append(client)
    return client


def live_through(service: Running, seed: int) -> tuple[bytes, set[str]]:
    """Create, come into service, grow, delete, with what the SDK tries again; the world's bytes, and what was hit."""
    world = service.world()
    world.control("POST", "faults/chaos", json={"seed": seed})
    client = patient(world)
    with contextlib.suppress(client.exceptions.ResourceInUse):  # of a first attempt that lost its answer alone
        client.create_cluster(**eks(group("workers", 60, InstanceType="ml.p5.48xlarge")))
    world.advance(hours=12)
    for _ in range(40):
        told = client.describe_cluster(ClusterName="demo")
    assert told["ClusterStatus"] == "InService"
    assert told["InstanceGroups"][0]["CurrentCount"] == 60
    with contextlib.suppress(client.exceptions.ConflictException):
        client.delete_cluster(ClusterName="demo")
    world.advance(hours=2)
    assert client.list_clusters()["ClusterSummaries"] == []
    hits = {hit["effect"] for hit in world.control("GET", "faults/hits")["hits"]}
    exported = world.export()
    world.close()
    return exported, hits


def test_the_same_chaos_twice(service: Running, hasty: None) -> None:
    """CT-1, CT-3, RL-10: boto3 gets through, and the same seed gives the same bytes; another seed gives others."""
    first, hits = live_through(service, SEED)
    assert {"launch-transient", "node-hardware", "api-throttle"} <= hits
    again, _ = live_through(service, SEED)
    assert again == first
    other, _ = live_through(service, SEED + 1)
    assert json.loads(other)["tables"]["fault_hit"] != json.loads(first)["tables"]["fault_hit"]


def test_chaos_is_of_one_seed_and_ends(world: TestWorld) -> None:
    """CT-3: what was there stays, the same again changes nothing, another seed takes its place, `clear` ends it."""
    world.fault("script-hang", group="nobody")
    first = world.control("POST", "faults/chaos", json={"seed": 3})["rules"]
    assert len(first) == len(PROFILE)
    assert world.control("POST", "faults/chaos", json={"seed": 3})["rules"] == first
    second = world.control("POST", "faults/chaos", json={"seed": 4})["rules"]
    there = world.control("GET", "faults")["rules"]
    assert [rule["id"] for rule in there] == ["f-1", *(rule["id"] for rule in second)]
    assert {rule["seed"] for rule in second} == {4}
    assert world.control("DELETE", "faults") == {"removed": len(there)}
