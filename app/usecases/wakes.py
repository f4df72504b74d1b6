"""What was left to be looked at again: each wake is handled in a transaction of its own."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

import asyncpg

from app.core.scope import Scope
from app.core.world import World
from app.store import wakes, worlds
from app.store.db import CONNECTION_LOST, Tx
from app.store.wakes import Wake
from app.usecases import admission, tuning_passes

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
    try:
        async with tx.transaction():
            done = await HANDLERS[wake.kind](tx, world, wake.scope, wake.subject)
            await wakes.remove(tx, wake)
    except (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, *CONNECTION_LOST) as error:
        if not isinstance(error, ValueError):
            raise  # not its fault: the whole transaction is tried again
        await _postpone(tx, wake, error)
        return Counter(failed=1)
    except Exception as error:  # whatever is wrong with one must not stop the others
        await _postpone(tx, wake, error)
        return Counter(failed=1)
    return Counter(served=done)


async def _postpone(tx: Tx, wake: Wake, error: Exception) -> None:
    facts = {"world": wake.scope.world, "kind": wake.kind, "subject": wake.subject}
    log.error("a wake could not be handled", exc_info=error, extra={"facts": facts})
    await wakes.postpone(tx, wake, f"{type(error).__name__}: {error}"[:500])
