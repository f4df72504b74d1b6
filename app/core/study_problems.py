"""What is wrong with the study of a HyperparameterTuningJob, field by field, all of it at once."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from app.core.expressions import BadExpression
from app.core.reports import program_of
from app.core.search_space import CONDITIONS, EPSILON, VALUE_SPECS

MOST_TRIALS = 1000
"""Trials of one job, in all and at once (chosen): the search looks at the trials before each."""
MOST_PARAMETERS, MOST_VALUES, MOST_METRICS, DEEPEST = 100, 1000, 10, 10
"""Bounds of a study (chosen, but for the values of a discrete parameter, which the API bounds so)."""
LARGEST = 1e300
"""Of numbers (chosen), so that sums and logarithms of bounds are finite."""
STOPPING_SPECS = ("decayCurveStoppingSpec", "medianAutomatedStoppingSpec", "convexAutomatedStoppingSpec")
_LOG_SCALES = ("UNIT_LOG_SCALE", "UNIT_REVERSE_LOG_SCALE")
_HALF = "Must have a parameter_spec, and the parent's values, of its kind, for which it applies; a double has none."
Json = Mapping[str, Any]


class Problem(NamedTuple):
    """A field, as Google names it (`study_spec.parameters[0].parameter_id`), and what is wrong with it."""

    field: str
    description: str


def problems(job: Json) -> list[Problem]:
    """Of the members that are the study's in a HyperparameterTuningJob in canonical proto3 JSON."""
    spec = job.get("studySpec")
    found = list(_counts(job))
    if spec is None:
        return [*found, Problem("study_spec", "Required: say what to tune, and by which metric.")]
    found += _metrics("study_spec.metrics", spec.get("metrics", ()))
    found += _parameters(
        "study_spec.parameters", spec.get("parameters", ()), grid=spec.get("algorithm") == "GRID_SEARCH"
    )
    found += _stopping(spec)
    if not found:
        found += _program(job, spec)
    return found


def _counts(job: Json) -> Iterator[Problem]:
    for name, member in (("max_trial_count", "maxTrialCount"), ("parallel_trial_count", "parallelTrialCount")):
        if not 1 <= job.get(member, 0) <= MOST_TRIALS:
            yield Problem(name, f"Must be from 1 to {MOST_TRIALS}.")
    if not 0 <= job.get("maxFailedTrialCount", 0) <= MOST_TRIALS:
        yield Problem("max_failed_trial_count", f"Must be from 0 (the service decides) to {MOST_TRIALS}.")


def _metrics(field: str, metrics: Sequence[Json]) -> Iterator[Problem]:
    if not 1 <= len(metrics) <= MOST_METRICS:
        yield Problem(field, f"Must be 1 to {MOST_METRICS} metrics.")
    seen: set[str] = set()
    for place, metric in enumerate(metrics):
        yield from _name(f"{field}[{place}].metric_id", metric.get("metricId", ""), seen)
        if "safetyConfig" in metric:
            yield Problem(f"{field}[{place}].safety_config", "Safe search is not emulated here; leave it out.")


def _name(field: str, name: str, seen: set[str]) -> Iterator[Problem]:
    if not name or len(name) > 128 or any(letter.isspace() for letter in name):
        yield Problem(field, "Required: 1 to 128 characters without whitespace.")
    elif name in seen:
        yield Problem(field, f"'{name}' is there already; each id must be unique.")
    seen.add(name)


def _parameters(field: str, specs: Sequence[Json], *, grid: bool) -> Iterator[Problem]:
    if not specs:
        yield Problem(field, "Required: at least one parameter to tune.")
    if _size(specs, DEEPEST) > MOST_PARAMETERS:
        yield Problem(
            field, f"Must be at most {MOST_PARAMETERS} parameters, conditional ones included, at most {DEEPEST} deep."
        )
        return
    seen: set[str] = set()
    for place, spec in enumerate(specs):
        yield from _name(f"{field}[{place}].parameter_id", spec.get("parameterId", ""), seen)
    for place, spec in enumerate(specs):
        yield from _parameter(f"{field}[{place}]", spec, seen, grid)


def _size(specs: Sequence[Json], deeper: int) -> int:
    """How many parameters there are in all; too many, when they are nested too deeply."""
    if not specs:
        return 0
    if not deeper:
        return MOST_PARAMETERS + 1
    return sum(1 + _size([one.get("parameterSpec", {}) for one in _conditional(spec)], deeper - 1) for spec in specs)


def _conditional(spec: Json) -> Sequence[Json]:
    under: Sequence[Json] = spec.get("conditionalParameterSpecs", ())
    return under


