"""The operations of clusters: one row a request that the cluster works on."""

from collections.abc import Iterable, Sequence
from typing import Any

from app.core.operations import DONE, IN_PROGRESS, SUPERSEDED, Operation
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.pages import Question
from app.store.rows import Shape, dollars, update_rows

SHAPE = Shape(Operation)
_KEY_COLUMNS = ("world", "account", "region", "cluster_id")
_KEY = "world = $1 AND account = $2 AND region = $3 AND cluster_id = $4"
_OPEN = "done_at IS NULL AND superseded_at IS NULL"
_STATUS = {IN_PROGRESS: _OPEN, DONE: "done_at IS NOT NULL", SUPERSEDED: "superseded_at IS NOT NULL"}


def _key(scope: Scope, cluster_id: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, cluster_id


async def next_number(tx: Tx, scope: Scope, cluster_id: str) -> int:
    """One more than the cluster's last operation has; who holds the cluster's lock gets it alone."""
    number: int = await tx.fetchval(
        f"SELECT coalesce(max(number), 0) + 1 FROM cluster_operation WHERE {_KEY}", *_key(scope, cluster_id)
    )
    return number


async def insert(tx: Tx, scope: Scope, cluster_id: str, operation: Operation) -> None:
    await tx.execute(
        f"""INSERT INTO cluster_operation ({", ".join(_KEY_COLUMNS)}, {SHAPE.select})
        VALUES ({dollars(1, 4 + len(SHAPE.columns))})""",
        *_key(scope, cluster_id),
        *SHAPE.values(operation),
    )


async def forget(tx: Tx, scope: Scope, cluster_id: str, before: WorldTime) -> None:
    """Delete the ended operations that were begun before that, but for the last, whose number is counted on."""
    await tx.execute(
        f"""DELETE FROM cluster_operation WHERE {_KEY} AND created_at < $5 AND NOT ({_OPEN})
        AND number < (SELECT max(number) FROM cluster_operation WHERE {_KEY})""",
        *_key(scope, cluster_id),
        before,
    )


async def open_ones(tx: Tx, scope: Scope, cluster_id: str) -> list[Operation]:
    """Those that the cluster still works on, in order."""
    rows = await tx.fetch(
        f"SELECT {SHAPE.select} FROM cluster_operation WHERE {_KEY} AND {_OPEN} ORDER BY number",
        *_key(scope, cluster_id),
    )
    return [Operation(*row) for row in rows]


async def save(tx: Tx, scope: Scope, cluster_id: str, changed: Iterable[Operation]) -> None:
    await update_rows(
        tx,
        "cluster_operation",
        (*_KEY_COLUMNS, "number"),
        ("done_at", "superseded_at", "details"),
        [(*_key(scope, cluster_id), one.number, one.done_at, one.superseded_at, one.details) for one in changed],
    )


async def get(tx: Tx, scope: Scope, cluster_id: str, operation_id: str) -> Operation | None:
    row = await tx.fetchrow(
        f"SELECT {SHAPE.select} FROM cluster_operation WHERE {_KEY} AND operation_id = $5",
        *_key(scope, cluster_id),
        operation_id,
    )
    return Operation(*row) if row else None


async def page(
    tx: Tx,
    scope: Scope,
    cluster_id: str,
    *,
    descending: bool,
    after: Sequence[Any] | None,
    limit: int,
    since: WorldTime,
    created_after: WorldTime | None,
    created_before: WorldTime | None,
    kind: str | None,
    status: str | None,
) -> list[Operation]:
    """Up to `limit` operations begun at `since` or later by the time of their beginning, from behind `after` =
    (that time, number)."""
    question = Question(*_key(scope, cluster_id))
    order = question.beyond(("created_at", "number"), after, descending)
    question.where("created_at >= {}", since)
    question.between("created_at", created_after, created_before)
    if kind is not None:
        question.where("kind = {}", kind)
    if status is not None:
        question.where(_STATUS[status])
    rows = await tx.fetch(
        f"SELECT {SHAPE.select} FROM cluster_operation WHERE {_KEY}{question.text} ORDER BY {order} LIMIT {int(limit)}",
        *question.values,
    )
    return [Operation(*row) for row in rows]
