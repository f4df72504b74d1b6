"""Exact figures as they are read: a fraction reduced, and its decimal rounded half up."""

from fractions import Fraction


def decimal(value: Fraction, places: int) -> str:
    """The value, no less than 0, with so many decimals."""
    unit = 10**places
    parts = (2 * unit * value.numerator + value.denominator) // (2 * value.denominator)
    return f"{parts // unit}.{parts % unit:0{places}d}"


def exact(value: Fraction) -> str:
    """`2/3`."""
    return f"{value.numerator}/{value.denominator}"
