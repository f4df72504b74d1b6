"""Exact figures as they are read."""

from fractions import Fraction

import pytest

from app.core.ratios import decimal, exact


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (Fraction(2, 3), 4, "0.6667"),
        (Fraction(1, 8), 2, "0.13"),
        (Fraction(21, 20), 3, "1.050"),
        (Fraction(10**30 + 1, 10**30), 4, "1.0000"),
        (Fraction(0), 2, "0.00"),
    ],
)
def test_decimals_are_rounded_half_up(value: Fraction, places: int, text: str) -> None:
    assert decimal(value, places) == text


def test_fractions_are_reduced() -> None:
    assert exact(Fraction(6, 8)) == "3/4"
