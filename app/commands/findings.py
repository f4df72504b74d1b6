"""The summary of simulations as people read it: a line a measure, a column a policy."""

from collections.abc import Callable, Mapping

from app.commands.output import table
from app.simulate.report import Row, Value

Write = Callable[[Value], str]


def show(columns: Mapping[str, Row]) -> None:
    """Print the table."""
    rows = [
        {"measure": measure, **{name: _cell(column, key, write) for name, column in columns.items()}}
        for measure, key, write in LINES
    ]
    table(rows, ("measure", *columns))


def _cell(column: Row, key: str, write: Write) -> str:
    """A wait of which there is none is no wait that was not reached."""
    kind = key.rsplit("_", 2)[0]
    return "-" if write is _wait and not column[f"{kind}_jobs"] else write(column.get(key))


def _number(value: Value) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.1f}".removesuffix(".0")


def _percent(value: Value) -> str:
    return f"{100 * value:.1f} %" if isinstance(value, (int, float)) else "-"


def _index(value: Value) -> str:
    return f"{value:.3f}" if isinstance(value, (int, float)) else "-"


def _wait(value: Value) -> str:
    """Seconds, minutes or hours; a quantile that was not reached is more than what was measured."""
    if not isinstance(value, (int, float)):
        return "not reached"
    if value < 120:
        return f"{value:.0f} s"
    return f"{value / 60:.1f} min" if value < 7200 else f"{value / 3600:.1f} h"


LINES: tuple[tuple[str, str, Write], ...] = (
    ("seeds", "seeds", _number),
    ("delivered, rolling days", "delivered", _percent),
    ("  upper bound", "bound", _percent),
    ("  by the hour", "delivered_hourly", _percent),
    ("  over all the time", "delivered_whole", _percent),
    ("leaves with 95 % or more", "leaves_at_least_95", _number),
    ("  of leaves", "leaves", _number),
    ("worst leaf", "worst_leaf", _percent),
    ("Jain's index", "jain", _index),
    ("occupancy", "occupancy", _percent),
    ("  upper bound", "bound_occupancy", _percent),
    ("unfunded, of what was held", "unfunded", _percent),
    ("  of the upper bound", "bound_unfunded", _percent),
    ("wait of debugging, median", "debug_p50_s", _wait),
    ("wait of debugging, p90", "debug_p90_s", _wait),
    ("wait of all funded, median", "all_p50_s", _wait),
    ("wait of all funded, p90", "all_p90_s", _wait),
    ("wait of gangs from 256 GPUs, p90", "large_p90_s", _wait),
    ("  such gangs", "large_jobs", _number),
    ("  never started", "large_never_started", _number),
    ("funded never started", "all_never_started", _number),
    ("evictions of funded work a day", "evictions_per_day", _number),
    ("  GPU-hours lost", "evictions_lost_gpu_hours_per_day", _number),
    ("evictions of unfunded work a day", "unfunded_evictions_per_day", _number),
    ("  GPU-hours lost", "unfunded_evictions_lost_gpu_hours_per_day", _number),
    ("repairs", "repairs", _number),
    ("  that needed a person", "repairs_needing_a_person", _number),
)
