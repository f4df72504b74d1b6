"""Named snapshots of a world: save, list, restore, remove (CT-2).

A restore is a new history: the world's time goes back with everything else, while the epochs of its leases go on, so
that whoever held one before is stale.
"""

from app.core.errors import InUse, Invalid, LimitExceeded, NotFound
from app.core.world import Snapshot, World
from app.store import sessions, snapshots, worlds
from app.store.db import Tx
from app.usecases.worlds import LONG_SECONDS, NAME, Setting, check_rests, locked

MOST = 100
"""Snapshots that one world may have; each is a copy of the whole world."""


async def listed(tx: Tx, world: str) -> list[Snapshot]:
    """The world's snapshots, by name."""
    return await snapshots.of_world(tx, world)


async def save(tx: Tx, world: str, name: str) -> Snapshot:
    """Keep all that the world is at this instant. InUse if there is a snapshot of that name."""
    if not NAME.fullmatch(name):
        raise Invalid(
            f"'{name[:80]}' cannot name a snapshot: up to 63 of a-z, 0-9 and '-', beginning with a letter or digit."
        )
    await sessions.allow(tx, LONG_SECONDS)
    found = await locked(tx, world)
    there = await snapshots.of_world(tx, world)
    if name in {one.name for one in there}:
        raise InUse(
            f"World '{world}' has a snapshot '{name}' already. Choose another name, "
            f"or remove that one with `windtunnel snapshot rm {name}`."
        )
    if len(there) >= MOST:
        raise LimitExceeded(f"World '{world}' has {MOST} snapshots, and may have no more. Remove one first.")
    await snapshots.save(tx, found, name)
    return await _existing(tx, world, name)


async def restore(tx: Tx, world: str, name: str) -> World:
    """Make the world what it was when the snapshot was saved, its clock included."""
    await sessions.allow(tx, LONG_SECONDS)
    check_rests(await locked(tx, world))
    kept = await _existing(tx, world, name)
    await snapshots.load(tx, world, name)
    setting = Setting(kept.seed, kept.profile, kept.started_at, kept.rate, kept.frozen)
    await worlds.begin_again(tx, world, kept.at, **setting.facts)
    return await locked(tx, world)


async def remove(tx: Tx, world: str, name: str) -> None:
    """Forget the snapshot; the world stays as it is."""
    await sessions.allow(tx, LONG_SECONDS)
    await locked(tx, world)
    await _existing(tx, world, name)
    await snapshots.remove(tx, world, name)


async def _existing(tx: Tx, world: str, name: str) -> Snapshot:
    found = await snapshots.read(tx, world, name)
    if found is None:
        raise NotFound(f"World '{world}' has no snapshot '{name}'. `windtunnel snapshot list` shows those it has.")
    return found
