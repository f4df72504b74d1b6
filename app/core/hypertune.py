"""What a trial's program writes to its metric file, as the library cloudml-hypertune does (VX-21)."""

import json
import math
from collections.abc import Iterable
from typing import Any

from app.core.reports import Measurement

_OTHERS = frozenset(("timestamp", "trial", "global_step", "checkpoint_path"))


def measurements(lines: Iterable[str], reported: int, last: Measurement | None, elapsed_ms: int) -> list[Measurement]:
    """What the lines report, one object of JSON each; other lines say nothing.

    Metrics of one step are told line by line: those of the step so far stay. Without a step of its own a report has its
    place among all, of which there were `reported` before, the `last` of them as it is given.
    """
    found: list[Measurement] = []
    for line in lines:
        told = _object(line)
        metrics = {
            name: value for name, text in told.items() if name not in _OTHERS and (value := _number(text)) is not None
        }
        if not metrics:
            continue
        step = _number(told.get("global_step"))
        number = reported + len(found) + 1 if step is None else int(min(max(step, 0), 2**53))
        if last is not None and last.step == number:
            metrics = {**last.metrics, **metrics}
        last = Measurement(elapsed_ms, number, metrics)
        found.append(last)
    return found


def _object(line: str) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _number(value: Any) -> float | None:
    """The library writes numbers as text."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
