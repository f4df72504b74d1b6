"""What is to be looked at again: fleets with places that came free, studies whose trials have ended.

Whoever leaves a wake does so last of all in its transaction, so that nobody waits for it long; it is read without a
lock, and removed by who has done it unless it was left once more meanwhile.
"""

from typing import NamedTuple

import asyncpg

from app.core.scope import Scope
from app.core.times import WorldTime, whole_second
from app.store.db import Tx

FLEET, STUDY = "fleet", "study"
_THIS = """world = $1 AND account = $2 AND region = $3 AND kind = $4 AND subject = $5 AND at = $6
        AND xmin::text::bigint = $7"""


class Wake(NamedTuple):
    """`subject`, of the kind, is to be looked at `at`; `version` is the database's of the row."""

    scope: Scope
    kind: str
    subject: str
    at: WorldTime
    version: int


async def leave(tx: Tx, scope: Scope, kind: str, subject: str, at: WorldTime) -> None:
    """Have the subject looked at `at`; left twice, it may be once. A cluster's fleet is looked at on whole seconds."""
    if kind == FLEET and subject:
        at = whole_second(at)
    await tx.execute(
        """INSERT INTO wake (world, account, region, kind, subject, at) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (world, account, region, kind, subject, at) DO UPDATE SET not_before_wall = NULL""",
        *_scope(scope),
        kind,
        subject,
        at,
    )


async def first(tx: Tx, world: str, now: WorldTime) -> Wake | None:
    """The wake that has been due the longest by `now`, of those that do not back off; those of clusters' fleets are the
    scheduler's."""
    row = await tx.fetchrow(
        """SELECT account, region, kind, subject, at, xmin::text::bigint FROM wake WHERE world = $1 AND at <= $2
        AND NOT (kind = 'fleet' AND subject <> '') AND (not_before_wall IS NULL OR not_before_wall <= clock_timestamp())
        ORDER BY at, kind, account, region, subject LIMIT 1""",
        world,
        now,
    )
    return None if row is None else Wake(Scope(world, row[0], row[1]), *tuple(row)[2:])


async def remove(tx: Tx, wake: Wake) -> None:
    """The wake is done, unless it was left once more since it was read."""
    await tx.execute(f"DELETE FROM wake WHERE {_THIS}", *_key(wake))


async def postpone(tx: Tx, wake: Wake, error: str) -> None:
    """It could not be done: leave it alone for 50 ms of wall time, twice as long each time up to a minute."""
    await tx.execute(
        f"""UPDATE wake SET failures = failures + 1, error = $8, not_before_wall = clock_timestamp()
            + make_interval(secs => least(60, 0.05 * 2 ^ least(failures, 20) * (0.5 + random() / 2)))
        WHERE {_THIS}""",
        *_key(wake),
        error,
    )


async def failing(tx: Tx, world: str) -> list[asyncpg.Record]:
    """The wakes that could not be done, with the reason; each is named by its kind and subject."""
    return await tx.fetch(
        """SELECT account, region, concat_ws(' ', kind, nullif(subject, '')) AS name, failures, error, not_before_wall
        FROM wake WHERE world = $1 AND failures > 0 ORDER BY account, region, kind, subject, at""",
        world,
    )


def _key(wake: Wake) -> tuple[str, str, str, str, str, WorldTime, int]:
    return (*_scope(wake.scope), wake.kind, wake.subject, wake.at, wake.version)


def _scope(scope: Scope) -> tuple[str, str, str]:
    return scope.world, scope.account, scope.region
