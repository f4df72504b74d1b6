"""How trials report, stop and end (VX-21)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.core.job import JobState
from app.core.reports import Measurement
from app.core.trials import Laboratory, Run, laboratory
from app.core.tuning import Trial, TrialState
from tests.core.builders import SEED, T0, at
from tests.core.studies import study, trial_job
from tests.core.test_tuning import made, tuning

TEN = timedelta(minutes=10)
WHOLE = Run(ended_at=at(minutes=11), shown_at=at(minutes=11), outcome=JobState.SUCCEEDED)
FAILED = Run(at(minutes=5), at(minutes=6), JobState.FAILED, 3, "The replica exited.", saved_ms=0)
CANCELLED = replace(FAILED, outcome=JobState.CANCELLED, error_code=1, error_message="Job is cancelled.")


def lab(spec: dict[str, Any] | None = None, **env: str) -> Laboratory:
    """Programs of ten minutes that report `accuracy = step` each minute."""
    job = trial_job(**({"WINDTUNNEL_METRICS": "accuracy = step"} | env))
    return laboratory(tuning(study_spec=spec or study(), trial_job_spec=job), SEED, TEN)


def running(minutes: float = 0, saved: int = 0) -> Run:
    return Run(run_at=at(minutes=minutes), saved_ms=saved)


def steps(found: tuple[Measurement, ...] | None) -> list[int]:
    return [one.step for one in found or ()]


def test_what_is_reported_while_it_runs() -> None:
    """A program that resumes from a checkpoint has reported what that holds; one that waits, nothing."""
    one, trial = lab(), made("A")
    assert steps(one.reported(trial, running(), at(minutes=3.5))) == [1, 2, 3]
    assert steps(one.reported(trial, running(5, saved=120_000), at(minutes=6))) == [1, 2, 3]
    assert one.reported(trial, Run(), at(minutes=9)) == () == one.reported(made("R"), Run(), at(minutes=9))
    assert steps(one.reported(trial, WHOLE, at(minutes=11))) == list(range(1, 11))


def test_a_real_program_s_reports() -> None:
    """Nothing is simulated beside them."""
    told = (Measurement(1, 7, {"accuracy": 0.7}),)
    real = replace(made("A"), measurements=told)
    assert lab().reported(real, running(), at(minutes=9)) == told
    assert lab().ended(real, WHOLE, at(minutes=11)).final == told[0]
    assert lab().reported(replace(real, measurements=()), WHOLE, at(minutes=11)) == ()


def test_success() -> None:
    """VX-21: the last measurement counts unless the study says the best."""
    over = lab().ended(made("A"), WHOLE, at(minutes=11))
    assert over.outcome == TrialState.SUCCEEDED and over.ended_at == WHOLE.ended_at
    assert over.final is not None and over.final.step == 10 and steps(over.measurements) == list(range(1, 11))


SELECTIONS = {
    ("LAST_MEASUREMENT", "MAXIMIZE"): 10,
    ("BEST_MEASUREMENT", "MAXIMIZE"): 7,
    ("BEST_MEASUREMENT", "MINIMIZE"): 1,
    ("MEASUREMENT_SELECTION_TYPE_UNSPECIFIED", "MAXIMIZE"): 10,
}


@pytest.mark.parametrize(("selection", "goal"), SELECTIONS)
def test_the_measurement_that_counts(selection: str, goal: str) -> None:
    one = lab(
        study(goal=goal, measurementSelectionType=selection),
        WINDTUNNEL_METRICS="accuracy = 1 - abs(step - 7) / 10",
    )
    final = one.ended(made("A"), WHOLE, at(minutes=11)).final
    assert final is not None and final.step == SELECTIONS[selection, goal]


def test_only_a_measurement_of_every_metric_counts() -> None:
    two = study(metrics=[{"metricId": "accuracy"}, {"metricId": "loss"}])
    half = lab(two, WINDTUNNEL_METRICS="accuracy = step; loss = 1 if step < 4 else 1 / 0").ended(
        made("A"), WHOLE, at(minutes=11)
    )
    assert half.final is not None and half.final.step == 3
    none = lab(two).ended(made("A"), WHOLE, at(minutes=11))
    assert (none.outcome, none.reason, none.error_code) == (
        TrialState.INFEASIBLE,
        "The trial ended without a measurement of accuracy, loss.",
        3,
    )


def test_failure() -> None:
    """VX-21: a trial whose job fails is infeasible, for the job's reason."""
    over = lab().ended(made("A"), FAILED, at(minutes=6))
    assert (over.outcome, over.reason, over.error_code, over.final) == (
        TrialState.INFEASIBLE,
        FAILED.error_message,
        3,
        None,
    )


