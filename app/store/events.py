"""Cluster events: what happened, in order, kept up to a limit."""

from collections.abc import Sequence

import asyncpg

from app.core.announcements import CLUSTER_EVENT
from app.core.cluster_events import Event
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import outbox
from app.store.db import Tx
from app.store.pages import Question

_KEY = "world = $1 AND account = $2 AND region = $3 AND cluster_id = $4"
_FIELDS = "seq, kind, at, group_name, instance_id, logical_id, params"
_COLUMNS = ["world", "account", "region", "cluster_id", *_FIELDS.split(", ")]


OPERATION = """SELECT operation_id FROM cluster_operation o WHERE o.world = $1 AND o.account = $2 AND o.region = $3
    AND o.cluster_id = $4 AND o.kind = 'Scaling' AND o.created_at <= {1}
    AND coalesce(o.done_at, o.superseded_at, 'infinity') >= {1}
    AND o.details @> jsonb_build_array(jsonb_build_object('group', {0})) ORDER BY o.number DESC LIMIT 1"""
"""The scaling that the cluster was at in a group at a moment: the last one that was begun by then and not over."""


def _key(scope: Scope, cluster_id: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, cluster_id


def _event(row: asyncpg.Record) -> tuple[int, Event]:
    seq, *facts = row
    return seq, Event(*facts)


async def append(tx: Tx, scope: Scope, cluster_id: str, events: Sequence[Event], last_seq: int, keep: int) -> int:
    """Write the events behind `last_seq`, drop what is older than the newest `keep`; give the new last seq.

    The outside is told of them by one row of the outbox, whatever their number.
    """
    key = _key(scope, cluster_id)
    first = last_seq + 1
    records = [
        (*key, first + place, e.kind, e.at, e.group, e.instance_id, e.logical_id, e.params)
        for place, e in enumerate(events)
    ][-keep:]
    newest = last_seq + len(events)
    if not records:
        return newest
    times = [event.at for event in events]
    span = outbox.Entry(max(times), CLUSTER_EVENT, {}, newest - len(records) + 1, newest, min(times))
    rows = [dict(zip(_COLUMNS, record, strict=True)) for record in records]
    await outbox.put_events(tx, scope, cluster_id, rows, span, keep)
    if newest > keep:
        await tx.execute(f"DELETE FROM cluster_event WHERE {_KEY} AND seq <= $5", *key, newest - keep)
    return newest


async def get(tx: Tx, scope: Scope, cluster_id: str, seq: int) -> Event | None:
    row = await tx.fetchrow(
        f"SELECT {_FIELDS} FROM cluster_event WHERE {_KEY} AND seq = $5", *_key(scope, cluster_id), seq
    )
    return _event(row)[1] if row else None


async def page(
    tx: Tx,
    scope: Scope,
    cluster_id: str,
    *,
    descending: bool,
    after: tuple[WorldTime, int] | None,
    limit: int,
    group: str | None,
    instance_id: str | None,
    kinds: Sequence[str] | None,
    since: WorldTime | None,
    until: WorldTime | None,
    operation_id: str | None = None,
) -> list[tuple[int, Event]]:
    """Up to `limit` (seq, event) by time, from behind `after` = (time, seq)."""
    question = Question(*_key(scope, cluster_id))
    order = question.beyond(("at", "seq"), after, descending)
    question.between("at", since, until)
    if group is not None:
        question.where("group_name = {}", group)
    if instance_id is not None:
        question.where("instance_id = {}", instance_id)
    if kinds is not None:
        question.where("kind = ANY({})", list(kinds))
    if operation_id is not None:
        question.where(f"({OPERATION.format('cluster_event.group_name', 'cluster_event.at')}) = {{}}", operation_id)
    rows = await tx.fetch(
        f"SELECT {_FIELDS} FROM cluster_event WHERE {_KEY}{question.text} ORDER BY {order} LIMIT {int(limit)}",
        *question.values,
    )
    return [_event(row) for row in rows]


async def operations_of(tx: Tx, scope: Scope, cluster_id: str, told: Sequence[tuple[int, Event]]) -> dict[int, str]:
    """The id of the operation to which each event belongs, by the event's seq; those that belong to none are left
    out."""
    rows = await tx.fetch(
        f"""SELECT e.seq, ({OPERATION.format("e.group_name", "e.at")}) AS operation_id
        FROM unnest($5::bigint[], $6::text[], $7::timestamptz[]) AS e(seq, group_name, at)""",
        *_key(scope, cluster_id),
        [seq for seq, _ in told],
        [event.group for _, event in told],
        [event.at for _, event in told],
    )
    return {row["seq"]: row["operation_id"] for row in rows if row["operation_id"] is not None}
