"""Expressions of users: what they come to, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.expressions import LONGEST, BadExpression, Expression

NAMES = {"x": 2.0, "units": 3, "optimizer": "adam"}
VALUES: dict[str, float | None] = {
    "1 + 2 * 3": 7,
    "-x ** 2": -4,
    "(x - 1) / units": 1 / 3,
    "7 // 2 + 7 % 2": 4,
    "max(x, units, 1) - min(x, 1)": 2,
    "exp(0) + sqrt(4) + abs(-1) + floor(1.5)": 5,
    "pi > 3": 1,
    "1 < x < 3 and not x == 3": 1,
    "x > 5 or x < 1": 0,
    "0.9 if optimizer == 'adam' else 0.5": 0.9,
    "1 / 0": None,
    "log(-1)": None,
    "exp(1e9)": None,
    "9 ** 9 ** 9 ** 9": None,
    "(-8) ** 0.5": None,
    "optimizer + 1": None,
    "optimizer % 1": None,
    "'%999999999d' % 1": None,
    "'a' * 1e9": None,
    "exp(1, 2)": None,
    "optimizer": None,
    "1e308 * 10": None,
    "x < 'a'": None,
}


@pytest.mark.parametrize("text", VALUES)
def test_values(text: str) -> None:
    assert Expression(text, NAMES).value(NAMES) == pytest.approx(VALUES[text])


def test_a_name_that_does_not_apply() -> None:
    assert Expression("x + 1", {"x"}).value({}) is None


REFUSED = (
    "", "1 +", "y", "x.real", "x[0]", "__import__('os')", "open('f')", "(lambda: 1)()", "[1]", "{1: 2}", "f'{x}'",
    "x := 1", "exp(*x)", "exp(x=1)", "exp()", "exp", "print(1)", "1j", "None", "x @ x", "x << 1", "~x", "x in x",
    "(" * 300 + "1" + ")" * 300, "-" * 999 + "1", "1" * (LONGEST + 1), "x\0", "\ud800",
)  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    with pytest.raises(BadExpression):
        Expression(text, NAMES)


def test_a_refusal_says_what_there_is() -> None:
    with pytest.raises(BadExpression, match=r"there is no 'y'; there are optimizer, units, x"):
        Expression("y + 1", NAMES)


@given(st.text(alphabet="x12.()+-*/%<>=! andorotif'\"e,sqrtmax", max_size=60))
def test_any_text_is_a_number_or_refused(text: str) -> None:
    try:
        found = Expression(text, NAMES).value(NAMES)
    except BadExpression:
        return
    assert found is None or isinstance(found, float)
