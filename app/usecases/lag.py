"""How late a world shows its counts: the eventual consistency that users of the service report, on request."""

from app.core.errors import NotFound
from app.store import lag, worlds
from app.store.db import Tx


async def read(tx: Tx, name: str) -> int:
    """Seconds of the world's time."""
    world = await worlds.read(tx, name)
    if world is None:
        raise NotFound(f"There is no world '{name}'. Create it with `windtunnel world create {name}`.")
    return world.read_lag


async def set_seconds(tx: Tx, name: str, seconds: int) -> int:
    """From now on; what is nearer than the new lag is told as it was known."""
    if await worlds.lock(tx, name) is None:
        raise NotFound(f"There is no world '{name}'. Create it with `windtunnel world create {name}`.")
    await lag.set_seconds(tx, name, seconds)
    return seconds
