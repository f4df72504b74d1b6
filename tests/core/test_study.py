"""What a tuning job does at one instant (VX-21)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from app.core.job import JobState
from app.core.study import Study
from app.core.times import WorldTime
from app.core.trials import Run, laboratory
from app.core.tuning import Trial, TrialState, trial_state
from tests.core.builders import FAST, INSTANT, SEED, T0, at
from tests.core.test_trials import WHOLE
from tests.core.test_tuning import trials, tuning

OVER = replace(WHOLE, ended_at=at(20), shown_at=at(20))


def study(
    states: str,
    runs: dict[int, Run] | None = None,
    now: WorldTime | None = None,
    delays: Any = FAST.delays,
    **facts: Any,
) -> Study:
    job = tuning(**facts)
    return Study(job, trials(states), runs or {}, now or at(30), laboratory(job, SEED, timedelta(seconds=10)), delays)


def told(found: Study) -> str:
    letters = {TrialState.STOPPING: "T"}
    return "".join(letters.get(trial_state(one), trial_state(one)[0]) for one in found.trials)


def test_it_begins_after_a_moment() -> None:
    early, due = (study("", now=at(second), started_at=None) for second in (0, 1))
    for one in (early, due):
        one.move()
    assert (told(early), early.tuning.started_at, early.conclude()) == ("", None, at(1))
    assert (told(due), due.tuning.started_at, due.ready()) == ("RR", at(1), [])
    assert due.conclude() == at(2), "parameters are chosen a moment later"


def test_without_delays_all_is_at_once() -> None:
    one = study("", now=T0, delays=INSTANT.delays, started_at=None)
    one.move()
    assert [trial.number for trial in one.ready()] == [1, 2]


def test_one_that_ended_makes_room() -> None:
    one = study("SAA", {2: OVER, 3: Run()})
    one.move()
    assert told(one) == "SSAR" and sorted(one.changed) == [2, 4]
    assert one.conclude() == at(31) and one.tuning.updated_at == at(30)


def test_an_end_that_is_not_told_yet() -> None:
    one = study("AA", {1: replace(OVER, shown_at=at(80)), 2: Run()})
    one.move()
    assert (told(one), one.conclude(), one.changed) == ("AA", at(80), {})


def test_it_ends() -> None:
    one = study("SSSSSSSSSA", {10: OVER})
    one.move()
    assert one.conclude() is None
    assert (one.tuning.outcome, one.tuning.ended_at, one.tuning.error_code) == (JobState.SUCCEEDED, at(30), None)


def test_a_cancel_stops_what_runs_and_withdraws_what_was_requested() -> None:
    one = study("SATR", {2: Run(), 3: Run()}, cancel_at=at(30))
    one.move()
    assert told(one) == "STT" and [trial.number for trial in one.stopped] == [2] and one.removed == [4]
    assert one.conclude() is None and one.tuning.ended_at is None, "the jobs' ends bring it back"
    rest = study("STT", {2: OVER, 3: OVER}, cancel_at=at(10))
    rest.move()
    rest.conclude()
    assert rest.tuning.outcome == JobState.CANCELLED and rest.tuning.error_code == 1


def test_a_trial_whose_job_has_ended_is_not_stopped() -> None:
    """Its end is told in time."""
    one = study("A", {1: replace(OVER, shown_at=at(80))}, cancel_at=at(30))
    one.move()
    assert (told(one), one.stopped, one.conclude()) == ("A", [], at(80))


def test_a_cancel_before_it_began() -> None:
    one = study("", now=T0, started_at=None, cancel_at=T0)
    one.move()
    assert one.conclude() is None and one.tuning.outcome == JobState.CANCELLED and one.tuning.started_at is None


def test_too_many_failures_stop_the_rest() -> None:
    one = study("IIA", {3: Run()}, max_failed=2)
    one.move()
    assert (told(one), len(one.stopped), one.conclude()) == ("IIT", 1, None)
    last = study("IIT", {3: OVER}, max_failed=2)
    last.move()
    last.conclude()
    assert last.tuning.outcome == JobState.FAILED and "2 trials failed" in (last.tuning.error_message or "")


def test_nothing_left_to_try() -> None:
    """What was requested beyond it is withdrawn; the job ends with what there is."""
    one = study("SSRR", now=at(2))
    one.move()
    assert [trial.number for trial in one.ready()] == [3, 4]
    one.exhaust()
    assert (told(one), one.removed, one.conclude()) == ("SS", [3, 4], None)
    assert one.tuning.outcome == JobState.SUCCEEDED


def test_who_fails_at_once_is_replaced_at_once() -> None:
    one = study("RR", now=at(1))
    one.move()
    for trial in one.ready():
        one.put(replace(trial, started_at=at(1), ended_at=at(1), outcome=TrialState.INFEASIBLE, reason="No."))
    assert one.conclude() == at(1)


def test_a_new_trial_that_is_withdrawn_was_never_there() -> None:
    one = study("S", now=at(1), max_failed=1)
    one.move()
    one.put(Trial(9, T0, outcome=TrialState.INFEASIBLE, ended_at=T0, reason="No."))
    one.exhaust()
    assert told(one) == "SI" and sorted(one.changed) == [9]
