"""The summary of simulations as people read it: a line a measure, a column a policy."""

from collections.abc import Mapping

from app.commands.output import table
from app.simulate.report import Row
from app.simulate.wording import Write, index, number, percent, told, wait


def show(columns: Mapping[str, Row]) -> None:
    """Print the table."""
    rows = [
        {"measure": measure, **{name: told(column, key, write) or "-" for name, column in columns.items()}}
        for measure, key, write in LINES
    ]
    table(rows, ("measure", *columns))


LINES: tuple[tuple[str, str, Write], ...] = (
    ("seeds", "seeds", number),
    ("delivered, rolling days", "delivered", percent),
    ("  upper bound", "bound", percent),
    ("  by the hour", "delivered_hourly", percent),
    ("  over all the time", "delivered_whole", percent),
    ("leaves with 95 % or more", "leaves_at_least_95", number),
    ("  of leaves", "leaves", number),
    ("worst leaf", "worst_leaf", percent),
    ("Jain's index", "jain", index),
    ("occupancy", "occupancy", percent),
    ("  upper bound", "bound_occupancy", percent),
    ("unfunded, of what was held", "unfunded", percent),
    ("  of the upper bound", "bound_unfunded", percent),
    ("wait of debugging, median", "debug_p50_s", wait),
    ("wait of debugging, p90", "debug_p90_s", wait),
    ("wait of all funded, median", "all_p50_s", wait),
    ("wait of all funded, p90", "all_p90_s", wait),
    ("wait of gangs from 256 GPUs, p90", "large_p90_s", wait),
    ("  such gangs", "large_jobs", number),
    ("  never started", "large_never_started", number),
    ("funded never started", "all_never_started", number),
    ("evictions of funded work a day", "evictions_per_day", number),
    ("  GPU-hours lost", "evictions_lost_gpu_hours_per_day", number),
    ("evictions of unfunded work a day", "unfunded_evictions_per_day", number),
    ("  GPU-hours lost", "unfunded_evictions_lost_gpu_hours_per_day", number),
    ("repairs", "repairs", number),
    ("  that needed a person", "repairs_needing_a_person", number),
)
