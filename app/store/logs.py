"""The lines that jobs have written."""

from collections.abc import Iterable
from typing import NamedTuple

from app.core.log_lines import Line
from app.core.scope import Scope
from app.store.db import Tx
from app.store.rows import insert_rows

_COLUMNS = ("world", "account", "region", "job_id", "seq", "at", "task", "severity", "text", "payload")


class Written(NamedTuple):
    """A line, and the job and the place in its log that it gets."""

    scope: Scope
    job_id: str
    seq: int
    line: Line


async def append(tx: Tx, written: Iterable[Written]) -> None:
    """Keep the lines, of one job or of several."""
    records = [
        (
            *(one.scope.world, one.scope.account, one.scope.region, one.job_id, one.seq),
            *(one.line.at, one.line.task, one.line.severity, one.line.text, one.line.payload),
        )
        for one in written
    ]
    await insert_rows(tx, "log_line", _COLUMNS, records)
