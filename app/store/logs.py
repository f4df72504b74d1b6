"""The lines that jobs have written."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from app.core.log_filter import Needed
from app.core.log_lines import Line, Logged, Place, cut
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.pages import Question
from app.store.rows import insert_rows

_COLUMNS = ("world", "account", "region", "job_id", "seq", "at", "task", "severity", "text", "payload")
_LINE = "l.at, l.task, l.severity, l.text, l.payload"
_SAME = "(l.world, l.account, l.region, l.job_id) = (j.world, j.account, j.region, j.job_id)"


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
            *(one.line.at, one.line.task, one.line.severity, cut(one.line.text), one.line.payload),
        )
        for one in written
    ]
    await insert_rows(tx, "log_line", _COLUMNS, records)


async def trim(tx: Tx, scope: Scope, job_id: str, last_seq: int, keep: int) -> None:
    """Of the job's lines, the last of which is `last_seq`, keep no more than the newest `keep`."""
    if last_seq > keep:
        await tx.execute(
            """DELETE FROM log_line WHERE world = $1 AND account = $2 AND region = $3 AND job_id = $4 AND seq <= $5""",
            *(scope.world, scope.account, scope.region, job_id, last_seq - keep),
        )


async def page(
    tx: Tx,
    world: str,
    accounts: Sequence[str],
    needed: Needed,
    *,
    descending: bool,
    after: Place | None,
    limit: int,
) -> list[Logged]:
    """Up to `limit` lines of the accounts' jobs in all regions by time, from behind `after`.

    Of a tuning job's id, the lines are those of its trials.
    """
    asked = Question(world)
    if len(accounts) == 1:
        asked.where("l.account = {}", accounts[0])  # the index then gives the order
    else:
        asked.where("l.account = ANY({})", list(accounts))
    if needed.job_id is not None:
        asked.where("(j.job_id = {} OR j.tuning_id = {})", needed.job_id, needed.job_id)
    if needed.begin is not None:
        asked.where("l.at >= {}", needed.begin)
    if needed.end is not None:
        asked.where("l.at <= {}", needed.end)
    if after is not None:
        asked.where(f"(l.at, l.job_id, l.seq) {'<' if descending else '>'} ({{}}, {{}}, {{}})", *after)
    way = "DESC" if descending else "ASC"
    rows = await tx.fetch(
        f"""SELECT l.account, l.job_id, l.seq, {_LINE}, j.tuning_id, j.trial_id
        FROM custom_job j JOIN log_line l ON {_SAME} WHERE l.world = $1{asked.text}
        ORDER BY l.at {way}, l.job_id {way}, l.seq {way} LIMIT {int(limit)}""",
        *asked.values,
    )
    return [
        Logged(account, job_id, seq, Line(*line), tuning_id, trial_id)
        for account, job_id, seq, *line, tuning_id, trial_id in rows
    ]


async def of_job(
    tx: Tx, scope: Scope, job_id: str, *, task: str | None, since: WorldTime | None, after: int, limit: int
) -> list[tuple[int, Line]]:
    """Up to `limit` lines of the job in order, from behind the one of number `after`, each with its number."""
    rows = await tx.fetch(
        f"""SELECT l.seq, {_LINE} FROM log_line l WHERE world = $1 AND account = $2 AND region = $3 AND job_id = $4
        AND seq > $5 AND ($6::text IS NULL OR task = $6) AND ($7::timestamptz IS NULL OR at >= $7)
        ORDER BY seq LIMIT {int(limit)}""",
        *(scope.world, scope.account, scope.region, job_id, after, task, since),
    )
    return [(row["seq"], Line(*tuple(row)[1:])) for row in rows]


async def tail(
    tx: Tx, scope: Scope, job_id: str, *, task: str | None, severities: Sequence[str], before: int | None, limit: int
) -> list[tuple[int, Line]]:
    """Up to `limit` lines of the job of these severities, the newest first: those with numbers below `before`."""
    rows = await tx.fetch(
        f"""SELECT l.seq, {_LINE} FROM log_line l WHERE world = $1 AND account = $2 AND region = $3 AND job_id = $4
        AND ($5::text IS NULL OR task = $5) AND severity = ANY($6) AND ($7::bigint IS NULL OR seq < $7)
        ORDER BY seq DESC LIMIT {int(limit)}""",
        *(scope.world, scope.account, scope.region, job_id, task, list(severities), before),
    )
    return [(row["seq"], Line(*tuple(row)[1:])) for row in rows]
