"""The outbox: what the outside is to be told, in one order a world, from any place in it.

Transactions commit in another order than they begin in, so their own numbers would let a reader pass over one that is
still under way. Here a row is written without a position, in order of its cluster under the cluster's lock; `arrange`
gives positions to what has been committed, one after the other under the lock of the world's feed. So positions appear
in their order, and who has read up to one has missed nothing before it (docs/decisions/0010).

The events of a transaction are one row, which names them by their numbers; they are read from their own table.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import asyncpg

from app.core.announcements import Message
from app.core.cluster_events import Event
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.pages import Question

MOST_KEPT = 10_000
"""The newest rows of a cluster that are kept, unless told."""
BEFORE_ALL = (0, 0)
_KEY = "world = $1 AND account = $2 AND region = $3 AND cluster_id = $4"
_PUT = f"""last AS (SELECT coalesce(max(seq), 0) AS seq FROM outbox WHERE {_KEY}),
    trimmed AS (DELETE FROM outbox WHERE {_KEY} AND seq <= (SELECT seq FROM last) + $6 - $7::bigint)
    INSERT INTO outbox (world, account, region, cluster_id, seq, at, detail_type, detail, first_event, last_event,
        first_at)
    SELECT $1, $2, $3, $4, last.seq + u.n, u.at, u.detail_type, u.detail, u.first_event, u.last_event, u.first_at
    FROM last, jsonb_to_recordset($5) AS u(n bigint, at timestamptz, detail_type text, detail jsonb,
        first_event bigint, last_event bigint, first_at timestamptz)"""
_PUT_EVENTS = f"""WITH told AS (
        INSERT INTO cluster_event SELECT * FROM jsonb_populate_recordset(NULL::cluster_event, $8)), {_PUT}"""
# A wall clock's milliseconds begin a world's positions, so that they are greater than those of any former world of its
# name, and a reader who goes on from there after a reset gets all of the new one.
_BEGIN = """INSERT INTO feed (world, head) SELECT name, greatest(extract(epoch FROM clock_timestamp()) * 1000,
        (SELECT max(position) FROM outbox WHERE world = $1)) FROM world WHERE name = $1 ON CONFLICT DO NOTHING"""
# By time, but never against the order of a cluster's own, whose times may go back.
_ARRANGE = """UPDATE outbox o SET position = $2::bigint + p.place FROM (
        SELECT account, region, cluster_id, seq,
            row_number() OVER (ORDER BY latest, account, region, cluster_id, seq) AS place
        FROM (SELECT account, region, cluster_id, seq,
                max(at) OVER (PARTITION BY account, region, cluster_id ORDER BY seq) AS latest
            FROM outbox WHERE world = $1 AND position IS NULL) pending) p
    WHERE o.world = $1 AND (o.account, o.region, o.cluster_id, o.seq) = (p.account, p.region, p.cluster_id, p.seq)"""
_TOLD = """SELECT o.account, o.region, o.cluster_id, c.name, o.seq, o.position, o.at, o.detail_type, o.detail,
        e.seq AS event, e.kind, e.at AS event_at, e.group_name, e.instance_id, e.logical_id, e.params
    FROM outbox o
    JOIN cluster c ON (c.world, c.account, c.region, c.cluster_id) = (o.world, o.account, o.region, o.cluster_id)
    LEFT JOIN LATERAL (SELECT * FROM cluster_event v
        WHERE (v.world, v.account, v.region, v.cluster_id) = (o.world, o.account, o.region, o.cluster_id)
            AND v.at BETWEEN o.first_at AND o.at AND v.seq BETWEEN o.first_event AND o.last_event) e ON true
    WHERE o.world = $1 AND (o.first_event IS NULL OR e.seq IS NOT NULL)"""


class Entry(NamedTuple):
    """A message, or the events of a transaction from `first_event` to `last_event`, `first_at` to `at`."""

    at: WorldTime
    detail_type: str
    detail: Mapping[str, Any]
    first_event: int | None = None
    last_event: int | None = None
    first_at: WorldTime | None = None


Place = tuple[int, int]
"""Where a reader is: a position, and in it the number of an event, or 0."""


class Wanted(NamedTuple):
    """What of the outbox: a detail type, a cluster by name, id or ARN; None is all."""

    detail_type: str | None = None
    cluster: str | None = None


class Told(NamedTuple):
    """One thing that the outside is told: a message, or an event of the cluster."""

    account: str
    region: str
    cluster_id: str
    cluster: str
    seq: int
    place: Place
    at: WorldTime
    detail_type: str
    detail: Mapping[str, Any]
    event: Event | None


async def put(tx: Tx, scope: Scope, cluster_id: str, entries: Sequence[Entry], keep: int = MOST_KEPT) -> None:
    """Put entries behind the cluster's others, whose lock the caller holds; drop what is older than the newest."""
    rows = _rows(entries)
    if rows:
        key = (scope.world, scope.account, scope.region, cluster_id)
        await tx.execute(f"WITH {_PUT}", *key, rows, len(rows), keep)


