"""A chart of lines over one axis, as SVG."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

WIDTH, HEIGHT = 560, 220
LEFT, RIGHT, TOP, BOTTOM = 44, 22, 10, 30
STYLES = 6
"""How many lines are told apart, by colour and by dashes: `line-0` to `line-5`."""


class Curve(NamedTuple):
    """A line through points of (x, y)."""

    name: str
    points: Sequence[tuple[float, float]]


class Tick(NamedTuple):
    """A mark on an axis."""

    at: float
    label: str


def chart(curves: Sequence[Curve], x: Sequence[Tick], y: Sequence[Tick], label: str) -> Markup:
    """The curves between the first and the last tick of each axis; what is outside is cut off. `label` says what is
    seen to who cannot see it."""
    left, right = x[0].at, x[-1].at
    low, high = y[0].at, y[-1].at

    def place(point: tuple[float, float]) -> str:
        across = (min(max(point[0], left), right) - left) / ((right - left) or 1)
        up = (min(max(point[1], low), high) - low) / ((high - low) or 1)
        return f"{LEFT + across * (WIDTH - LEFT - RIGHT):.1f},{HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM):.1f}"

    parts = [_across(place((left, tick.at)), tick.label) for tick in y]
    parts += [_below(place((tick.at, low)), tick.label) for tick in x]
    for number, curve in enumerate(curves):
        points = " ".join(place(point) for point in curve.points if left <= point[0] <= right)
        parts.append(f'<polyline class="line line-{number % STYLES}" points="{points}"/>')
    inside = "".join(parts)
    return Markup(  # noqa: S704 - made of numbers and of what `escape` has been through
        f'<svg class="drawing" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">{inside}</svg>'
    )


def _across(at: str, label: str) -> str:
    x, y = at.split(",")
    return (
        f'<line class="axis" x1="{x}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}"/>'
        f'<text class="dim" x="{LEFT - 6}" y="{float(y) + 4:.1f}" text-anchor="end">{escape(label)}</text>'
    )


def _below(at: str, label: str) -> str:
    x, _ = at.split(",")
    return f'<text class="dim" x="{x}" y="{HEIGHT - 10}" text-anchor="middle">{escape(label)}</text>'


def percents() -> list[Tick]:
    """Parts of one, from nothing to all."""
    return [Tick(part / 4, f"{25 * part} %") for part in range(5)]


def decades(least: float, most: float, names: Sequence[tuple[float, str]]) -> list[Tick]:
    """The named values between these two on a logarithmic axis."""
    return [Tick(math.log10(value), name) for value, name in names if least <= value <= most]
