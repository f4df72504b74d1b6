"""Fleets: what jobs are admitted to, each with the row under whose lock that is decided."""

from app.core.scope import Scope
from app.store.db import Tx


async def number_job(tx: Tx, scope: Scope) -> int:
    """The number of the next job of the project in the region; its pool stays locked until the transaction ends."""
    number: int = await tx.fetchval(
        """INSERT INTO fleet (world, account, region, fleet, jobs) VALUES ($1, $2, $3, '', 1)
        ON CONFLICT (world, account, region, fleet) DO UPDATE SET jobs = fleet.jobs + 1 RETURNING jobs""",
        scope.world,
        scope.account,
        scope.region,
    )
    return number


async def lock(tx: Tx, scope: Scope, fleet: str) -> None:
    """The fleet is ours until the transaction ends; it need not have been there."""
    await tx.execute(
        """INSERT INTO fleet (world, account, region, fleet, jobs) VALUES ($1, $2, $3, $4, 0)
        ON CONFLICT (world, account, region, fleet) DO UPDATE SET jobs = fleet.jobs""",
        scope.world,
        scope.account,
        scope.region,
        fleet,
    )


async def managed(tx: Tx, world: str) -> list[tuple[Scope, str]]:
    """The managed pools that have had work, by project, region and name."""
    rows = await tx.fetch(
        """SELECT account, region, fleet FROM fleet WHERE world = $1 AND fleet LIKE 'pool:%'
        ORDER BY account, region, fleet""",
        world,
    )
    return [(Scope(world, account, region), fleet) for account, region, fleet in rows]
