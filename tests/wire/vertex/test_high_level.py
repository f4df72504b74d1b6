"""The high-level SDK, unmodified (VX-20): the scenarios of high_level.py in a process of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Running

SCRIPT = Path(__file__).with_name("high_level.py")
QUOTA = "aiplatform.googleapis.com/custom_model_training_cpus"


@pytest.fixture(scope="module")
def told(service: Running) -> Iterator[dict[str, Any]]:
    """What each scenario has told."""
    world = service.world()
    environment = {**os.environ, "STORAGE_EMULATOR_HOST": world.endpoint}
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), world.endpoint], env=environment, capture_output=True, text=True, timeout=280
    )
    assert ran.returncode == 0, ran.stderr
    yield dict(json.loads(line) for line in ran.stdout.splitlines() if line.startswith('["'))
    world.close()


@pytest.mark.parametrize(
    ("scenario", "answer"),
    [
        ("a_job_that_succeeds", ["JOB_STATE_SUCCEEDED", True, 3600]),
        (
            "a_job_that_is_cancelled",
            ["JOB_STATE_PENDING", "JOB_STATE_CANCELLING", "JOB_STATE_CANCELLED", 1],
        ),
        ("lists_and_deletion", [["two"], ["three", "two"], []]),
        (
            "a_container_training_job",
            ["PIPELINE_STATE_SUCCEEDED", "JOB_STATE_SUCCEEDED", [[1, ["--epochs", "3"]], [1, ["--epochs", "3"]]]],
        ),
        ("a_tuning_job", ["JOB_STATE_SUCCEEDED", ["SUCCEEDED"] * 3, [["kind", "lr", "units"]] * 3]),
        ("a_local_script", ["JOB_STATE_PENDING", "aiplatform_custom_trainer_script.task", True]),
        ("an_experiment", ["trials", True]),
    ],
)
def test_what_works(told: dict[str, Any], scenario: str, answer: Any) -> None:
    """VX-20, VX-18; the experiment is python-aiplatform#3273."""
    assert told[scenario] == answer


def test_a_failed_job_raises_its_error(told: dict[str, Any]) -> None:
    """VX-9, VX-10: `run` ends with the text that the service gives."""
    error = told["a_job_that_fails"]
    assert error.startswith("RuntimeError: Job failed with:\ncode: 3\n")
    assert "The replica workerpool0-0 exited with a non-zero status of 1." in error


def test_more_than_the_quota_is_refused(told: dict[str, Any]) -> None:
    """VX-1: 429 with the metric, as vertex-ai-samples#3479 saw it."""
    assert told["too_much"].startswith("TooManyRequests: 429 POST")
    assert f"The following quota metrics exceed quota limits: {QUOTA}" in told["too_much"]
