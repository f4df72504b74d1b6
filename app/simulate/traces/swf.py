"""The standard workload format of the Parallel Workloads Archive: 18 numbers a line, `;` before comments."""

from collections.abc import Iterable, Iterator

from app.core.errors import Invalid
from app.simulate.traces.rows import Cell, Row

FIELDS = (
    "job",
    "submit",
    "wait",
    "runtime",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
)


def swf(lines: Iterable[str]) -> Iterator[Row]:
    """A processor counts as a GPU: those requested, or where that is not known (-1) those allocated."""
    for number, line in enumerate(lines, 1):
        texts = line.split()
        if not texts or texts[0].startswith(";"):
            continue
        if len(texts) != len(FIELDS):
            raise Invalid(f"line {number}: expected {len(FIELDS)} fields, found {len(texts)}.")
        cells = {name: Cell(number, name, text) for name, text in zip(FIELDS, texts, strict=True)}
        runtime = cells["runtime"]
        requested, allocated = cells["requested processors"], cells["allocated processors"]
        processors = allocated if _unknown(requested) else requested
        yield Row(
            number,
            cells["job"].text,
            cells["submit"].whole(),
            None if _unknown(runtime) else runtime.whole(),
            0 if _unknown(processors) else processors.whole(),
            tuple((name, "unknown" if _unknown(cells[name]) else cells[name].text) for name in OWNERS),
        )


OWNERS = ("queue", "user", "group", "partition")


def _unknown(cell: Cell) -> bool:
    return cell.text == "-1"
