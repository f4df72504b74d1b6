"""Webhooks: whom to tell of what, how far each has been told, and the lanes of clusters that fell behind.

A webhook goes along the outbox in its order. When a post fails, its cluster gets a lane, which is where the cluster's
own posts go on from; all other clusters go on with the webhook. A lane that has caught up with its webhook ends.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import asyncpg

from app.core.scope import Scope
from app.store.db import Tx
from app.store.outbox import Place
from app.store.rows import insert_rows

KEPT_ATTEMPTS = 100
"""The newest attempts of a webhook that can be looked at."""
_HOOK = "world, number, url, secret, detail_type, cluster, position, place"
_LANE = "world, account, region, cluster_id"


class Webhook(NamedTuple):
    """Somebody to tell, and how far it has been told."""

    world: str
    number: int
    url: str
    secret: str
    detail_type: str | None
    cluster: str | None
    position: int
    place: int

    @property
    def reached(self) -> Place:
        return self.position, self.place


class Lane(NamedTuple):
    """A cluster that is behind its webhook: `reached` is done, and the next has failed so often."""

    scope: Scope
    cluster_id: str
    reached: Place
    attempts: int


class Attempt(NamedTuple):
    """A post, and what became of it: delivered, failed or given up."""

    envelope_id: str
    detail_type: str
    cluster: str
    outcome: str
    status: int | None = None
    error: str | None = None


async def add(tx: Tx, world: str, url: str, secret: str, wanted: Sequence[str | None], reached: Place) -> int:
    """A new webhook's number; no number of a world comes twice. The caller keeps the world and has arranged it."""
    number: int = await tx.fetchval(
        "UPDATE feed SET webhooks = webhooks + 1 WHERE world = $1 RETURNING webhooks", world
    )
    await tx.execute(
        f"INSERT INTO webhook ({_HOOK}, created_wall) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())",
        *(world, number, url, secret, *wanted, *reached),
    )
    return number


async def count(tx: Tx, world: str) -> int:
    number: int = await tx.fetchval("SELECT count(*) FROM webhook WHERE world = $1", world)
    return number


async def remove(tx: Tx, world: str, number: int) -> bool:
    """True when there was one."""
    gone = await tx.execute("DELETE FROM webhook WHERE world = $1 AND number = $2", world, number)
    for table in ("webhook_attempt", "webhook_lane"):
        await tx.execute(f"DELETE FROM {table} WHERE world = $1 AND number = $2", world, number)
    return gone == "DELETE 1"


async def get(tx: Tx, world: str, number: int) -> Webhook | None:
    row = await tx.fetchrow(f"SELECT {_HOOK} FROM webhook WHERE world = $1 AND number = $2", world, number)
    return Webhook(*row) if row else None


async def keys(tx: Tx) -> list[tuple[str, int]]:
    """Every webhook of every world."""
    return [tuple(row) for row in await tx.fetch("SELECT world, number FROM webhook ORDER BY world, number")]


async def listed(tx: Tx, world: str) -> list[asyncpg.Record]:
    """The world's webhooks, without their secrets."""
    return await tx.fetch(
        """SELECT number, url, detail_type, cluster, created_wall, delivered, failed, given_up,
            (SELECT count(*) FROM webhook_lane l WHERE l.world = w.world AND l.number = w.number) AS behind
        FROM webhook w WHERE world = $1 ORDER BY number""",
        world,
    )


async def attempts(tx: Tx, world: str, number: int, limit: int) -> list[asyncpg.Record]:
    """The newest attempts first."""
    return await tx.fetch(
        """SELECT at_wall, envelope_id, detail_type, cluster, outcome, status, error FROM webhook_attempt
        WHERE world = $1 AND number = $2 ORDER BY attempt DESC LIMIT $3""",
        *(world, number, limit),
    )


async def behind(tx: Tx, hook: Webhook) -> set[tuple[str, str, str]]:
    """The clusters that have a lane: account, region and id."""
    rows = await tx.fetch(
        "SELECT account, region, cluster_id FROM webhook_lane WHERE world = $1 AND number = $2", hook.world, hook.number
    )
    return {tuple(row) for row in rows}


async def due_lanes(tx: Tx, hook: Webhook, limit: int) -> list[Lane]:
    """The lanes whose next attempt may be made, the longest waiting first."""
    rows = await tx.fetch(
        f"""SELECT {_LANE}, position, place, attempts FROM webhook_lane
        WHERE world = $1 AND number = $2 AND not_before_wall <= clock_timestamp() ORDER BY not_before_wall LIMIT $3""",
        *(hook.world, hook.number, limit),
    )
    return [Lane(Scope(*row[:3]), row[3], (row[4], row[5]), row[6]) for row in rows]


async def is_leading(tx: Tx, lease: str, epoch: int) -> bool:
    """The lease is ours still, and until this transaction ends nobody takes it."""
    return bool(
        await tx.fetchval(
            "SELECT true FROM lease WHERE name = $1 AND epoch = $2 AND until_wall > clock_timestamp() FOR SHARE",
            *(lease, epoch),
        )
    )


async def reach(tx: Tx, hook: Webhook, reached: Place, made: Sequence[Attempt]) -> bool:
    """Write down how far the webhook is, and what was tried; False when it has been removed."""
    outcomes = [attempt.outcome for attempt in made]
    last = await tx.fetchval(
        """UPDATE webhook SET position = $3, place = $4, delivered = delivered + $5, failed = failed + $6,
            given_up = given_up + $7 WHERE world = $1 AND number = $2 RETURNING delivered + failed + given_up""",
        *(hook.world, hook.number, *reached, *(outcomes.count(name) for name in ("delivered", "failed", "given up"))),
    )
    if last is None:
        return False
    first = last - len(made) + 1
    columns = ["world", "number", "attempt", "at_wall", *Attempt._fields]
    now = await tx.fetchval("SELECT clock_timestamp()")
    rows: list[tuple[Any, ...]] = [(hook.world, hook.number, first + n, now, *each) for n, each in enumerate(made)]
    await insert_rows(tx, "webhook_attempt", columns, rows[-KEPT_ATTEMPTS:])
    await tx.execute(
        "DELETE FROM webhook_attempt WHERE world = $1 AND number = $2 AND attempt <= $3",
        *(hook.world, hook.number, last - KEPT_ATTEMPTS),
    )
    return True


async def save_lane(tx: Tx, hook: Webhook, lane: Lane, wait: float) -> None:
    """The cluster waits `wait` seconds of the wall before its next attempt."""
    await tx.execute(
        f"""INSERT INTO webhook_lane ({_LANE}, number, position, place, attempts, not_before_wall)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() + make_interval(secs => $9))
        ON CONFLICT ({_LANE}, number) DO UPDATE SET position = $6, place = $7, attempts = $8,
            not_before_wall = excluded.not_before_wall""",
        *(hook.world, lane.scope.account, lane.scope.region, lane.cluster_id, hook.number),
        *(*lane.reached, lane.attempts, wait),
    )


async def end_lane(tx: Tx, hook: Webhook, lane: Lane) -> None:
    await tx.execute(
        """DELETE FROM webhook_lane WHERE world = $1 AND account = $2 AND region = $3 AND cluster_id = $4
        AND number = $5""",
        *(hook.world, lane.scope.account, lane.scope.region, lane.cluster_id, hook.number),
    )
