"""Worlds side by side (CT-0), reset and seed (CT-2)."""

import json
from typing import Any

import httpx
import pytest

from tests.kit import Running, TestWorld, login, slurm, workers


def control(service: Running, method: str, path: str, **kwargs: object) -> httpx.Response:
    return httpx.request(method, f"{service.base}/_windtunnel/{path}", timeout=60, **kwargs)


def test_worlds_do_not_see_each_other(service: Running) -> None:
    """CT-0: each has its own history."""
    one, other = service.world(), service.world()
    one.sagemaker.create_cluster(**slurm())
    assert one.sagemaker.list_clusters()["ClusterSummaries"]
    assert not other.sagemaker.list_clusters()["ClusterSummaries"]
    names = {each["name"] for each in control(service, "GET", "worlds").json()["worlds"]}
    assert {"main", one.name, other.name} <= names


def test_a_fork_is_equal_and_then_goes_its_own_way(service: Running) -> None:
    """CT-0: forked, compared."""
    source = service.world()
    source.sagemaker.create_cluster(**slurm(login(), workers(2)))
    source.advance(5)
    made = control(service, "POST", "worlds", json={"name": f"{source.name}-fork", "fork_of": source.name})
    assert made.status_code == 201
    fork = TestWorld(service.base, f"{source.name}-fork")
    service.worlds.append(fork)
    assert fork.export() == source.export()
    compared = f"worlds/{source.name}/compare/{fork.name}"
    assert control(service, "GET", compared).json() == {"equal": True, "count": 0, "differences": []}
    source.advance(600)
    fork.advance(600)
    assert fork.export() == source.export()
    fork.advance(1)
    differences = control(service, "GET", compared).json()["differences"]
    assert differences == [
        {
            "table": "world",
            "key": {},
            "columns": {"now": ["2026-01-01T00:10:05.000Z", "2026-01-01T00:10:06.000Z"]},
        }
    ]


def test_compare_names_rows_that_only_one_has(service: Running) -> None:
    """CT-0."""
    one, other = service.world(), service.world()
    one.capacity("ml.p5.48xlarge", 3)
    found = control(service, "GET", f"worlds/{one.name}/compare/{other.name}").json()
    pool = next(each for each in found["differences"] if each["table"] == "capacity_pool")
    assert pool["only_in"] == one.name
    assert pool["key"]["instance_type"] == "ml.p5.48xlarge"


