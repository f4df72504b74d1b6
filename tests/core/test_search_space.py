"""Parameters, their scales and their conditions (VX-21)."""

import math
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.search_space import applied, as_argument, at, choose, grid, is_finite, place_of, space_of
from tests.core.studies import categorical, discrete, double, integer, study, under

LOG, REVERSE = "UNIT_LOG_SCALE", "UNIT_REVERSE_LOG_SCALE"
finite = st.floats(-1e300, 1e300)
above_zero = st.floats(1e-300, 1e300)


def one(spec: dict[str, Any]) -> Any:
    return space_of(study(spec))[0]


VALUES: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "linear": (double(low=-1, high=3), [-1, 0, 1, 2, 3]),
    "logarithmic": (double(low=1e-4, high=1, scale=LOG), [1e-4, 1e-3, 1e-2, 1e-1, 1]),
    "dense at the top": (
        double(low=1, high=10_001, scale=REVERSE),
        [1, *[round(10_002 - 10_001**p, 8) for p in (0.75, 0.5, 0.25)], 10_001],
    ),
    "whole numbers": (integer(low=1, high=4), [1, 2, 3, 4, 4]),
    "whole numbers, logarithmic": (integer(low=1, high=1000, scale=LOG), [1, 3, 22, 150, 1000]),
    "categories": (categorical("x", "a", "b"), ["a", "a", "b", "b", "b"]),
    "a list": (discrete("x", 0.5, 2.0, 8.0), [0.5, 0.5, 2.0, 8.0, 8.0]),
    "one value": (double(low=0.3, high=0.3), [0.3] * 5),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_at_quarters(name: str) -> None:
    """VX-21: equal stretches are equally likely on the parameter's scale."""
    spec, expected = VALUES[name]
    assert [at(one(spec), quarter / 4) for quarter in range(5)] == pytest.approx(expected)


def test_numbers_have_twelve_digits() -> None:
    assert at(one(double(low=0, high=1)), 1 / 3) == 0.333333333333


@given(finite, finite, st.floats(0, 1))
def test_any_linear_range(low: float, high: float, place: float) -> None:
    low, high = sorted((low, high))
    parameter = one(double(low=low, high=high))
    value = at(parameter, place)
    assert low <= value <= high and -1e-9 <= place_of(parameter, value) <= 1 + 1e-9


@given(above_zero, above_zero, st.floats(0, 1), st.sampled_from((LOG, REVERSE)))
def test_any_logarithmic_range(low: float, high: float, place: float, scale: str) -> None:
    low, high = sorted((low, high))
    parameter = one(double(low=low, high=high, scale=scale))
    value = at(parameter, place)
    assert low <= value <= high and -1e-9 <= place_of(parameter, value) <= 1 + 1e-9


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1), st.floats(0, 1))
def test_any_range_of_whole_numbers(low: int, high: int, place: float) -> None:
    low, high = sorted((low, high))
    value = at(one(integer(low=low, high=high)), place)
    assert type(value) is int and low <= value <= high


@given(st.floats(0.01, 0.99), st.sampled_from((None, LOG, REVERSE)))
def test_a_place_comes_back(place: float, scale: str | None) -> None:
    parameter = one(double(low=0.001, high=5, scale=scale))
    assert place_of(parameter, at(parameter, place)) == pytest.approx(place, abs=1e-6)


TREE = study(
    under(
        categorical("optimizer", "adam", "sgd"),
        (["sgd"], under(categorical("momentum", "on", "off"), (["on"], discrete("beta", 0.5, 0.9)))),
        (["adam"], integer("warmup", 0, 1)),
    ),
    integer("layers", 1, 2),
)


def test_a_grid_in_order() -> None:
    """VX-21: the last parameter moves first; a conditional one is there while its parent has the value."""
    points = [" ".join(map(str, point.values())) for point in grid(space_of(TREE))]
    assert points == [
        "adam 0 1", "adam 0 2", "adam 1 1", "adam 1 2",
        "sgd on 0.5 1", "sgd on 0.5 2", "sgd on 0.9 1", "sgd on 0.9 2", "sgd off 1", "sgd off 2",
    ]  # fmt: skip


def test_a_huge_grid_is_made_as_it_is_asked_for() -> None:
    space = space_of(study(integer("x", 0, 2**60), integer("y", 0, 2**60)))
    assert list(islice(grid(space), 2)) == [{"x": 0, "y": 0}, {"x": 0, "y": 1}]


def test_what_applies() -> None:
    space = space_of(TREE)
    chosen = choose(space, lambda parameter: 0.0)
    assert chosen == {"optimizer": "adam", "warmup": 0, "layers": 1}
    assert [parameter.path for parameter, _ in applied(space, chosen)] == ["optimizer", "optimizer 1 warmup", "layers"]


def test_a_finite_space_has_no_double() -> None:
    assert is_finite(space_of(TREE)) and not is_finite(space_of(study(under(categorical(), (["sgd"], double())))))


def test_arguments_of_the_program() -> None:
    """VX-21: `--name=value`; discrete values are floats."""
    specs = (double("lr"), integer("units"), discrete("batch", 128.0), categorical("opt", "adam"))
    values = {"lr": 1e-05, "units": 3, "batch": 128, "opt": "adam"}
    told = [as_argument(parameter, value) for parameter, value in applied(space_of(study(*specs)), values)]
    assert told == ["--lr=1e-05", "--units=3", "--batch=128.0", "--opt=adam"]


def test_omitted_zeros() -> None:
    """Proto3 JSON leaves zeros out."""
    space = space_of(
        study(
            {"parameterId": "x", "doubleValueSpec": {"maxValue": 2.0}},
            {"parameterId": "y", "integerValueSpec": {"minValue": "-1"}},
        )
    )
    assert [(one.low, one.high) for one in space] == [(0.0, 2.0), (-1, 0)] and math.isfinite(space[0].low)
