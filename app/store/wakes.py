"""What is to be looked at again: fleets with places that came free, studies whose trials have ended.

Whoever leaves a wake does so last of all in its transaction, so that nobody waits for it long; it is read without a
lock, and removed by who has done it unless it was left once more meanwhile.
"""

from typing import NamedTuple

from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx

FLEET, STUDY = "fleet", "study"


class Wake(NamedTuple):
    """`subject`, of the kind, is to be looked at `at`; `version` is the database's of the row."""

    scope: Scope
    kind: str
    subject: str
    at: WorldTime
    version: int


async def leave(tx: Tx, scope: Scope, kind: str, subject: str, at: WorldTime) -> None:
    """Have the subject looked at `at`; left twice, it may be once."""
    await tx.execute(
        """INSERT INTO wake (world, account, region, kind, subject, at) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (world, account, region, kind, subject, at) DO UPDATE SET at = excluded.at""",
        scope.world,
        scope.account,
        scope.region,
        kind,
        subject,
        at,
    )


async def first(tx: Tx, world: str, now: WorldTime) -> Wake | None:
    """The wake that has been due the longest by `now`."""
    row = await tx.fetchrow(
        """SELECT account, region, kind, subject, at, xmin::text::bigint FROM wake WHERE world = $1 AND at <= $2
        ORDER BY at, kind, account, region, subject LIMIT 1""",
        world,
        now,
    )
    return None if row is None else Wake(Scope(world, row[0], row[1]), *tuple(row)[2:])


async def remove(tx: Tx, wake: Wake) -> None:
    """The wake is done, unless it was left once more since it was read."""
    await tx.execute(
        """DELETE FROM wake WHERE world = $1 AND account = $2 AND region = $3 AND kind = $4 AND subject = $5
        AND at = $6 AND xmin::text::bigint = $7""",
        wake.scope.world,
        wake.scope.account,
        wake.scope.region,
        wake.kind,
        wake.subject,
        wake.at,
        wake.version,
    )