def test_export_has_a_format_sorted_keys_and_no_wall_time(world: TestWorld) -> None:
    """CT-2."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    content = world.export()
    parsed = json.loads(content)
    assert parsed["format"] == 1
    assert list(parsed["tables"]) == sorted(parsed["tables"])
    assert content == json.dumps(parsed, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert b"_wall" not in content
    assert world.name.encode() not in content


def test_a_dropped_world_is_gone_and_its_name_is_free(service: Running) -> None:
    """CT-0."""
    world = service.world()
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(60)
    assert control(service, "DELETE", f"worlds/{world.name}").json() == {"dropped": world.name}
    gone = world.http.get(f"{world.endpoint}/_windtunnel/clock")
    assert gone.status_code == 404
    assert f"windtunnel world create {world.name}" in gone.json()["error"]["message"]
    assert control(service, "POST", "worlds", json={"name": world.name}).status_code == 201
    assert not world.sagemaker.list_clusters()["ClusterSummaries"]


def test_main_is_not_dropped(service: Running) -> None:
    refused = control(service, "DELETE", "worlds/main")
    assert refused.status_code == 409
    assert "Reset it" in refused.json()["error"]["message"]


@pytest.mark.parametrize("name", ["", "A", "-a", "a/b", "a" * 64, "a b", "é", "a\n"])
def test_names_that_no_path_can_carry_are_refused(service: Running, name: str) -> None:
    refused = control(service, "POST", "worlds", json={"name": name})
    assert refused.status_code == 400
    assert "cannot name a world" in refused.json()["error"]["message"]


def test_a_name_is_used_once(world: TestWorld, service: Running) -> None:
    assert control(service, "POST", "worlds", json={"name": world.name}).status_code == 409


def test_a_forks_beginning_is_its_sources(world: TestWorld, service: Running) -> None:
    refused = control(service, "POST", "worlds", json={"name": "x", "fork_of": world.name, "seed": 3})
    assert refused.status_code == 400
    assert "seed" in refused.json()["error"]["message"]


def test_an_unknown_world_is_told_in_every_dialect(service: Running) -> None:
    """CT-0: with how to create it."""
    missing = f"{service.base}/w/no-such"
    ours = httpx.get(f"{missing}/_windtunnel/clock")
    aws = httpx.post(f"{missing}/", headers={"x-amz-target": "SageMaker.ListClusters"}, content=b"{}")
    assert (ours.status_code, aws.status_code) == (404, 404)
    assert ours.json()["error"]["code"] == aws.json()["__type"] == "NoSuchWorld"
    assert "windtunnel world create no-such" in aws.json()["message"]
    assert aws.headers["x-amzn-requestid"]


def test_reset_empties_and_begins_again(world: TestWorld) -> None:
    """CT-2: to empty, with the same seed, so that the same script gives the same ids."""
    arn = world.sagemaker.create_cluster(**slurm(workers(1)))["ClusterArn"]
    before = world.advance(60)
    cleared = world.control("POST", "reset", json={})
    assert cleared["now"] == "2026-01-01T00:00:00.000Z"
    assert world.bill()["lines"] == []
    assert world.sagemaker.create_cluster(**slurm(workers(1)))["ClusterArn"] == arn
    assert world.advance(60) == before


def job(name: str) -> dict[str, Any]:
    """A custom job in JSON."""
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1, "containerSpec": {"imageUri": "i"}}
    return {"displayName": name, "jobSpec": {"workerPoolSpecs": [pool]}}


def test_reset_to_a_seed(world: TestWorld) -> None:
    """CT-2: clock, capacity, prices, quotas, faults, clusters and jobs."""
    seed = {
        "clock": {"start": "2027-01-01T00:00:00Z", "rate": 60.0},
        "capacity": [{"instance_type": "ml.p5.48xlarge", "total": 1}],
        "prices": [{"instance_type": "ml.p5.48xlarge", "micro_usd_per_hour": 3_600_000}],
        "quotas": [{"name": "ml.p5.48xlarge for cluster usage", "value": 8}],
        "faults": [{"effect": "boot-slow", "seconds": 7, "group": "login"}],
        "jobs": [job("first"), {"project": "p2", "location": "europe-west4", **job("second")}],
        "clusters": [slurm(workers(1)), {"account": "999988887777", "region": "eu-north-1", **slurm(workers(1))}],
    }
    told = world.control("POST", "reset", json={"seed": seed})
    assert (told["now"], told["rate"]) == ("2027-01-01T00:00:00.000Z", 60.0)
    world.advance(60)
    (pool,) = [each for each in world.control("GET", "capacity")["pools"] if each["total"] is not None]
    assert (pool["total"], pool["used"], pool["free"]) == (1, 1, 0)
    foreign = world.client(account="999988887777", region="eu-north-1")
    assert len(foreign.list_clusters()["ClusterSummaries"]) == len(world.sagemaker.list_clusters()["ClusterSummaries"])
    assert {line["micro_usd_per_hour"] for line in world.bill()["lines"] if line["group"] == "workers"} == {3_600_000}
    assert [rule["seconds"] for rule in world.control("GET", "faults")["rules"]] == [7]
    for place, name in (("windtunnel/locations/us-central1", "first"), ("p2/locations/europe-west4", "second")):
        (seeded,) = world.vertex.list_custom_jobs(parent=f"projects/{place}")
        assert (seeded.display_name, seeded.state.name) == (name, "JOB_STATE_SUCCEEDED")


@pytest.mark.parametrize(
    ("seed", "told"),
    [
        ({"cluster": []}, "seed.cluster: is not known here"),
        ({"clock": {"speed": 1}}, "seed.clock.speed: is not known here"),
        ({"capacity": [{"instance_type": "ml.p5.48xlarge", "total": -1}]}, "seed.capacity.0.total: "),
        ({"prices": [{"instance_type": "ml.huge", "micro_usd_per_hour": 1}]}, "No instance type 'ml.huge'"),
        (
            {"clusters": [{"ClusterName": "demo", "Bogus": 1}]},
            "clusters.0 of the seed: CreateCluster has no member Bogus",
        ),
        ({"clusters": [slurm(), {"ClusterName": "no good"}]}, "clusters.1 of the seed: "),
        ({"clusters": [slurm(), slurm()]}, "clusters.1 of the seed: "),
        ({"jobs": [job("good"), {"displayName": "no spec"}]}, "jobs.1 of the seed: "),
        ({"jobs": [{**job("odd"), "bogus": 1}]}, "jobs.0 of the seed: "),
        ({"jobs": [{**job("lost"), "location": "moon-1"}]}, "jobs.0 of the seed: "),
    ],
)
def test_a_seed_with_a_fault_in_it_changes_nothing(world: TestWorld, seed: dict[str, object], told: str) -> None:
    """CT-2: unknown keys are errors that name them; all of a seed or nothing."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    before = world.export()
    refused = world.http.post(f"{world.endpoint}/_windtunnel/reset", json={"seed": seed})
    assert refused.status_code == 400
    assert told in refused.json()["error"]["message"]
    assert world.export() == before
