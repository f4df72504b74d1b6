"""gcloud, unmodified where it is installed (VX-20), and what it sends, recorded, everywhere."""

import json
import re
from typing import Any

import pytest

from tests.kit import TestWorld

SPEC = "machine-type=n1-standard-4,replica-count=1,container-image-uri=gcr.io/demo/train"
NAME = re.compile(r"projects/\d+/locations/us-central1/\w+/\d+")


def run(world: TestWorld, *arguments: str) -> str:
    ran = world.gcloud("ai", *arguments, "--region=us-central1")
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


def told(world: TestWorld, *arguments: str) -> Any:
    ran = world.gcloud("ai", *arguments, "--region=us-central1", "--format=json")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_custom_jobs(world: TestWorld) -> None:
    """VX-20: create, describe, list, cancel."""
    text = run(world, "custom-jobs", "create", "--display-name=first", f"--worker-pool-spec={SPEC}")
    found = NAME.search(text)
    assert found, text
    name = found[0].rpartition("/")[2]
    assert told(world, "custom-jobs", "describe", name)["state"] == "JOB_STATE_PENDING"
    run(world, "custom-jobs", "cancel", name)
    assert [job["state"] for job in told(world, "custom-jobs", "list")] == ["JOB_STATE_CANCELLING"]
    world.advance(minutes=10)
    [job] = told(world, "custom-jobs", "list", "--filter=displayName=first", "--limit=1")
    assert (job["name"], job["state"], job["error"]["code"]) == (found[0], "JOB_STATE_CANCELLED", 1)


def test_tuning_jobs_of_v1beta1(world: TestWorld, tmp_path: Any) -> None:
    """VX-20: `gcloud beta` asks v1beta1."""
    config = tmp_path / "config.yaml"
    config.write_text(
        """
studySpec:
  metrics: [{metricId: accuracy, goal: MAXIMIZE}]
  parameters: [{parameterId: lr, doubleValueSpec: {minValue: 0.1, maxValue: 1}, scaleType: UNIT_LOG_SCALE}]
  algorithm: RANDOM_SEARCH
trialJobSpec:
  workerPoolSpecs:
  - {machineSpec: {machineType: n1-standard-4}, replicaCount: 1, containerSpec: {imageUri: gcr.io/demo/train}}
"""
    )
    arguments = ("--display-name=tunes", f"--config={config}", "--max-trial-count=2", "--parallel-trial-count=2")
    ran = world.gcloud("beta", "ai", "hp-tuning-jobs", "create", *arguments, "--region=us-central1")
    assert ran.returncode == 0, ran.stderr
    world.advance(hours=1)
    [job] = told(world, "hp-tuning-jobs", "list")
    assert (job["state"], [trial["state"] for trial in job["trials"]]) == ("JOB_STATE_SUCCEEDED", ["SUCCEEDED"] * 2)


def test_errors_are_shown_with_their_details(world: TestWorld) -> None:
    """VX-19: status, message and details are what gcloud shows."""
    arguments = ("custom-jobs", "create", "--display-name=x", "--region=us-central1")
    bad = SPEC.replace("n1-standard-4", "n1-nothing")
    ran = world.gcloud("ai", *arguments, f"--worker-pool-spec={bad}")
    assert ran.returncode == 1
    assert "(gcloud.ai.custom-jobs.create) INVALID_ARGUMENT: List of found errors:" in ran.stderr
    assert "job_spec.worker_pool_specs[0].machine_spec.machine_type" in ran.stderr
    assert "Machine type n1-nothing is not supported." in ran.stderr


GCLOUD = {
    "user-agent": "google-cloud-sdk gcloud/528.0.0 command/gcloud.ai.custom-jobs.create",
    "authorization": "Bearer fake",
    "content-type": "application/json",
    "accept": "application/json",
}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_what_gcloud_sends(world: TestWorld, version: str) -> None:
    """VX-20: recorded from gcloud 528, for machines without it."""
    base = f"{world.endpoint}/{version}/projects/p1/locations/us-central1/customJobs"
    machine = {"acceleratorCount": 1, "acceleratorType": "NVIDIA_TESLA_T4", "machineType": "n1-standard-4"}
    pool = {"containerSpec": {"imageUri": "gcr.io/demo/train"}, "machineSpec": machine, "replicaCount": "1"}
    body = {"displayName": "recorded", "jobSpec": {"workerPoolSpecs": [pool]}}
    made = world.http.post(f"{base}?alt=json", json=body, headers=GCLOUD)
    assert made.status_code == 200, made.text
    assert made.headers["content-type"].startswith("application/json")
    assert made.json()["jobSpec"] == body["jobSpec"]
    listed = world.http.get(f"{base}?alt=json&pageSize=100", headers=GCLOUD).json()
    assert [job["name"] for job in listed["customJobs"]] == [made.json()["name"]]
    name = made.json()["name"]
    cancelled = world.http.post(f"{world.endpoint}/{version}/{name}:cancel?alt=json", json={}, headers=GCLOUD)
    assert (cancelled.status_code, cancelled.json()) == (200, {})
