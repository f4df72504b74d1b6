"""What is told of a job at a moment (VX-9, VX-14a, VX-15)."""

import pytest

from app.core.job import state, view
from app.core.job_errors import class_of, with_logs
from app.core.times import WorldTime
from tests.core.builders import T0, at
from tests.core.work import job

FAILED = {
    "ended_at": at(10),
    "outcome": "JOB_STATE_FAILED",
    "error_code": 3,
    "error_message": "why",
    "shown_at": at(70),
}


@pytest.mark.parametrize(
    ("facts", "moment", "told"),
    [
        ({"admitted_at": None}, T0, "QUEUED"),
        ({}, T0, "PENDING"),
        ({"running_at": at(5)}, at(5), "RUNNING"),
        ({"cancel_at": at(6)}, at(6), "CANCELLING"),
        ({"admitted_at": None, "cancel_at": at(6)}, at(6), "CANCELLING"),
        ({"running_at": at(5)} | FAILED, at(69), "RUNNING"),
        (FAILED, at(69), "PENDING"),
        (FAILED, at(70), "FAILED"),
    ],
)
def test_states(facts: dict[str, object], moment: WorldTime, told: str) -> None:
    assert state(job(**facts), moment) == f"JOB_STATE_{told}"


def test_a_failure_is_told_with_its_end_and_its_error_at_once() -> None:
    """VX-9."""
    one = job(started_at=at(5), running_at=at(5), updated_at=at(10), **FAILED)
    before, after = view(one, at(69)), view(one, at(70))
    assert (before.started_at, before.ended_at, before.error, before.updated_at) == (at(5), None, None, at(10))
    assert (after.started_at, after.ended_at, after.error, after.updated_at) == (at(5), at(10), (3, "why"), at(70))


@pytest.mark.parametrize(
    ("code", "python", "failure"),
    [
        (1, False, "program"),
        (137, False, "memory"),
        (137, True, "program"),
        (9, True, "memory"),
        (9, False, "program"),
        (134, False, "crash"),
        (6, True, "crash"),
        (128, False, "program"),
    ],
)
def test_classes_of_exits(code: int, python: bool, failure: str) -> None:
    """VX-6, VX-11."""
    assert class_of(code, python) == failure


def test_the_log_says_where_to_look() -> None:
    assert with_logs("Why.", "123", "456").endswith(
        "viewer?project=123&resource=ml_job%2Fjob_id%2F456&advancedFilter=resource.type%3D%22ml_job%22%0A"
        "resource.labels.job_id%3D%22456%22"
    )
