"""What was left to be looked at again: each wake is handled in a transaction of its own."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

from app.core.scope import Scope
from app.core.times import WorldTime
from app.core.world import World
from app.store import wakes, worlds
from app.store.db import Tx
from app.usecases import admission, tuning_passes

Handler = Callable[[Tx, World, Scope, str], Awaitable[int]]
HANDLERS: Mapping[str, Handler] = {wakes.FLEET: admission.admit, wakes.STUDY: tuning_passes.wake}
"""Who looks at a subject of each kind again; the answer counts what was done."""


async def handle_first(tx: Tx, world_name: str, now: WorldTime) -> Counter[str]:
    """Do what was left first. The world is shared, so that nobody advances or copies it meanwhile."""
    world = await worlds.share(tx, world_name)
    wake = await wakes.first(tx, world_name, now)
    if world is None or wake is None:
        return Counter()
    done = await HANDLERS[wake.kind](tx, world, wake.scope, wake.subject)
    await wakes.remove(tx, wake)
    return Counter(served=done)
