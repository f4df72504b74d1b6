"""Clusters' GPUs, who waits, and who had which part of the bill, by the control API and the command line (VX-24)."""

import csv
import io
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import app
from tests.fleets import PARENT, gpu_group, gpus, submit
from tests.kit import TestWorld, custom_job, eks

HOUR = 3_600_000


@pytest.fixture
def shared(world: TestWorld) -> TestWorld:
    """Two nodes for an hour, of which two jobs had a part for ten minutes each, and a job in the region's pool."""
    world.sagemaker.create_cluster(**eks(gpu_group(2)))
    world.advance(minutes=10)
    submit(world, gpus(1, 8, RUN_SECONDS="599"), name="whole", budget="team-a")
    submit(world, gpus(1, 2, RUN_SECONDS="599"), name="quarter")
    world.vertex.create_custom_job(parent=PARENT, custom_job=custom_job("apart"))
    world.advance(hours=1)
    return world


def cluster_line(bill: dict[str, Any]) -> dict[str, Any]:
    [line] = [one for one in bill["lines"] if one["cluster_name"] == "demo"]
    return line


def command(world: TestWorld, *words: str) -> str:
    done = CliRunner().invoke(app, [*words, "--world", world.name, "--endpoint", world.base])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_parts_of_a_line_are_by_gpu_time_and_sum_to_it(shared: TestWorld) -> None:
    """VX-24: never added to totals; the regional job has a line of its own (VX-23)."""
    bill = shared.bill(by="job")
    line = cluster_line(bill)
    parts = {part["job_name"] or "idle": part for part in line["workloads"]}
    assert parts["whole"]["gpu_milliseconds"] == 8 * HOUR // 6
    assert parts["quarter"]["gpu_milliseconds"] == 2 * HOUR // 6
    assert parts["whole"]["micro_usd"] == round(line["micro_usd_per_hour"] / 6)
    assert (parts["whole"]["budget"], parts["idle"]["idle"]) == ("team-a", True)
    assert sum(part["micro_usd"] for part in line["workloads"]) == line["micro_usd"]
    assert bill["total_micro_usd"] == sum(one["micro_usd"] for one in bill["lines"])
    assert shared.bill(by="cluster")["total_micro_usd"] == bill["total_micro_usd"]


def test_by_budget_those_without_one_are_together(shared: TestWorld) -> None:
    """VX-24."""
    line = cluster_line(shared.bill(by="budget"))
    parts = [(part["budget"], part["idle"], part["gpu_milliseconds"]) for part in line["workloads"]]
    assert parts[:2] == [(None, False, 2 * HOUR // 6), ("team-a", False, 8 * HOUR // 6)]
    assert parts[2][1]
    assert sum(part["micro_usd"] for part in line["workloads"]) == line["micro_usd"]


def test_periods_cut_the_parts_and_a_deleted_job_keeps_its_own(shared: TestWorld) -> None:
    """VX-24: two halves sum to the whole, to the rounding of each line."""
    for job in shared.vertex.list_custom_jobs(parent=PARENT).custom_jobs:
        shared.vertex.delete_custom_job(name=job.name)
    middle = "2026-01-01T00:15:00Z"
    halves = [cluster_line(shared.bill(by="job", **half)) for half in ({"to": middle}, {"from": middle})]
    whole = cluster_line(shared.bill(by="job"))
    for name in ("whole", "quarter"):
        cut = [part for half in halves for part in half["workloads"] if part["job_name"] == name]
        uncut = next(part for part in whole["workloads"] if part["job_name"] == name)
        assert len(cut) == 2
        assert sum(part["gpu_milliseconds"] for part in cut) == uncut["gpu_milliseconds"]
        assert abs(sum(part["micro_usd"] for part in cut) - uncut["micro_usd"]) <= 2


def test_the_command_line_prints_the_parts(shared: TestWorld) -> None:
    """CT-11."""
    text = command(shared, "bill", "--by", "job")
    assert "of demo, by GPU-time" in text
    assert all(word in text for word in ("whole", "quarter", "idle", "team-a", "1.333"))
    rows = list(csv.DictReader(io.StringIO(command(shared, "bill", "--by", "budget", "--csv"))))
    assert [row["cluster_name"] for row in rows].count("demo") == 1
    assert "workloads" not in rows[0]
    assert "no budget" in command(shared, "bill", "--by", "budget")


def test_who_waits_and_why_also_for_quotas(world: TestWorld) -> None:
    """VX-1, VX-24, CT-11."""
    world.sagemaker.create_cluster(**eks(gpu_group(1)))
    world.advance(minutes=10)
    submit(world, gpus(1, 8), name="first")
    waiting = submit(world, gpus(1, 4), name="second")
    project = waiting.split("/")[1]
    metric = "aiplatform.googleapis.com/custom_model_training_cpus"
    world.control("POST", "quotas", json={"name": metric, "value": 4, "account": project, "region": "us-central1"})
    for name in ("apart", "behind"):
        world.vertex.create_custom_job(parent=PARENT, custom_job=custom_job(name))
    arn = world.describe()["ClusterArn"]
    rows = world.control("GET", "queue")["queue"]
    assert [(row["job_name"], row["cluster_arn"], row["reason"], row["gpus"]) for row in rows] == [
        ("second", arn, "no-free-gpus", 4),
        ("behind", None, "quota-in-use", 0),
    ]
    assert rows[0]["job"] == waiting
    assert world.control("GET", "queue", params={"cluster": "demo"})["queue"] == rows[:1]
    assert world.control("GET", "queue", params={"cluster": "else"})["queue"] == []
    assert "unfunded work evicts nobody" in command(world, "queue", "--cluster", arn)
    fleet = {"cluster_arn": arn, "cluster_name": "demo", "gpu": "h100-80gb"}
    counts = {"nodes": 1, "gpus": 8, "ready": 8, "taken": 8}
    assert world.control("GET", "fleets") == {"fleets": [fleet | counts], "pools": []}
    assert "h100-80gb" in command(world, "fleet", "list")


def test_who_cannot_start_in_his_turn_either_is_told_why(world: TestWorld) -> None:
    """VX-1, VX-24: neither behind others on a cluster, nor for a quota that was lowered below the job."""
    world.sagemaker.create_cluster(**eks(gpu_group(1)))
    world.advance(minutes=10)
    submit(world, gpus(1, 8), name="first")
    submit(world, gpus(1, 8), name="second")
    waiting = submit(world, gpus(1, 8), gpus(1, 8), name="huge")
    quota = {
        "name": "aiplatform.googleapis.com/custom_model_training_cpus",
        "account": waiting.split("/")[1],
        "region": "us-central1",
    }
    world.control("POST", "quotas", json=quota | {"value": 4})
    for name in ("pooled", "lowered"):
        world.vertex.create_custom_job(parent=PARENT, custom_job=custom_job(name))
    world.control("POST", "quotas", json=quota | {"value": 2})
    rows = world.control("GET", "queue")["queue"]
    assert [(row["job_name"], row["reason"]) for row in rows] == [
        ("second", "no-free-gpus"),
        ("huge", "fleet-too-small"),
        ("lowered", "quota-too-small"),
    ]
    assert "exceed quota limits: aiplatform.googleapis.com/custom_model_training_cpus. It is" in rows[2]["message"]
