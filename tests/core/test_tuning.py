"""Tuning jobs and trials: what follows from their facts (VX-21)."""

from dataclasses import replace
from typing import Any

import pytest

from app.core.job import JobState
from app.core.reports import Measurement
from app.core.tuning import (
    End,
    Trial,
    TrialState,
    Tuning,
    best_trial,
    end,
    failure_limit,
    state,
    trial_state,
    wanted,
    winding_down,
)
from tests.core.builders import T0, at
from tests.core.studies import study, trial_job


def tuning(**facts: Any) -> Tuning:
    """A job of ten trials, two at a time, that runs."""
    defaults: dict[str, Any] = {
        "account": "123456789012",
        "region": "us-central1",
        "tuning_id": "1",
        "number": 1,
        "display_name": "t",
        "study_spec": study(),
        "trial_job_spec": trial_job(),
        "max_trials": 10,
        "parallel_trials": 2,
        "max_failed": 0,
        "labels": {},
        "encryption": None,
        "pipeline_id": None,
        "home_account": "111122223333",
        "home_region": "us-west-2",
        "created_at": T0,
        "updated_at": T0,
        "started_at": T0,
    }
    return Tuning(**(defaults | facts))


def trials(states: str) -> list[Trial]:
    """One for each letter: Requested, Active, sTopping, Succeeded, Infeasible."""
    return [made(letter, number) for number, letter in enumerate(states, 1)]


def made(letter: str, number: int = 1) -> Trial:
    one = Trial(number, T0)
    if letter != "R":
        one = replace(one, parameters={"lr": 0.5}, job_id=str(number), started_at=T0)
    if letter == "T":
        one = replace(one, stop_at=at(number))
    if letter == "S":
        one = replace(
            one,
            ended_at=at(number),
            outcome=TrialState.SUCCEEDED,
            final=Measurement(number, 1, {"accuracy": number % 3}),
        )
    if letter == "I":
        one = replace(one, ended_at=at(number), outcome=TrialState.INFEASIBLE, reason="It broke.", error_code=3)
    return one


def test_states() -> None:
    assert state(tuning(started_at=None)) == JobState.PENDING
    assert state(tuning()) == JobState.RUNNING
    assert state(tuning(started_at=None, cancel_at=T0)) == state(tuning(cancel_at=T0)) == JobState.CANCELLING
    for outcome in (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED):
        assert state(tuning(cancel_at=T0, ended_at=T0, outcome=outcome)) == outcome


def test_states_of_trials() -> None:
    assert [trial_state(trial) for trial in trials("RATSI")] == list(TrialState)


WANTED: dict[str, tuple[dict[str, Any], str, int]] = {
    "the first": ({}, "", 2),
    "as many as run at once": ({}, "SSA", 1),
    "one that stops still runs": ({}, "RT", 0),
    "no more than all": ({}, "SSSSSSSSA", 1),
    "all are there": ({}, "SSSSSSSSSA", 0),
    "failed ones count": ({}, "IIIII", 2),
    "too many failed": ({}, "IIIIII", 0),
    "its own limit": ({"max_failed": 2}, "IAI", 0),
    "cancelled": ({"cancel_at": T0}, "SS", 0),
    "nothing left to try": ({"exhausted_at": T0}, "SSA", 0),
    "all at once": ({"parallel_trials": 1000}, "S", 9),
}


@pytest.mark.parametrize("name", WANTED)
def test_wanted(name: str) -> None:
    facts, states, count = WANTED[name]
    assert wanted(tuning(**facts), trials(states)) == count


@pytest.mark.parametrize(("most", "limit"), [(1, 1), (2, 2), (3, 2), (10, 6), (1000, 501)])
def test_the_limit_that_is_left_to_the_service(most: int, limit: int) -> None:
    assert failure_limit(tuning(max_trials=most)) == limit
    assert failure_limit(tuning(max_trials=most, max_failed=7)) == 7


ENDS: dict[str, tuple[dict[str, Any], str, JobState | None]] = {
    "all are done": ({}, "SSSSSSSSIS", JobState.SUCCEEDED),
    "one is open": ({}, "SSSSSSSSSA", None),
    "one is wanted": ({}, "SSSSSSSSS", None),
    "nothing left to try": ({"exhausted_at": T0}, "SSS", JobState.SUCCEEDED),
    "too many failed": ({}, "SIIIIII", JobState.FAILED),
    "too many failed, one is stopping": ({}, "SIIIIIIT", None),
    "the last one was too many": ({"max_failed": 1}, "SSSSSSSSSI", JobState.FAILED),
    "none succeeded": ({"max_trials": 2, "max_failed": 5}, "II", JobState.FAILED),
    "cancelled": ({"cancel_at": T0}, "SSI", JobState.CANCELLED),
    "cancelled, one is stopping": ({"cancel_at": T0}, "SST", None),
    "cancelled before the first": ({"cancel_at": T0}, "", JobState.CANCELLED),
    "cancelled as it failed": ({"cancel_at": T0}, "IIIIII", JobState.CANCELLED),
}


@pytest.mark.parametrize("name", ENDS)
def test_end(name: str) -> None:
    facts, states, outcome = ENDS[name]
    found = end(tuning(**facts), trials(states))
    assert (found and found.outcome) == outcome


def test_the_error_of_the_end() -> None:
    assert end(tuning(max_trials=1), trials("S")) == End(JobState.SUCCEEDED)
    cancelled = end(tuning(cancel_at=T0), [])
    assert cancelled is not None and cancelled.error is not None and cancelled.error[0] == 1
    failed = end(
        tuning(max_failed=2), [made("I", 1), replace(made("I", 2), error_code=8, reason="No machine."), made("S", 3)]
    )
    assert failed == End(JobState.FAILED, (8, "2 trials failed; the limit is 2. The last, trial 2: No machine."))


def test_what_is_stopped() -> None:
    assert not winding_down(tuning(), trials("IIIIIA")) and winding_down(tuning(), trials("IIIIIIA"))
    assert winding_down(tuning(cancel_at=T0), trials("A"))


def test_the_best_trial() -> None:
    """The first of equals; by the goal."""
    many = trials("ISSISSA")
    found, least = best_trial(tuning(), many), best_trial(tuning(study_spec=study(goal="MINIMIZE")), many)
    assert found is not None and found.number == 2
    assert least is not None and least.number == 3 and best_trial(tuning(), trials("IAR")) is None