def _parameter(field: str, spec: Json, above: set[str], grid: bool) -> Iterator[Problem]:
    """`above` are the ids that no parameter under this one may have."""
    members = [name for name in VALUE_SPECS if name in spec]
    if len(members) != 1:
        yield Problem(field, f"Exactly one of {', '.join(map(_snake, VALUE_SPECS))} must be set.")
        return
    [member] = members
    values = f"{field}.{_snake(member)}"
    scale = spec.get("scaleType", "SCALE_TYPE_UNSPECIFIED")
    match VALUE_SPECS[member]:
        case "CATEGORICAL":
            yield from _categories(values, spec[member].get("values", ()))
            if scale != "SCALE_TYPE_UNSPECIFIED":
                yield Problem(f"{field}.scale_type", "A categorical parameter has no scale; leave it unset.")
        case "DISCRETE":
            yield from _discrete(values, [float(value) for value in spec[member].get("values", ())], scale)
        case "DOUBLE" if grid:
            yield Problem(values, "GRID_SEARCH needs parameters that are integer, categorical or discrete.")
        case kind:
            number = int if kind == "INTEGER" else float
            low, high = (number(spec[member].get(end, 0)) for end in ("minValue", "maxValue"))
            yield from _bounds(values, low, high, scale)
    yield from _children(field, spec, member, above, grid)


def _snake(member: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in member)


def _categories(field: str, values: Sequence[str]) -> Iterator[Problem]:
    if not 1 <= len(values) <= MOST_VALUES or len(set(values)) < len(values) or "" in values:
        yield Problem(f"{field}.values", f"Must be 1 to {MOST_VALUES} different categories.")


def _discrete(field: str, values: Sequence[float], scale: str) -> Iterator[Problem]:
    if not 1 <= len(values) <= MOST_VALUES or not all(abs(value) <= LARGEST for value in values):
        yield Problem(f"{field}.values", f"Must be 1 to {MOST_VALUES} numbers from {-LARGEST:g} to {LARGEST:g}.")
    elif any(after - before < EPSILON for before, after in pairwise(values)):
        yield Problem(f"{field}.values", "Must be in increasing order and at least 1e-10 apart.")
    elif scale in _LOG_SCALES and values[0] <= 0:
        yield Problem(f"{field}.values", f"{scale} needs values above 0.")


def _bounds(field: str, low: float, high: float, scale: str) -> Iterator[Problem]:
    if not (abs(low) <= LARGEST and abs(high) <= LARGEST):
        yield Problem(field, f"min_value and max_value must be numbers from {-LARGEST:g} to {LARGEST:g}.")
    elif low > high:
        yield Problem(field, f"min_value {low} is above max_value {high}.")
    elif scale in _LOG_SCALES and low <= 0:
        yield Problem(field, f"{scale} needs a min_value above 0.")


def _children(field: str, spec: Json, member: str, above: set[str], grid: bool) -> Iterator[Problem]:
    """All ids under the parameter join those `above`; one may be there again under other values of the parent."""
    kind, taken = VALUE_SPECS[member], set[tuple[str, Any]]()
    for place, child in enumerate(_conditional(spec)):
        here = f"{field}.conditional_parameter_specs[{place}]"
        conditions = [name for name in CONDITIONS if name in child]
        below = child.get("parameterSpec")
        if below is None or len(conditions) != 1 or CONDITIONS[conditions[0]] != kind:
            yield Problem(here, _HALF)
            continue
        values = [_known(kind, value) for value in child[conditions[0]].get("values", ())]
        if not 1 <= len(values) <= MOST_VALUES or not all(_has(spec[member], kind, value) for value in values):
            yield Problem(f"{here}.{_snake(conditions[0])}.values", "Must be values that the parent can have.")
        name = below.get("parameterId", "")
        yield from _name(f"{here}.parameter_spec.parameter_id", name, set(above))
        ids = above | {name}
        yield from _parameter(f"{here}.parameter_spec", below, ids, grid)
        pairs = {(one, value) for one in sorted(ids - above) for value in values}
        for one in sorted({one for one, _ in pairs & taken}):
            yield Problem(here, f"'{one}' is there twice under one value of its parent.")
        taken |= pairs
    above |= {one for one, _ in taken}


def _known(kind: str, value: Any) -> Any:
    return {"INTEGER": int, "DISCRETE": float}.get(kind, str)(value)


def _has(facts: Json, kind: str, value: Any) -> bool:
    if kind == "INTEGER":
        return bool(int(facts.get("minValue", 0)) <= value <= int(facts.get("maxValue", 0)))
    if kind == "DISCRETE":
        return any(abs(float(one) - value) < EPSILON for one in facts.get("values", ())[:MOST_VALUES])
    return bool(value in facts.get("values", ()))


def _stopping(spec: Json) -> Iterator[Problem]:
    if sum(name in spec for name in STOPPING_SPECS) > 1:
        yield Problem("study_spec", "At most one automated stopping spec can be set.")
    for member in ("studyStoppingConfig", "transferLearningConfig"):
        if member in spec:
            yield Problem(f"study_spec.{_snake(member)}", "Not emulated here; leave it out.")


def _program(job: Json, spec: Json) -> Iterator[Problem]:
    try:
        program_of(job.get("trialJobSpec", {}), spec)
    except BadExpression as error:
        yield Problem("trial_job_spec.worker_pool_specs[0]", str(error))
