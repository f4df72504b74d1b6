"""What a simulated program reports (VX-21)."""

from typing import Any

import pytest

from app.core.expressions import BadExpression
from app.core.reports import METRICS, NOISE, STEPS, Measurement, Program, program_of, report_ms, reports
from app.core.searching import random_point
from tests.core.builders import SEED
from tests.core.studies import categorical, discrete, double, integer, study, trial_job, under

TWO = study(double("lr"), metrics=[{"metricId": "accuracy"}, {"metricId": "val-loss", "goal": "MINIMIZE"}])
HOUR = 3_600_000


def program(spec: dict[str, Any] = TWO, **env: str) -> Program:
    return program_of(trial_job(**env), spec)


def whole(one: Program, values: dict[str, Any], subject: str = "1", seed: int = SEED) -> tuple[Measurement, ...]:
    return reports(one, seed, subject, values, HOUR, HOUR)


def test_an_expression_for_each_metric() -> None:
    """VX-21: parameters, step, steps and progress are its names; what is no identifier is written with `_`."""
    one = program(
        WINDTUNNEL_METRICS="accuracy = 1 - (lr - 0.1) ** 2; val_loss = (steps - step) / steps + progress * 0",
        WINDTUNNEL_METRIC_STEPS="4",
    )
    told = whole(one, {"lr": 0.3})
    assert [one.step for one in told] == [1, 2, 3, 4]
    assert [one.elapsed_ms for one in told] == [HOUR // 4, HOUR // 2, HOUR // 4 * 3, HOUR]
    assert [one.metrics for one in told] == [{"accuracy": 0.96, "val-loss": left} for left in (0.75, 0.5, 0.25, 0)]


def test_what_has_run_so_far_has_reported_so_much() -> None:
    one = program()
    assert [
        len(reports(one, SEED, "1", {"lr": 0.3}, elapsed, HOUR)) for elapsed in (0, HOUR // 10 - 1, HOUR // 10, HOUR)
    ] == [0, 0, 1, 10]
    assert [report_ms(program(WINDTUNNEL_METRIC_STEPS="3"), step, 10) for step in (1, 2, 3)] == [4, 7, 10]
    assert len(reports(one, SEED, "1", {"lr": 0.3}, 0, 0)) == 10, "a program that takes no time"


def test_who_says_what_is_reported_says_that_nothing_else_is() -> None:
    assert {
        name for one in whole(program(WINDTUNNEL_METRICS="accuracy = lr"), {"lr": 0.3}) for name in one.metrics
    } == {"accuracy"}


def test_no_value_no_report() -> None:
    """A division by zero, a parameter that does not apply."""
    assert whole(program(WINDTUNNEL_METRICS="accuracy = 1 / lr"), {"lr": 0.0}) == ()
    spec = study(under(categorical("opt"), (["sgd"], double("momentum"))))
    assert whole(program(spec, WINDTUNNEL_METRICS="accuracy = momentum"), {"opt": "adam"}) == ()
    assert whole(program(WINDTUNNEL_METRIC_STEPS="0"), {"lr": 0.3}) == ()


def test_without_an_expression_search_pays() -> None:
    """Nearer to the seed's best point is better, for both goals; the curve rises or falls, and flattens."""
    one = program()
    ends = {lr / 100: whole(one, {"lr": lr / 100})[-1].metrics for lr in range(101)}
    best = max(ends, key=lambda lr: ends[lr]["accuracy"])
    assert 0.1 <= best <= 0.9 and ends[best]["accuracy"] > 0.999
    assert all(ends[lr]["accuracy"] < ends[lr + 0.01 if lr + 0.01 in ends else best]["accuracy"] for lr in (0.0,))
    least = min(ends, key=lambda lr: ends[lr]["val-loss"])
    assert ends[least]["val-loss"] < 0.001 and least != best, "each metric has a best point of its own"
    curve = [report.metrics["accuracy"] for report in whole(one, {"lr": best})]
    assert curve == sorted(curve) and curve[1] - curve[0] > curve[9] - curve[8]


def test_every_kind_of_parameter_counts() -> None:
    spec = study(
        double("lr", 1e-4, 1, "UNIT_LOG_SCALE"), integer("units"), categorical("opt", "a", "b", "c"), discrete("batch")
    )
    one = program(spec)
    base = {"lr": 0.01, "units": 2, "opt": "a", "batch": 16.0}
    for change in ({"lr": 0.1}, {"units": 3}, {"opt": "b"}, {"batch": 32.0}):
        assert whole(one, base)[-1] != whole(one, base | change)[-1]


def test_the_seed_decides() -> None:
    one = program()
    assert whole(one, {"lr": 0.3}) == whole(one, {"lr": 0.3}) != whole(one, {"lr": 0.3}, seed=8)
    assert whole(one, {"lr": 0.3}, "1") == whole(one, {"lr": 0.3}, "2"), (
        "without noise trials of equal parameters are equal"
    )


def test_noise() -> None:
    """A standard deviation; its own for each trial and each report."""
    one = program(WINDTUNNEL_METRICS="accuracy = 0", WINDTUNNEL_METRIC_NOISE="0.5", WINDTUNNEL_METRIC_STEPS="100")
    values = [
        report.metrics["accuracy"] for subject in map(str, range(20)) for report in whole(one, {"lr": 0.3}, subject)
    ]
    assert len(set(values)) == 2000
    mean = sum(values) / 2000
    assert abs(mean) < 0.05 and (sum((value - mean) ** 2 for value in values) / 2000) ** 0.5 == pytest.approx(
        0.5, rel=0.05
    )


def test_random_points_are_even() -> None:
    space = program(study(double("lr", 1e-4, 1, "UNIT_LOG_SCALE"))).space
    points = [float(random_point(space, SEED, f"t/{number}")["lr"]) for number in range(1000)]
    assert 400 < sum(point < 1e-2 for point in points) < 600


REFUSED = {
    "no metric": {METRICS: "loss = lr"},
    "no equation": {METRICS: "accuracy"},
    "an unknown name": {METRICS: "accuracy = depth"},
    "no expression": {METRICS: "accuracy = "},
    "no number": {STEPS: "many"},
    "too many": {STEPS: "101"},
    "too few": {NOISE: "-1"},
    "nothing": {NOISE: "nan"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    env = REFUSED[name]
    with pytest.raises(BadExpression, match=next(iter(env))):
        program(**env)