def test_its_job_was_cancelled_by_somebody() -> None:
    over = lab().ended(made("A"), CANCELLED, at(minutes=6))
    assert (over.outcome, over.error_code) == (TrialState.INFEASIBLE, 1) and "cancelled" in (over.reason or "")


def test_who_was_stopped_keeps_what_he_reported() -> None:
    stopping = lab().stopping(made("A"), running(), at(minutes=3))
    assert stopping.stop_at == at(minutes=3)
    over = lab().ended(stopping, CANCELLED, at(minutes=6))
    assert over.outcome == TrialState.SUCCEEDED and over.final is not None and over.final.step == 3
    nothing = lab().ended(lab().stopping(made("A"), Run(), T0), CANCELLED, at(minutes=6))
    assert nothing.outcome == TrialState.INFEASIBLE and "stopped" in (nothing.reason or "")


def completed(*values: float) -> list[Trial]:
    told = [tuple(Measurement(step, step, {"accuracy": value}) for step in range(1, 11)) for value in values]
    return [replace(made("S", number), measurements=one, final=one[-1]) for number, one in enumerate(told, 1)]


def test_the_median_rule_stops_a_trial() -> None:
    one = lab(study(medianAutomatedStoppingSpec={}), WINDTUNNEL_METRICS="accuracy = lr")
    good, bad = (replace(made("A", number), parameters={"lr": lr}) for number, lr in ((3, 0.9), (4, 0.1)))
    runs = {3: running(), 4: running()}
    [stopped] = one.stopped_early([*completed(0.4, 0.6), good, bad], runs, at(minutes=2))
    assert (stopped.number, stopped.stop_at, steps(stopped.measurements)) == (4, at(minutes=2), [1, 2])
    assert not list(one.stopped_early([*completed(0.4), bad], {4: replace(FAILED, shown_at=at(9))}, at(minutes=2)))
    assert not list(lab().stopped_early([*completed(0.4, 0.6), bad], runs, at(minutes=2))), "there is no rule"


def test_the_convex_rule_adds_its_prediction() -> None:
    for facts, step, elapsed in (({}, 10, 300_000), ({"useElapsedDuration": True}, 5, 600_000)):
        rule = {
            "convexAutomatedStoppingSpec": {"minMeasurementCount": "2", "maxStepCount": "600" if facts else "10"}
            | facts
        }
        one = lab(study(**rule), WINDTUNNEL_METRICS="accuracy = step / 100")
        [stopped] = one.stopped_early([*completed(0.5, 0.5, 0.5), made("A", 4)], {4: running()}, at(minutes=5))
        assert stopped.measurements is not None
        last = stopped.measurements[-1]
        assert (last.step, last.elapsed_ms, last.metrics) == (step, elapsed, {"accuracy": pytest.approx(0.1)})
        assert steps(stopped.measurements[:-1]) == [1, 2, 3, 4, 5]


def test_when_to_look_again() -> None:
    """At the end of the job; where a rule may stop the trial, at its next report."""
    ruled, free = lab(study(medianAutomatedStoppingSpec={})), lab()
    assert free.next_look(made("A"), running(), at(minutes=2)) is None
    assert free.next_look(made("A"), FAILED, at(minutes=5)) == at(minutes=6)
    assert ruled.next_look(made("A"), running(1), at(minutes=2.5)) == at(minutes=3)
    assert ruled.next_look(made("A"), running(1, saved=90_000), at(minutes=1)) == at(minutes=1.5)
    assert ruled.next_look(made("A"), running(), at(minutes=10)) is None, "it has reported all"
    assert ruled.next_look(made("T"), running(), at(minutes=2)) is ruled.next_look(made("A"), Run(), T0) is None
