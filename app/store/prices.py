"""Prices that the user has set for a world; everything else comes from the catalogue."""

from app.store.db import Tx


async def overrides(tx: Tx, world: str) -> dict[tuple[str, str], int]:
    """Micro-dollars per hour by (instance type, region); region `*` stands for every region."""
    rows = await tx.fetch(
        """SELECT region, instance_type, micro_usd_per_hour FROM price_override WHERE world = $1
        ORDER BY region, instance_type""",
        world,
    )
    return {(instance_type, region): price for region, instance_type, price in rows}


async def put(tx: Tx, world: str, instance_type: str, region: str, micro_usd_per_hour: int) -> None:
    await tx.execute(
        """INSERT INTO price_override (world, region, instance_type, micro_usd_per_hour) VALUES ($1, $2, $3, $4)
        ON CONFLICT (world, region, instance_type) DO UPDATE SET micro_usd_per_hour = $4""",
        world,
        region,
        instance_type,
        micro_usd_per_hour,
    )
