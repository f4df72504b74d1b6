"""Figures of the scheduler as its pages read them: ratios, GPU-hours, amounts of limits, and drawings."""

from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from app.core.budget_limits import HOUR_MS
from app.core.budget_tree import Limit, Period, Unit
from app.core.ratios import decimal, exact
from app.core.scheduling.budgets import Ratio

REASONS = {
    "runs": "ok",
    "starts-soon": "busy",
    "reserved-for-it": "busy",
    "leaving": "warn",
    "nodes-not-healthy": "warn",
    "no-node": "warn",
    "lost-nodes": "bad",
    "budget-exhausted": "bad",
    "no-such-node": "bad",
    "replica-too-large": "bad",
    "fleet-too-small": "bad",
    "quota-too-small": "bad",
}
"""The colours of reasons; all others are for what time or others bring."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A ratio as it is read; `decimal` None: without a share there is none."""

    exact: str
    decimal: str | None


def figure(ratio: Ratio | None) -> Figure | None:
    """A ratio of integers as it is read."""
    if ratio is None:
        return None
    over, under = ratio
    if not under:
        return Figure(f"{over}/0", None)
    share = Fraction(over, under)
    return Figure(exact(share), decimal(share, 4))


def reason_kind(reason: str) -> str:
    """The colour of a reason."""
    return REASONS.get(reason, "wait")


def hours(gpu_ms: int) -> str:
    """GPU-hours with commas and two decimals, rounded half up."""
    sign, hundredths = ("-" if gpu_ms < 0 else ""), (abs(gpu_ms) * 100 + HOUR_MS // 2) // HOUR_MS
    return f"{sign}{hundredths // 100:,}.{hundredths % 100:02d}"


def amount(value: int, unit: Unit) -> str:
    """What is counted of a limit: GPU-milliseconds as hours, micro-dollars as dollars."""
    if unit is Unit.GPU_HOURS:
        return f"{hours(value)} GPU-h"
    sign, cents = ("-" if value < 0 else ""), (abs(value) + 5_000) // 10_000
    return f"{sign}${cents // 100:,}.{cents % 100:02d}"


def told(limit: Limit) -> str:
    """`10,000 GPU-hours a month`."""
    every = "a month" if limit.period is Period.MONTH else "in all"
    if limit.unit is Unit.GPU_HOURS:
        return f"{limit.amount:,} GPU-hours {every}"
    return f"{amount(limit.amount, limit.unit)} {every}"


def drawn(svg: str) -> Markup:
    """A drawing of ours: what of it came from elsewhere was escaped when it was made."""
    return Markup(svg)  # noqa: S704
