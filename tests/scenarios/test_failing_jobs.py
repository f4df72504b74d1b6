"""A job whose passes fail backs off, and everything else that is due goes on."""

import json

import httpx
import pytest

from tests.jobs import LOCATION, PROJECT, Jobs, pool
from tests.kit import Running, TestWorld

QUOTA = "aiplatform.googleapis.com/custom_model_training_cpus"


def quota(world: TestWorld, value: int) -> None:
    world.control("POST", "quotas", json={"name": QUOTA, "value": value, "project": PROJECT, "region": LOCATION})


@pytest.fixture
def broken(service: Running, world: TestWorld) -> TestWorld:
    """A world in which a job called `forged` cannot be read; a forged export is the only way to one."""
    Jobs(world).create(name="forged")
    forged = json.loads(world.export())
    [row] = forged["tables"]["custom_job"]
    row["environment"] = {"WINDTUNNEL_RUN_SECONDS": "x"}
    made = TestWorld(service.base, f"{world.name}-forged")
    answer = httpx.post(f"{service.base}/_windtunnel/worlds/import?name={made.name}", json=forged, timeout=60)
    assert answer.is_success, answer.text
    return made


def test_a_failing_job_stops_no_other_job_and_no_queue(broken: TestWorld) -> None:
    """VX-1: room that came free is given away though an older job is due for ever."""
    jobs = Jobs(broken)
    quota(broken, 8)
    first, second = jobs.create(pool()), jobs.create(pool())
    assert [jobs.state(one) for one in (first, second)] == ["PENDING", "QUEUED"]
    quota(broken, 12)
    done = broken.http.post(
        f"{broken.endpoint}/_windtunnel/clock/advance", json={"by": 600, "max_wall_seconds": 1}
    ).json()
    assert not done["settled"] and "'forged'" in done["reason"]
    assert [jobs.state(one) for one in (first, second)] == ["PENDING", "PENDING"]
    failing = [one for one in broken.control("GET", "status")["failing"] if one["world"] == broken.name]
    assert [one["name"] for one in failing] == ["forged"]
    assert "WINDTUNNEL_RUN_SECONDS" in failing[0]["error"]
    httpx.delete(f"{broken.base}/_windtunnel/worlds/{broken.name}")
    broken.close()


def test_what_cannot_be_looked_at_again_stops_nothing_else(service: Running, world: TestWorld) -> None:
    """VX-1: a wake that nobody can handle backs off and says why; the queue behind it moves on."""
    quota(world, 8)
    jobs = Jobs(world)
    first, second = jobs.create(pool()), jobs.create(pool())
    forged = json.loads(world.export())
    of = {"account": "1", "region": LOCATION, "kind": "forged", "subject": "x", "at": "2026-01-01T00:00:00.000Z"}
    forged["tables"]["wake"] = [*forged["tables"].get("wake", ()), {**of, "failures": 0, "error": None}]
    there = TestWorld(service.base, f"{world.name}-wake")
    answer = httpx.post(f"{service.base}/_windtunnel/worlds/import?name={there.name}", json=forged, timeout=60)
    assert answer.is_success, answer.text
    quota(there, 12)
    done = there.http.post(
        f"{there.endpoint}/_windtunnel/clock/advance", json={"by": 600, "max_wall_seconds": 1}
    ).json()
    assert not done["settled"] and "'forged x'" in done["reason"]
    assert [Jobs(there).state(one) for one in (first, second)] == ["PENDING", "PENDING"]
    failing = [one for one in there.control("GET", "status")["failing"] if one["world"] == there.name]
    assert [one["name"] for one in failing] == ["forged x"]
    httpx.delete(f"{there.base}/_windtunnel/worlds/{there.name}")
    there.close()
