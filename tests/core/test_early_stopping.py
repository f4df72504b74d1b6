"""Which running trials should stop (VX-21)."""

from collections.abc import Sequence
from typing import Any

import pytest

from app.core.early_stopping import Rule, Verdict, rule_of
from app.core.reports import Measurement, Metric
from tests.core.studies import study

ACCURACY, LOSS = Metric("accuracy", True), Metric("loss", False)
STOP, GO_ON = Verdict(True), Verdict(False)
RISING = [0.1, 0.2, 0.3, 0.35, 0.4, 0.42]


def rule(member: str, **facts: Any) -> Rule:
    found = rule_of(study(**{member: facts}))
    assert found is not None
    return found


def curve(one: Rule, values: Sequence[float], metric: Metric = ACCURACY, minutes: float = 1) -> Any:
    """A report each minute, or each so many."""
    reports = [
        Measurement(round(step * minutes * 60_000), step, {metric.metric_id: value})
        for step, value in enumerate(values, 1)
    ]
    return one.curve(metric, reports)


def judged(one: Rule, running: Sequence[float], *others: Sequence[float], metric: Metric = ACCURACY) -> Verdict:
    return one.judge(curve(one, running, metric), [curve(one, other, metric) for other in others])


MEDIAN: dict[str, tuple[list[float], list[list[float]], bool]] = {
    "nobody to compare with": ([0.1], [], False),
    "nothing reported": ([], [RISING], False),
    "below the others' average up to there": ([0.01, 0.1], [RISING], True),
    "better than it": ([0.1, 0.16], [RISING], False),
    "its best counts": ([0.2, 0.01], [RISING], False),
    "the median counts": ([0.2], [[0.1], [0.3], [0.9]], True),
    "one of two": ([0.2], [[0.1], [0.3]], False),
    "who had ended before counts to its end": ([0.01] * 6, [[0.5]], True),
}


@pytest.mark.parametrize("name", MEDIAN)
def test_median(name: str) -> None:
    running, others, stops = MEDIAN[name]
    assert judged(rule("medianAutomatedStoppingSpec"), running, *others).stop is stops


def test_median_of_what_is_to_be_small() -> None:
    one = rule("medianAutomatedStoppingSpec")
    assert judged(one, [0.9, 0.8], [0.9, 0.4], metric=LOSS) == STOP
    assert judged(one, [0.9, 0.3], [0.9, 0.4], metric=LOSS) == GO_ON


def test_median_by_time() -> None:
    """A slow trial's second report comes when another has reported four times."""
    for by_time in (False, True):
        one = rule("medianAutomatedStoppingSpec", useElapsedDuration=by_time)
        slow = curve(one, [0.1, 0.2], minutes=2)
        assert one.judge(slow, [curve(one, [0.1, 0.2, 0.3, 0.4])]).stop is by_time


def test_decay_curve() -> None:
    """Not while the best gain of five others would lift it to the best."""
    one, others = rule("decayCurveStoppingSpec"), [RISING] * 5
    assert judged(one, [0.09, 0.19], *others) == STOP
    assert judged(one, [0.1, 0.2], *others) == GO_ON
    assert judged(one, [0.0, 0.0], *others[1:]) == GO_ON, "too few to tell"
    assert judged(one, [0.09, 0.19], *others[1:], [0.0, 0.0, 0.42]) == GO_ON, "one gained much later"


def test_convex() -> None:
    """Going on as steeply as last it would not reach the best: 0.05 a step for five more steps."""
    others = [[0.1 * step for step in range(1, 11)]] * 6
    one = rule("convexAutomatedStoppingSpec")
    verdict = judged(one, [0.1, 0.2, 0.3, 0.4, 0.45], *others)
    assert verdict.stop and verdict.predicted is not None
    assert verdict.predicted == pytest.approx((10, 0.7))
    assert judged(one, [0.1, 0.2, 0.3, 0.4, 0.6], *others) == GO_ON
    assert judged(one, [0.1, 0.2, 0.3, 0.4, 0.4], *others) == GO_ON, "a flat curve tells nothing"
    assert judged(one, [0.1, 0.2, 0.3, 0.35], *others) == GO_ON, "too few reports"
    assert judged(one, [0.1, 0.2, 0.3, 0.4, 0.45], *others[1:]) == GO_ON, "too few others"
    assert judged(one, [0.01 * step for step in range(11)], *others) == GO_ON, "it is at its end"


def test_convex_as_the_study_says() -> None:
    others = [[0.1 * step for step in range(1, 11)]] * 6
    sooner = rule("convexAutomatedStoppingSpec", minMeasurementCount="2", maxStepCount="4")
    assert judged(sooner, [0.1, 0.2], *others).predicted == pytest.approx((4, 0.4))
    later = rule("convexAutomatedStoppingSpec", minStepCount="5")
    assert judged(later, [0.1, 0.2, 0.3, 0.4, 0.45], *others) == GO_ON
    assert judged(later, [0.1, 0.2, 0.3, 0.4, 0.45, 0.46], *others).stop
    seconds = rule("convexAutomatedStoppingSpec", useElapsedDuration=True, maxStepCount="600", minStepCount="60")
    assert judged(seconds, [0.1, 0.2, 0.3, 0.4, 0.45], *others).predicted == pytest.approx((600_000, 0.7))


def test_no_rule() -> None:
    assert rule_of(study()) is None
