"""A job, its attempts and its workers, by the control API and the command line (VX-7, VX-16)."""

from datetime import datetime

import pytest
from typer.testing import CliRunner

from app.cli import app
from tests.jobs import Jobs, pool
from tests.kit import TestWorld


@pytest.fixture
def jobs(world: TestWorld) -> Jobs:
    return Jobs(world)


def test_lost_work_and_restarts_are_told(world: TestWorld, jobs: Jobs) -> None:
    """VX-7, VX-16: of a worker that was lost fifty seconds after it began, and had saved forty."""
    world.fault("worker-exit", code="transient", replica="workerpool1-0", seconds=50, times=1)
    job = jobs.create(pool(RUN_SECONDS="300"), pool(1, RUN_SECONDS="300", CHECKPOINT_SECONDS="20"), name="demo")
    world.advance(100)
    told = world.control("GET", "jobs/demo")
    assert (told["job"], told["state"], told["attempt"], told["retries"]) == (job, "JOB_STATE_RUNNING", 1, {})
    runs = datetime.fromisoformat(world.now()) - datetime.fromisoformat(told["started"])
    assert told["running_seconds"] == runs.total_seconds() > 90
    first, second = told["workers"]
    assert (first["restarts"], first["machines"], first["lost_seconds"]) == (0, 1, 0)
    assert (second["restarts"], second["machines"], second["runs"]) == (1, 2, 2)
    assert (second["saved_seconds"], second["lost_seconds"]) == (40, 10)


def test_retries_and_what_is_being_decided(world: TestWorld, jobs: Jobs) -> None:
    """VX-6: between a failure and the decision."""
    job = jobs.create(pool(EXIT_AFTER_SECONDS="10", EXIT_CODE="139"))
    world.advance(20)
    path = f"jobs/{job.rpartition('/')[2]}"
    told = world.control("GET", path)
    assert told["deciding"] > world.now()
    world.advance(25)
    assert world.control("GET", path)["retries"] == {"crash": 1}
    world.advance(minutes=10)
    ended = world.control("GET", path)
    assert (ended["state"], ended["attempt"], ended["deciding"]) == ("JOB_STATE_FAILED", 4, None)
    assert ended["running_seconds"] == 4 * 36


def test_an_unknown_job(world: TestWorld) -> None:
    answer = world.http.get(f"{world.endpoint}/_windtunnel/jobs/nobody")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NotFound")


def test_the_command_line(world: TestWorld, jobs: Jobs) -> None:
    """CT-11: by the resource's name, too."""
    job = jobs.create(pool(), pool(2))
    world.advance(8)
    told = CliRunner().invoke(app, ["job", job, "--endpoint", world.base, "--world", world.name])
    assert told.exit_code == 0, told.output
    assert "JOB_STATE_RUNNING" in told.output
    assert "workerpool1-1" in told.output
