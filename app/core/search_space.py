"""The parameters that a study tunes: what values they may take, on which scale, and which apply under which.

Every parameter is seen as a place in [0, 1]: searches choose places, and `at` makes a value of each.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["DOUBLE", "INTEGER", "CATEGORICAL", "DISCRETE"]
Scale = Literal["LINEAR", "LOG", "REVERSE_LOG"]
Value = float | int | str
Values = Mapping[str, Value]
"""What a trial tries, by parameter id; a parameter whose condition does not hold is not there."""

VALUE_SPECS: Mapping[str, Kind] = {
    "doubleValueSpec": "DOUBLE",
    "integerValueSpec": "INTEGER",
    "categoricalValueSpec": "CATEGORICAL",
    "discreteValueSpec": "DISCRETE",
}
CONDITIONS: Mapping[str, Kind] = {
    "parentIntValues": "INTEGER",
    "parentCategoricalValues": "CATEGORICAL",
    "parentDiscreteValues": "DISCRETE",
}
_SCALES: Mapping[str, Scale] = {"UNIT_LOG_SCALE": "LOG", "UNIT_REVERSE_LOG_SCALE": "REVERSE_LOG"}
DIGITS = 12
"""Significant digits of a number that is chosen or measured: beyond them, machines' mathematics differ (chosen)."""
EPSILON = 1e-10
"""Discrete values nearer than this are one (the API's own figure)."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: `low` and `high` bound a number, `values` list what else may be chosen.

    `path` tells it from parameters of its name that apply under other values of its parent.
    """

    parameter_id: str
    path: str
    kind: Kind
    low: float = 0.0
    high: float = 0.0
    values: tuple[Value, ...] = ()
    scale: Scale = "LINEAR"
    children: "tuple[Child, ...]" = ()


@dataclass(frozen=True, slots=True)
class Child:
    """A parameter that applies while its parent has one of `values`."""

    values: tuple[Value, ...]
    parameter: Parameter


