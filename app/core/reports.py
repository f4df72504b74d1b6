"""What the program of a trial reports, when it is simulated: its metrics as a function of its parameters (VX-21).

A pool's environment says which: `WINDTUNNEL_METRICS`, such as `accuracy = 1 - (lr - 0.1) ** 2; loss = lr * progress`,
with as names the parameters, `step`, `steps` and `progress` (from 0 to 1); `WINDTUNNEL_METRIC_STEPS`, how often it
reports; `WINDTUNNEL_METRIC_NOISE`, the standard deviation of what is added to each value. Without an expression a
metric is better the nearer the parameters are to a point that the world's seed chooses, and gets there step by step.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.chance import MILLION, below, draw
from app.core.expressions import BadExpression, Expression
from app.core.search_space import Parameter, Value, Values, applied, place_of, rounded, space_of

METRICS, STEPS, NOISE = "WINDTUNNEL_METRICS", "WINDTUNNEL_METRIC_STEPS", "WINDTUNNEL_METRIC_NOISE"
USUAL_STEPS, MOST_STEPS = 10, 100
_STEEP = 4.0
_FINE = 2**53


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a study, and whether more of it is better."""

    metric_id: str
    maximize: bool


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was reported of a trial after it had run for so long; `step` counts the reports."""

    elapsed_ms: int
    step: int
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Program:
    """How the trials of one study report; `noise` is a standard deviation."""

    space: Sequence[Parameter]
    metrics: Sequence[Metric]
    expressions: Mapping[str, Expression]
    steps: int
    noise: float


def metrics_of(study_spec: Mapping[str, Any]) -> tuple[Metric, ...]:
    """A goal that is not given is to maximize."""
    specs = study_spec.get("metrics", ())
    return tuple(Metric(spec["metricId"], spec.get("goal") != "MINIMIZE") for spec in specs)


def program_of(trial_job_spec: Mapping[str, Any], study_spec: Mapping[str, Any]) -> Program:
    """The program of a study's trials. BadExpression."""
    env, space = _environment(trial_job_spec), space_of(study_spec)
    names = {_word(name) for name in _ids(space)} | {"step", "steps", "progress"}
    known = {_word(metric.metric_id): metric.metric_id for metric in metrics_of(study_spec)}
    return Program(
        space=space,
        metrics=metrics_of(study_spec),
        expressions=dict(
            _expression(text, names, known) for text in re.split("[;\n]", env.get(METRICS, "")) if text.strip()
        ),
        steps=int(_bounded(env, STEPS, USUAL_STEPS, MOST_STEPS)),
        noise=_bounded(env, NOISE, 0, 1e9),
    )


def _environment(trial_job_spec: Mapping[str, Any]) -> dict[str, str]:
    """Of the primary replica's pool."""
    pools = trial_job_spec.get("workerPoolSpecs") or [{}]
    task = pools[0].get("containerSpec") or pools[0].get("pythonPackageSpec") or {}
    return {one.get("name", ""): one.get("value", "") for one in task.get("env", ())}


def _ids(space: Sequence[Parameter]) -> set[str]:
    under = [child.parameter for parameter in space for child in parameter.children]
    return {parameter.parameter_id for parameter in space} | (_ids(under) if under else set())


def _word(name: str) -> str:
    """How an expression names what is called so: `learning-rate` is `learning_rate`."""
    return re.sub(r"\W", "_", name)


def _expression(text: str, names: set[str], known: Mapping[str, str]) -> tuple[str, Expression]:
    name, equals, right = text.partition("=")
    metric = known.get(_word(name.strip()))
    if not equals or metric is None:
        raise BadExpression(
            f"{METRICS} has '{text.strip()[:100]}', which is not `metric = expression` with one of the metrics "
            f"{', '.join(known.values())}."
        )
    try:
        return metric, Expression(right, names)
    except BadExpression as error:
        raise BadExpression(f"{METRICS}: {error}") from None


def _bounded(env: Mapping[str, str], name: str, usual: float, most: float) -> float:
    try:
        found = float(env.get(name, usual))
    except ValueError:
        found = -1.0
    if not 0 <= found <= most:
        raise BadExpression(f"{name} is '{env[name][:50]}'; give a number from 0 to {most:g}.")
    return found


def reports(
    program: Program, seed: int, subject: str, values: Values, elapsed_ms: int, whole_ms: int
) -> tuple[Measurement, ...]:
    """What a program that runs for `whole_ms` has reported after `elapsed_ms`; `subject` tells trials' noise apart."""
    done = [step for step in range(1, program.steps + 1) if report_ms(program, step, whole_ms) <= elapsed_ms]
    found = (_measured(program, seed, subject, values, step, report_ms(program, step, whole_ms)) for step in done)
    return tuple(one for one in found if one.metrics)


def report_ms(program: Program, step: int, whole_ms: int) -> int:
    """How many milliseconds after its start a program that runs for `whole_ms` reports so often."""
    return -(-whole_ms * step // program.steps)


def _measured(program: Program, seed: int, subject: str, values: Values, step: int, elapsed_ms: int) -> Measurement:
    progress = step / program.steps
    names: dict[str, Value] = {_word(name): value for name, value in values.items()}
    names |= {"step": step, "steps": program.steps, "progress": progress}
    found: dict[str, float] = {}
    for metric in program.metrics:
        if metric.metric_id in program.expressions:
            value = program.expressions[metric.metric_id].value(names)
        elif program.expressions:
            value = None  # who says what is reported has said that this is not
        else:
            value = _learnt(_goodness(program.space, seed, metric.metric_id, values), progress, metric.maximize)
        if value is not None:
            noise = program.noise and program.noise * _normal(seed, f"{subject}/{metric.metric_id}/{step}")
            found[metric.metric_id] = rounded(value + noise)
    return Measurement(elapsed_ms, step, found)


def _goodness(space: Sequence[Parameter], seed: int, metric: str, values: Values) -> float:
    """From 0 to 1; 1 at the best point."""
    distances = [
        _distance(seed, f"{metric}/{parameter.path}", parameter, value) for parameter, value in applied(space, values)
    ]
    return math.exp(-_STEEP * sum(distances) / len(distances))


def _distance(seed: int, subject: str, parameter: Parameter, value: Value) -> float:
    if parameter.kind == "CATEGORICAL":
        return draw(seed, f"{subject}/{value}", "optimum") / MILLION
    best = 0.1 + 0.8 * draw(seed, subject, "optimum") / MILLION
    return (place_of(parameter, value) - best) ** 2


def _learnt(goodness: float, progress: float, maximize: bool) -> float:
    """A curve that rises (or falls) from near 0 (or 1) and flattens."""
    reached = goodness * (1 - math.exp(-_STEEP * progress)) / (1 - math.exp(-_STEEP))
    return reached if maximize else 1 - reached


def _normal(seed: int, subject: str) -> float:
    """A standard normal draw (Box and Muller)."""
    one, other = ((below(seed, subject, f"noise-{which}", _FINE) + 0.5) / _FINE for which in "ab")
    return math.sqrt(-2 * math.log(one)) * math.cos(2 * math.pi * other)
