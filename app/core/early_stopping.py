"""Automated early stopping of trials: which of the running ones should stop, by what all have reported (VX-21).

The median rule is as the API describes it. Of the other two the API tells the idea and not the model: they are
simpler here, and marked as chosen.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

from app.core.reports import Measurement, Metric
from app.core.search_space import rounded

FEWEST = 5
"""Trials that must have completed before the decay curve rule stops any (chosen); the convex rule's default."""


class Point(NamedTuple):
    """How good a trial was (more is better) after so many steps, or milliseconds."""

    x: float
    good: float


Curve = Sequence[Point]
"""What a trial reported of the first metric, in order."""


class Verdict(NamedTuple):
    """Stop, or go on; `predicted` is what the stopped trial's curve would have come to, where the rule says so."""

    stop: bool
    predicted: Point | None = None


GO_ON = Verdict(False)
Judge = Callable[[Mapping[str, Any], Curve, Sequence[Curve]], Verdict]
"""By what the study says of its rule, the running trial's curve, and the curves of those that have completed."""


def rule_of(study_spec: Mapping[str, Any]) -> "Rule | None":
    """The study's rule, or None when its trials run to their end."""
    for member, judge in _JUDGES.items():
        if member in study_spec:
            return Rule(judge, study_spec[member])
    return None


class Rule:
    """A rule and what the study says of it."""

    def __init__(self, judge: Judge, spec: Mapping[str, Any]) -> None:
        self._judge, self._spec = judge, spec

    @property
    def by_time(self) -> bool:
        """Curves go by the time that the trial has run, not by its steps."""
        return bool(self._spec.get("useElapsedDuration", False))

    def curve(self, metric: Metric, measurements: Sequence[Measurement]) -> Curve:
        """What the rule looks at."""
        sign = 1 if metric.maximize else -1
        return [
            Point(one.elapsed_ms if self.by_time else one.step, sign * one.metrics[metric.metric_id])
            for one in measurements
            if metric.metric_id in one.metrics
        ]

    def predicted(self, metric: Metric, point: Point, last: Measurement) -> Measurement:
        """The measurement that the point stands for, as if it had been reported after `last`."""
        value = {metric.metric_id: rounded(point.good if metric.maximize else -point.good)}
        return (
            Measurement(round(point.x), last.step, value)
            if self.by_time
            else Measurement(last.elapsed_ms, round(point.x), value)
        )

    def judge(self, running: Curve, completed: Sequence[Curve]) -> Verdict:
        """Whether the running trial should stop, by the trials that have completed."""
        others = [curve for curve in completed if curve]
        return self._judge(self._spec, running, others) if running and others else GO_ON


def _median(spec: Mapping[str, Any], running: Curve, completed: Sequence[Curve]) -> Verdict:
    """Stop when its best is below the median of the others' averages up to the same point."""
    last = running[-1].x
    averages = [fmean(good) for curve in completed if (good := [point.good for point in curve if point.x <= last])]
    return Verdict(bool(averages) and max(point.good for point in running) < median(averages))


def _decay_curve(spec: Mapping[str, Any], running: Curve, completed: Sequence[Curve]) -> Verdict:
    """Stop when, gaining from here on what any other trial gained, it would still not reach the best (chosen: the
    others' gains stand for the regression of the service)."""
    if len(completed) < FEWEST:
        return GO_ON
    last = running[-1]
    gains = [curve[-1].good - then[-1].good for curve in completed if (then := [p for p in curve if p.x <= last.x])]
    best = max(point.good for curve in completed for point in curve)
    return Verdict(bool(gains) and last.good + max(gains) < best)


def _convex(spec: Mapping[str, Any], running: Curve, completed: Sequence[Curve]) -> Verdict:
    """Stop when going on as steeply as it went last, which is more than it will, it would not reach the best (chosen:
    the straight line stands for the prediction of the service, too)."""
    unit = 1000 if spec.get("useElapsedDuration") else 1
    whole = unit * float(spec.get("maxStepCount", 0)) or max(curve[-1].x for curve in completed)
    least = unit * float(spec["minStepCount"]) if "minStepCount" in spec else whole / 10
    enough = int(spec.get("minMeasurementCount", 0)) or FEWEST
    if len(completed) <= enough or len(running) < max(enough, 2) or running[-1].x <= least:
        return GO_ON
    before, last = running[-2:]
    slope = (last.good - before.good) / (last.x - before.x)
    if not slope or last.x >= whole:
        return GO_ON
    predicted = Point(whole, last.good + slope * (whole - last.x))
    if predicted.good >= max(curve[-1].good for curve in completed):
        return GO_ON
    return Verdict(True, predicted)


_JUDGES = {
    "medianAutomatedStoppingSpec": _median,
    "decayCurveStoppingSpec": _decay_curve,
    "convexAutomatedStoppingSpec": _convex,
}
