"""Whether a world has changed since somebody looked."""

from app.store import changes
from app.store.db import Tx


async def mark(tx: Tx, world: str) -> tuple[str, bool] | None:
    """A text that is another when something has changed, and whether the clock runs; None without the world."""
    return await changes.mark(tx, world)
