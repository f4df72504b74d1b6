"""The catalogue of events (HP-26)."""

from string import Formatter
from typing import Any

import pytest

from app.core.cluster_events import KINDS, Event, description
from tests.core.builders import T0

PARAMS = {
    "operation": "creation",
    "minimum": 4,
    "subnet": "subnet-1",
    "zone": "us-west-2a",
    "security_groups": ["sg-1"],
    "ami": "ami-1",
    "strategy": "Rolling",
    "alarms": ["loss"],
    "seconds": 60,
    "reservation": "cr-1",
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_formats(kind: str) -> None:
    fields = {name for _, name, _, _ in Formatter().parse(KINDS[kind].text) if name}
    params = {name: PARAMS[name] for name in fields & set(PARAMS)}
    text = description(Event(kind, T0, "workers", "i-0", "n-1", params), "demo", "abcdefghij12")
    assert "None" not in text
    assert "{" not in text
    assert ("demo" in text) == bool({"cluster"} & fields)


@pytest.mark.parametrize("kind", KINDS)
def test_levels_and_resources_are_the_vendor_s(kind: str, shapes: dict[str, Any]) -> None:
    assert KINDS[kind].level in shapes["ClusterEventLevel"]["enum"]
    assert KINDS[kind].resource in shapes["ClusterEventResourceType"]["enum"]


def test_levels_follow_the_outcome() -> None:
    """Info when it went well or is under way, Warn for a rollback, Error for a failure."""
    unhappy = {kind: row.level for kind, row in KINDS.items() if row.level != "Info"}
    for kind in ("rollback-initiated", "patching-rollback", "failed-queued"):
        assert unhappy.pop(kind) == "Warn"
    assert set(unhappy) == {kind for kind in KINDS if kind.endswith("-failed")} | {"cluster-not-ready"}
    assert set(unhappy.values()) == {"Error"}


TEXTS = {
    "minimum-reached": "Minimum capacity of 4 instances reached for IG workers in Cluster demo",
    "rollback-initiated": "Minimum capacity of 4 instances was not reached within 3 hours for IG workers in Cluster "
    "demo. Rollback initiated",
    "provision-failed": "Failed to provision EC2 Instance in Cluster demo and IG workers",
    "creation-failed": "Instance creation in Cluster demo and InstanceGroup workers failed",
    "cluster-not-ready": "Cluster creation failed: controller and login nodes did not become ready within the "
    "expected time",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_texts(kind: str) -> None:
    """HP-8, HP-20, HP-27: to the letter."""
    event = Event(kind, T0, "workers", params={"minimum": 4})
    assert description(event, "demo", "abcdefghij12") == TEXTS[kind]