async def put_events(
    tx: Tx, scope: Scope, cluster_id: str, events: Sequence[Mapping[str, Any]], span: Entry, keep: int
) -> None:
    """Write rows of `cluster_event`, and with the same statement the entry that tells of them."""
    key = (scope.world, scope.account, scope.region, cluster_id)
    await tx.execute(_PUT_EVENTS, *key, _rows([span]), 1, keep, events)


def _rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    return [{"n": n, **entry._asdict()} for n, entry in enumerate(entries, 1)]


async def announce(tx: Tx, scope: Scope, cluster_id: str, at: WorldTime, messages: Sequence[Message]) -> None:
    """Tell the outside of the cluster, in the transaction in which it happens."""
    await put(tx, scope, cluster_id, [Entry(at, *message) for message in messages])


async def unarranged(tx: Tx) -> list[str]:
    """The worlds in which something waits for its position."""
    rows = await tx.fetch(
        "SELECT name FROM world w WHERE EXISTS (SELECT 1 FROM outbox WHERE position IS NULL AND outbox.world = w.name)"
    )
    return [row[0] for row in rows]


async def arrange(tx: Tx, world: str) -> int:
    """Give positions to what has none; the world's last position, 0 without a world."""
    await tx.execute(_BEGIN, world)
    head: int | None = await tx.fetchval("SELECT head FROM feed WHERE world = $1 FOR UPDATE", world)
    if head is None:
        return 0
    done = int((await tx.execute(_ARRANGE, world, head)).split()[1])
    if done:
        await tx.execute("UPDATE feed SET head = $2 WHERE world = $1", world, head + done)
    return head + done


async def has_unarranged(tx: Tx, world: str) -> bool:
    """Something of the world waits for its position."""
    return bool(await tx.fetchval("SELECT EXISTS (SELECT 1 FROM outbox WHERE world = $1 AND position IS NULL)", world))


async def head(tx: Tx, world: str) -> int:
    """The world's last position; a fork's is that of what it has copied, until it has news of its own."""
    last: int = await tx.fetchval(
        """SELECT coalesce((SELECT head FROM feed WHERE world = $1),
            (SELECT max(position) FROM outbox WHERE world = $1), 0)""",
        world,
    )
    return last


async def page(tx: Tx, world: str, wanted: Wanted, *, after: Place, until: Place, limit: int) -> list[Told]:
    """Up to `limit` of what is told behind `after` and not behind `until`, in order."""
    question = _question(world, wanted)
    question.where("o.position >= {}", after[0])
    question.where("(o.position, coalesce(e.seq, 0)) > ({}, {})", *after)
    question.where("(o.position, coalesce(e.seq, 0)) <= ({}, {})", *until)
    question.where("o.position <= {}", until[0])
    query = f"{_TOLD}{question.text} ORDER BY o.position, e.seq LIMIT {int(limit)}"
    return [_told(row) for row in await tx.fetch(query, *question.values)]


async def newest(tx: Tx, world: str, wanted: Wanted, limit: int) -> list[Told]:
    """The last that was told, oldest first."""
    question = _question(world, wanted)
    question.where("o.position IS NOT NULL")
    query = f"{_TOLD}{question.text} ORDER BY o.position DESC, e.seq DESC LIMIT {int(limit)}"
    return [_told(row) for row in await tx.fetch(query, *question.values)][::-1]


def _question(world: str, wanted: Wanted) -> Question:
    question = Question(world)
    if wanted.detail_type is not None:
        question.where("o.detail_type = {}", wanted.detail_type)
    if wanted.cluster is None:
        return question
    if not wanted.cluster.startswith("arn:"):
        question.where("(c.name = {} OR o.cluster_id = {})", wanted.cluster, wanted.cluster)
        return question
    parts = wanted.cluster.split(":", 5)
    question.where("(o.region, o.account, 'cluster/' || o.cluster_id) = ({}, {}, {})", *parts[3:6])
    return question


def _told(row: asyncpg.Record) -> Told:
    account, region, cluster_id, name, seq, position, at, detail_type, detail, number, kind, event_at, *facts = row
    event = None if number is None else Event(kind, event_at, *facts)
    place = (position, number or 0)
    return Told(account, region, cluster_id, name, seq, place, event_at or at, detail_type, detail, event)
