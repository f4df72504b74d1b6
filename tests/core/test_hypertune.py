"""Metric files of trials whose programs really run (VX-21)."""

import json
from typing import Any

from app.core.hypertune import measurements
from app.core.reports import Measurement


def line(**facts: Any) -> str:
    return json.dumps({"timestamp": 1.5, "trial": "1", "checkpoint_path": "", **facts})


def test_lines_as_the_library_writes_them() -> None:
    found = measurements([line(global_step="10", accuracy="0.5"), line(global_step="20", accuracy=0.75)], 0, None, 7)
    assert found == [Measurement(7, 10, {"accuracy": 0.5}), Measurement(7, 20, {"accuracy": 0.75})]


def test_metrics_of_one_step_belong_together() -> None:
    """Also over two looks at the file."""
    [first] = measurements([line(global_step="1", accuracy="0.5")], 0, None, 7)
    assert measurements([line(global_step="1", loss="2")], 1, first, 9) == [
        Measurement(9, 1, {"accuracy": 0.5, "loss": 2.0})
    ]


def test_a_report_without_a_step_has_its_place() -> None:
    assert [one.step for one in measurements([line(a=1), line(a=2)], 3, None, 0)] == [4, 5]


def test_what_says_nothing() -> None:
    lines = ["", "no json", "[1]", line(), line(accuracy="nan"), line(accuracy="Infinity"), line(accuracy=None)]
    assert measurements([*lines, "[" * 100_000, line(accuracy="1" * 400)], 0, None, 0) == []
