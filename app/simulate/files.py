"""Results as CSV files in a folder, for whoever goes on with other tools."""

import csv
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from app.simulate.cases import Result
from app.simulate.report import Row, by_hour, by_name, leaves, per_seed, summary, wait_curves


def write(results: Sequence[Result], folder: Path) -> list[Path]:
    """Write the tables; the folder is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = by_name(results)
    tables: dict[str, Iterable[Row]] = {
        "summary": [{"policy": name, **summary(of_name)} for name, of_name in columns.items()],
        "seeds": map(per_seed, results),
        "leaves": chain.from_iterable(map(leaves, results)),
        "hours": chain.from_iterable(map(by_hour, results)),
        "waits": chain.from_iterable(wait_curves(name, of_name) for name, of_name in columns.items()),
    }
    return [_table(folder / f"{name}.csv", rows) for name, rows in tables.items()]


def _table(path: Path, rows: Iterable[Row]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer: csv.DictWriter[str] | None = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
    return path