def space_of(study_spec: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The parameters of a StudySpec without problems."""
    return tuple(_parameter(spec, "") for spec in study_spec.get("parameters", ()))


def _parameter(spec: Mapping[str, Any], prefix: str) -> Parameter:
    member = next(name for name in VALUE_SPECS if name in spec)
    kind, facts, name = VALUE_SPECS[member], spec[member], spec["parameterId"]
    path = prefix + name
    number = int if kind == "INTEGER" else float
    under = enumerate(spec.get("conditionalParameterSpecs", ()))
    return Parameter(
        parameter_id=name,
        path=path,
        kind=kind,
        low=number(facts.get("minValue", 0)),
        high=number(facts.get("maxValue", 0)),
        values=tuple(value if kind == "CATEGORICAL" else float(value) for value in facts.get("values", ())),
        scale=_SCALES.get(spec.get("scaleType", ""), "LINEAR"),
        children=tuple(_child(one, f"{path} {place} ") for place, one in under),
    )


def _child(spec: Mapping[str, Any], prefix: str) -> Child:
    member = next(name for name in CONDITIONS if name in spec)
    make = {"INTEGER": int, "DISCRETE": float}.get(CONDITIONS[member], str)
    values = tuple(make(value) for value in spec[member].get("values", ()))
    return Child(values, _parameter(spec["parameterSpec"], prefix))


def choose(space: Sequence[Parameter], pick: Callable[[Parameter], float]) -> dict[str, Value]:
    """The values at the places that `pick` says, asked only for the parameters that apply."""
    chosen: dict[str, Value] = {}
    for parameter in space:
        value = chosen[parameter.parameter_id] = at(parameter, pick(parameter))
        chosen |= choose(applying(parameter, value), pick)
    return chosen


def applying(parameter: Parameter, value: Value) -> list[Parameter]:
    """The conditional parameters that apply while the parameter has the value."""
    return [child.parameter for child in parameter.children if any(_same(value, one) for one in child.values)]


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return abs(one - other) < EPSILON


def applied(space: Sequence[Parameter], values: Values) -> Iterator[tuple[Parameter, Value]]:
    """The parameters that apply, in the order of the spec, each with its value."""
    for parameter in space:
        if parameter.parameter_id in values:
            value = values[parameter.parameter_id]
            yield parameter, value
            yield from applied(applying(parameter, value), values)


def at(parameter: Parameter, place: float) -> Value:
    """The parameter's value at a place in [0, 1]; equal stretches of [0, 1] are equally likely on its scale."""
    if parameter.kind in ("CATEGORICAL", "DISCRETE"):
        return parameter.values[min(int(place * len(parameter.values)), len(parameter.values) - 1)]
    if parameter.kind == "INTEGER":
        return _integer_at(parameter, place)
    return min(max(rounded(_number_at(parameter, parameter.low, parameter.high, place)), parameter.low), parameter.high)


def _integer_at(parameter: Parameter, place: float) -> int:
    low, high = int(parameter.low), int(parameter.high)
    if parameter.scale == "LINEAR":
        return min(low + int(place * (high - low + 1)), high)
    return min(max(round(_number_at(parameter, low - 0.5, high + 0.5, place)), low), high)


def _number_at(parameter: Parameter, low: float, high: float, place: float) -> float:
    if parameter.scale == "LINEAR":
        return low * (1 - place) + high * place
    if parameter.scale == "LOG":
        return math.exp(math.log(low) * (1 - place) + math.log(high) * place)
    return low + high - math.exp(math.log(high) * (1 - place) + math.log(low) * place)


def place_of(parameter: Parameter, value: Value) -> float:
    """Where in [0, 1] the value is: the middle of its stretch, where values are counted."""
    if parameter.kind in ("CATEGORICAL", "DISCRETE"):
        place = next(place for place, one in enumerate(parameter.values) if _same(one, value))
        return (place + 0.5) / len(parameter.values)
    low, high, number = parameter.low, parameter.high, float(value)
    if low == high:
        return 0.5
    if parameter.kind == "INTEGER":
        low, high = low - 0.5, high + 0.5
    if parameter.scale == "REVERSE_LOG":
        return 1 - _log_place(low, high, low + high - number)
    if parameter.scale == "LOG":
        return _log_place(low, high, number)
    return (number - low) / (high - low)


def _log_place(low: float, high: float, value: float) -> float:
    start, end = math.log(low), math.log(high)
    return (math.log(min(max(value, low), high)) - start) / (end - start) if end > start else 0.5


def rounded(number: float) -> float:
    """The number with as many digits as every machine agrees on."""
    return float(f"{number:.{DIGITS}g}")


def is_finite(space: Sequence[Parameter]) -> bool:
    """True when the space has a last point: no parameter is DOUBLE."""
    return all(
        parameter.kind != "DOUBLE" and is_finite([child.parameter for child in parameter.children])
        for parameter in space
    )


def grid(space: Sequence[Parameter]) -> Iterator[dict[str, Value]]:
    """Every point of a finite space, the last parameter moving first (chosen); made as they are asked for."""
    if not space:
        yield {}
        return
    first, rest = space[0], space[1:]
    for value in _countable(first):
        for under in grid(applying(first, value)):
            for others in grid(rest):
                yield {first.parameter_id: value, **under, **others}


def _countable(parameter: Parameter) -> Sequence[Value]:
    if parameter.kind == "INTEGER":
        return range(int(parameter.low), int(parameter.high) + 1)
    return parameter.values


def as_argument(parameter: Parameter, value: Value) -> str:
    """What the program is told; a discrete value is a float, as `128.0` (seen in kuds/mesozoic-labs#127)."""
    text = {"INTEGER": int, "CATEGORICAL": str}.get(parameter.kind, float)(value)
    return f"--{parameter.parameter_id}={text}"
