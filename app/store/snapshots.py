"""Named snapshots. A snapshot's rows lie in the tables of worlds, so that a migration brings them along (RL-29).

They lie under a name that no world can have and without a row in `world`: no list shows them, and no worker, which all
begin at `world`, comes to them.
"""

from app.core.world import Snapshot, World
from app.store import copies
from app.store.db import Tx

_FACTS = "name, at, seed, profile, started_at, rate, frozen"


def _rows_of(world: str, name: str) -> str:
    """What stands in the column `world` of the snapshot's rows; `@` is in no world's name."""
    return f"{world}@{name}"


async def read(tx: Tx, world: str, name: str) -> Snapshot | None:
    row = await tx.fetchrow(f"SELECT {_FACTS} FROM snapshot WHERE of_world = $1 AND name = $2", world, name)
    return Snapshot(*row) if row else None


async def of_world(tx: Tx, world: str) -> list[Snapshot]:
    """The world's snapshots, by name."""
    rows = await tx.fetch(f"SELECT {_FACTS} FROM snapshot WHERE of_world = $1 ORDER BY name", world)
    return [Snapshot(*row) for row in rows]


async def save(tx: Tx, world: World, name: str) -> None:
    """Copy all of the locked world. Two of one name are for the caller to prevent."""
    await tx.execute(
        f"INSERT INTO snapshot (of_world, {_FACTS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        world.name,
        name,
        world.now,
        world.seed,
        world.profile,
        world.started_at,
        world.rate,
        world.frozen,
    )
    await copies.copy_rows(tx, world.name, _rows_of(world.name, name))


async def load(tx: Tx, world: str, name: str) -> None:
    """Put the snapshot's rows in the place of the locked world's; its clock is the caller's to set."""
    await copies.empty_rows(tx, world)
    await copies.copy_rows(tx, _rows_of(world, name), world)


async def remove(tx: Tx, world: str, name: str) -> None:
    await copies.remove_rows(tx, _rows_of(world, name))
    await tx.execute("DELETE FROM snapshot WHERE of_world = $1 AND name = $2", world, name)
