"""Quotas of both clouds through the control API (CT-4, VX-22)."""

import httpx
import pytest

from app.core.projects import number_of
from tests.kit import TestWorld

H100 = "aiplatform.googleapis.com/custom_model_training_nvidia_h100_gpus"
P5 = "ml.p5.48xlarge for cluster usage"


def set_quota(world: TestWorld, **change: object) -> httpx.Response:
    return world.http.post(f"{world.endpoint}/_windtunnel/quotas", json=change)


def test_a_metric_of_vertex_is_set_for_a_project(world: TestWorld) -> None:
    """CT-4, VX-22: by its id or its number, with or without the service's name; elsewhere it stays unlimited."""
    told = set_quota(world, name="custom_model_training_nvidia_h100_gpus", value=8, project="p1").json()
    assert (told["account"], told["region"], told["name"], told["value"]) == (number_of("p1"), "us-central1", H100, 8)
    for params in ({"project": "p1"}, {"project": number_of("p1"), "region": "us-central1"}):
        rows = {row["name"]: row for row in world.control("GET", "quotas", params=params)["quotas"]}
        assert rows[H100]["value"] == 8
    for params in ({"project": "p2"}, {"project": "p1", "region": "europe-west4"}):
        rows = {row["name"]: row for row in world.control("GET", "quotas", params=params)["quotas"]}
        assert rows[H100]["value"] is None
    assert set_quota(world, name=H100, value=None, project="p1").json()["value"] is None


def test_what_google_gives_by_default_is_told_and_limits_nothing(world: TestWorld) -> None:
    """CT-4, VX-22: the documented default of the region with its evidence; of others nothing is made up."""
    rows = {row["name"]: row for row in world.control("GET", "quotas", params={"region": "us-central1"})["quotas"]}
    assert all(row["value"] is None and row["source"] for row in rows.values())
    metric = H100.rpartition("nvidia_h100_gpus")[0]
    for kind, recorded in (("cpus", 2200), ("nvidia_h100_gpus", 0), ("nvidia_a100_gpus", 8)):
        assert (rows[metric + kind]["recorded"], rows[metric + kind]["evidence"]) == (recorded, "published")
    spot = rows[metric + "preemptible_nvidia_h100_gpus"]
    assert (spot["recorded"], spot["evidence"]) == (None, "placeholder")


def test_quotas_of_aws_say_what_an_account_had(world: TestWorld) -> None:
    """CT-4: the general ones, and those of a type that are set."""
    set_quota(world, name=P5, value=4)
    rows = {row["name"]: row for row in world.control("GET", "quotas")["quotas"]}
    assert (rows[P5]["value"], rows[P5]["recorded"], rows[P5]["evidence"]) == (4, 2, "recorded")
    assert not any(name.endswith("for cluster usage") for name in rows if name != P5)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": H100, "region": "us-west-2"}, "Region us-west-2 has no quota"),
        ({"name": P5, "region": "us-central1"}, "HyperPod's of regions such as us-west-2"),
        ({"name": H100 + "x"}, "Use the name that AWS or Google gives it"),
        ({"name": "custom_model_training_"}, "No quota is called"),
        ({"name": "nvidia_h100_gpus"}, "No quota is called"),
        ({"name": H100, "project": "p1", "account": "111122223333"}, "Give one of them"),
        ({"name": H100, "project": "P 1"}, "project: "),
        ({"name": H100, "project": ""}, "project: "),
        ({"name": H100, "value": -1}, "value: "),
    ],
)
def test_what_is_no_quota_is_refused(world: TestWorld, change: dict[str, object], why: str) -> None:
    """CT-4: with what to write instead."""
    answer = set_quota(world, **{"value": 1} | change)
    assert answer.status_code == 400
    assert why in answer.json()["error"]["message"]
