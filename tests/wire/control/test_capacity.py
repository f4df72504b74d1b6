"""Capacity and quotas through the control API (CT-4)."""

import pytest

from tests.kit import TestWorld, slurm, workers

P5 = "ml.p5.48xlarge"


def test_used_and_free_are_told(world: TestWorld) -> None:
    """CT-4: how many exist in all, used and free; `set` without a region means the default region."""
    world.capacity(P5, 3)
    world.sagemaker.create_cluster(**slurm(workers(2)))
    world.advance(60)
    pools = {pool["instance_type"]: pool for pool in world.control("GET", "capacity")["pools"]}
    assert pools[P5] == {
        "region": "us-west-2",
        "zone": None,
        "instance_type": P5,
        "total": 3,
        "used": 2,
        "free": 1,
    }
    assert (pools["ml.c5.xlarge"]["total"], pools["ml.c5.xlarge"]["used"]) == (None, 1)


def test_a_change_to_come_is_listed_and_then_happens(world: TestWorld) -> None:
    """CT-4: changing over virtual time by a schedule."""
    world.capacity(P5, 0)
    world.capacity(P5, 5, at="2026-01-01T01:00:00Z")
    told = world.control("GET", "capacity")
    assert told["changes"] == [
        {"at": "2026-01-01T01:00:00.000Z", "region": "us-west-2", "zone": None, "instance_type": P5, "total": 5}
    ]
    world.advance(hours=1)
    told = world.control("GET", "capacity")
    assert (told["changes"], told["pools"][0]["free"]) == ([], 5)


def test_a_change_in_the_past_is_one_of_now(world: TestWorld) -> None:
    """CT-4: the answer tells the instant at which it took effect."""
    world.advance(hours=1)
    told = world.control("POST", "capacity", json={"instance_type": P5, "total": 5, "at": "2025-01-01T00:00:00Z"})
    assert told["at"] == world.now() == "2026-01-01T01:00:00.000Z"
    assert world.control("GET", "capacity")["changes"] == []


def test_unlimited_again(world: TestWorld) -> None:
    """CT-4: unlimited by default."""
    world.capacity(P5, 1)
    world.capacity(P5, None)
    assert world.control("GET", "capacity")["pools"] == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"instance_type": "ml.none", "total": 1}, "No instance type 'ml.none'"),
        ({"instance_type": P5}, "total: is missing"),
        ({"instance_type": P5, "total": -1}, "total: "),
        ({"instance_type": P5, "total": True}, "total: must be a whole number"),
        ({"instance_type": P5, "total": 2**31}, "total: too large; give at most 2,147,483,647"),
        ({"instance_type": P5, "total": 1, "zone": "us-west-2x"}, "Region us-west-2 has no zone 'us-west-2x'"),
        ({"instance_type": P5, "total": 1, "region": "nowhere"}, "region: must be a region's name such as us-west-2"),
        ({"instance_type": P5, "total": 1, "at": "soon"}, "at: must be an instant"),
    ],
)
def test_what_cannot_be_is_refused(world: TestWorld, body: dict[str, object], told: str) -> None:
    answer = world.http.post(f"{world.endpoint}/_windtunnel/capacity", json=body)
    assert answer.status_code == 400
    assert told in answer.json()["error"]["message"]


def test_a_quota_is_set_by_its_aws_name_and_taken_away(world: TestWorld) -> None:
    """CT-4: account quotas, as AWS names them."""
    name = f"{P5} for cluster usage"
    world.control("POST", "quotas", json={"name": name, "value": 4})
    values = {quota["name"]: quota["value"] for quota in world.control("GET", "quotas")["quotas"]}
    assert values[name] == 4
    assert values["Maximum number instances allowed per SageMaker HyperPod cluster"] is None
    other = world.control("GET", "quotas", params={"account": "999988887777"})["quotas"]
    assert name not in {quota["name"] for quota in other}
    world.control("POST", "quotas", json={"name": name, "value": None})
    assert name not in {quota["name"] for quota in world.control("GET", "quotas")["quotas"]}


def test_an_unknown_quota_is_refused(world: TestWorld) -> None:
    answer = world.http.post(f"{world.endpoint}/_windtunnel/quotas", json={"name": "lots", "value": 4})
    assert answer.status_code == 400
    assert "for cluster usage" in answer.json()["error"]["message"]


def test_machines_of_vertex_have_pools_too(world: TestWorld) -> None:
    """CT-4: `capacity set a3-highgpu-8g`, in a location or a zone of it; without one in us-central1."""
    world.capacity("a3-highgpu-8g", 4)
    world.capacity("a3-highgpu-8g", 2, region="us-central1", zone="us-central1-f")
    pools = world.control("GET", "capacity")["pools"]
    assert [(pool["region"], pool["zone"], pool["total"]) for pool in pools] == [
        ("us-central1", None, 4),
        ("us-central1", "us-central1-f", 2),
    ]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"instance_type": P5, "region": "us-central1"}, "type of AWS, which has no region 'us-central1'"),
        ({"instance_type": "a3-highgpu-8g", "region": "us-west-2"}, "Use one such as us-central1"),
        ({"instance_type": "a3-highgpu-8g", "zone": "us-central1-d"}, "Its zones are us-central1-a"),
        ({"instance_type": "a3-highgpu-8g/spot"}, "No instance type"),
        ({"instance_type": "NVIDIA_TESLA_T4"}, "No instance type"),
        ({"instance_type": "a3-highgpu-8g", "region": "moon"}, "must be a region's name"),
    ],
)
def test_a_pool_of_nothing_is_refused(world: TestWorld, change: dict[str, str], why: str) -> None:
    """CT-4: the clouds' types and regions do not mix."""
    answer = world.http.post(f"{world.endpoint}/_windtunnel/capacity", json={"total": 1, **change})
    assert answer.status_code == 400
    assert why in answer.json()["error"]["message"]
