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
