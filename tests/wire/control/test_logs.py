"""What jobs have written, by the control API and the command line (VX-17)."""

import json
import threading
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.commands import logs
from tests.jobs import PROJECT, Jobs, pool
from tests.kit import TestWorld


@pytest.fixture
def jobs(world: TestWorld) -> Jobs:
    return Jobs(world)


def create(jobs: Jobs, name: str = "demo") -> str:
    """The id of a new job of two workers, of which the second fails after a second."""
    pools = pool(RUN_SECONDS="300"), pool(EXIT_CODE="3", EXIT_AFTER_SECONDS="1")
    return jobs.create(*pools, name=name).rpartition("/")[2]


def read(world: TestWorld, job: str, **params: Any) -> Any:
    return world.control("GET", f"jobs/{job}/logs", params=params)


def command(world: TestWorld, *words: str) -> str:
    done = CliRunner().invoke(app, ["logs", *words, "--world", world.name, "--endpoint", world.base])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_job_is_named_by_id_or_by_display_name(jobs: Jobs) -> None:
    """VX-17: of several of one name it is the newest."""
    first, second = create(jobs), create(jobs)
    jobs.world.advance(minutes=1)
    assert read(jobs.world, first)["job"] == first
    assert read(jobs.world, "demo")["job"] == second
    for nobody in ("other", "%", "1" * 19):
        refused = jobs.world.http.get(f"{jobs.world.endpoint}/_windtunnel/jobs/{nobody}/logs")
        assert refused.status_code == 404
        assert "Name it by its id or its display name." in refused.text


def test_lines_by_pages(jobs: Jobs) -> None:
    """VX-17: behind a number, of a task, from an instant on; `over` when no more will come."""
    job = create(jobs)
    jobs.world.advance(1)
    begun = read(jobs.world, job)
    assert begun["over"] is False
    jobs.world.advance(minutes=20)
    whole = read(jobs.world, job)
    assert whole["over"] is True
    assert [line["number"] for line in whole["lines"]] == list(range(1, whole["last"] + 1))
    assert whole["lines"][: len(begun["lines"])] == begun["lines"]
    assert read(jobs.world, job, after=begun["last"])["lines"] == whole["lines"][begun["last"] :]
    assert read(jobs.world, job, after=whole["last"]) == {"job": job, "lines": [], "last": whole["last"], "over": True}
    page = read(jobs.world, job, limit=2, after=1)
    assert [line["number"] for line in page["lines"]] == [2, 3]
    of_task = read(jobs.world, job, task="workerpool1-0")["lines"]
    assert {line["task"] for line in of_task} == {"workerpool1-0"}
    assert of_task[0]["text"].startswith("Task completed. Exit code (3)")
    since = of_task[0]["time"]
    assert read(jobs.world, job, since=since)["lines"][0] == of_task[0]


@pytest.mark.parametrize(
    "params", [{"after": -1}, {"after": 2**63}, {"limit": 0}, {"limit": 1001}, {"since": "noon"}, {"task": "a\x00"}]
)
def test_what_is_refused(world: TestWorld, params: dict[str, Any]) -> None:
    answer = world.http.get(f"{world.endpoint}/_windtunnel/jobs/x/logs", params=params)
    assert answer.status_code == 400, answer.text


def test_the_command(jobs: Jobs) -> None:
    """VX-17: as text and as JSON; a job may be named as the API names it, an instant as a duration until now."""
    job = create(jobs)
    jobs.world.advance(minutes=20)
    found = read(jobs.world, job)["lines"]
    text = command(jobs.world, job)
    assert text.startswith("2026-01-01T00:00:00.000Z  INFO     service        Waiting for job to be provisioned.\n")
    name = f"projects/{PROJECT}/locations/us-central1/customJobs/{job}"
    assert json.loads(command(jobs.world, name, "--json")) == {"lines": found}
    assert command(jobs.world, "demo", "--since", "10s") == ""
    assert command(jobs.world, "demo", "--since", "1h") == text
    assert command(jobs.world, "demo", "--since", "2026-01-01T00:00:00Z", "--task", "workerpool1-0") in text


def test_the_command_follows(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """VX-17: until the job has ended, page after page, each line once; with --json an object a line."""
    monkeypatch.setattr(logs, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(logs, "PAGE", 2)
    job = create(jobs)
    advancing = threading.Thread(target=jobs.world.advance, args=(1200,))
    advancing.start()
    lines = command(jobs.world, job, "--follow", "--json").splitlines()
    advancing.join()
    assert [json.loads(line) for line in lines] == read(jobs.world, job)["lines"]


def test_a_deleted_job_has_no_log(jobs: Jobs) -> None:
    job = create(jobs)
    jobs.world.advance(minutes=20)
    name = f"projects/{PROJECT}/locations/us-central1/customJobs/{job}"
    assert jobs.call("DELETE", name).status_code == 200
    assert jobs.world.http.get(f"{jobs.world.endpoint}/_windtunnel/jobs/{job}/logs").status_code == 404
    answer = jobs.world.http.post(f"{jobs.world.endpoint}/v2/entries:list", json={"projectIds": [PROJECT]})
    assert answer.json() == {}
