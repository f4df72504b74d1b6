"""Figures of simulations as people read them, on the command line and in the console."""

from collections.abc import Callable

from app.simulate.report import Row, Value

Write = Callable[[Value], str | None]


def told(column: Row, key: str, write: Write) -> str | None:
    """The figure in words; None: there is none. A wait of which there is none is no wait that was not reached."""
    if write is wait and not column[f"{key.rsplit('_', 2)[0]}_jobs"]:
        return None
    return write(column.get(key))


def number(value: Value) -> str | None:
    """With at most one decimal."""
    if value is None or isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}".removesuffix(".0")


def percent(value: Value) -> str | None:
    """Of a part of one."""
    return f"{100 * value:.1f} %" if isinstance(value, (int, float)) else None


def index(value: Value) -> str | None:
    """Of evenness, from 0 to 1."""
    return f"{value:.3f}" if isinstance(value, (int, float)) else None


def wait(value: Value) -> str:
    """Seconds, minutes or hours; a quantile that was not reached is more than what was measured."""
    if not isinstance(value, (int, float)):
        return "not reached"
    if value < 120:
        return f"{value:.0f} s"
    return f"{value / 60:.1f} min" if value < 7200 else f"{value / 3600:.1f} h"
