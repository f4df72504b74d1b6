"""What was left to be looked at again: each wake is handled in a transaction of its own."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from app.core.scope import Scope
from app.core.world import World
from app.store import wakes, worlds
from app.store.db import Tx
from app.store.wakes import Wake
from app.usecases import admission, tuning_passes
from app.usecases.attempts import attempt, told

log = logging.getLogger(__name__)
Handler = Callable[[Tx, World, Scope, str], Awaitable[int]]
HANDLERS: Mapping[str, Handler] = {wakes.FLEET: admission.admit, wakes.STUDY: tuning_passes.wake}
"""Who looks at a subject of each kind again; the answer counts what was done."""


async def handle_first(tx: Tx, world_name: str, epoch: int | None = None) -> Counter[str] | None:
    """Do what was left first; None when nothing was, or the world is not ours to move. It is shared, so that nobody
    advances or copies it meanwhile.

    `epoch` is the caller's lease on the world, as in a pass over a cluster.
    """
    world = await worlds.share(tx, world_name)
    if world is None or not world.may_be_moved(epoch):
        return None
    wake = await wakes.first(tx, world_name, world.now)
    if wake is None:
        return None
    return await attempt(tx, partial(_handle, tx, world, wake), partial(_postpone, tx, wake))


async def _handle(tx: Tx, world: World, wake: Wake) -> Counter[str]:
    done = await HANDLERS[wake.kind](tx, world, wake.scope, wake.subject)
    await wakes.remove(tx, wake)
    return Counter(served=done)


async def _postpone(tx: Tx, wake: Wake, error: Exception) -> Counter[str]:
    facts = {"world": wake.scope.world, "kind": wake.kind, "subject": wake.subject}
    log.error("a wake could not be handled", exc_info=error, extra={"facts": facts})
    await wakes.postpone(tx, wake, told(error))
    return Counter(failed=1)
