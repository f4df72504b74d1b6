"""Worlds without transitions: a transaction of a request ends when nothing is due any more."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from app.core.world import World
from app.store import clusters, forgetting, worlds
from app.store.db import Database, Tx
from app.usecases.provisioning import Policy, handle_or_postpone


async def settle(tx: Tx, world: World, policy: Policy) -> Counter[str]:
    """Do all that is due in the world, and forget what has been deleted; a cluster that another holds is left to it."""
    counts: Counter[str] = Counter()
    while (due := await clusters.claim_due(tx, world.name, world.now, wait=False)) is not None:
        counts += await handle_or_postpone(tx, world, due, policy)
    await forgetting.forget_deleted(tx, world.name)
    return counts


class SettledDatabase:
    """The database of a world in which what is asked has happened: each transaction begins and ends settled."""

    def __init__(self, db: Database, world: str, policy: Policy) -> None:
        self._db, self._world, self._policy = db, world, policy

    async def run(self, work: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        return await self._db.run(self._settled, work, *args, **kwargs)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        async with self._db.transaction() as tx:
            await self._settle(tx)
            yield tx
            await self._settle(tx)

    connection = transaction

    async def _settled(self, tx: Tx, work: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        await self._settle(tx)
        answer = await work(tx, *args, **kwargs)
        await self._settle(tx)
        return answer

    async def _settle(self, tx: Tx) -> None:
        world = await worlds.keep(tx, self._world)
        if world is not None and not world.leased:  # who advances it settles it
            await settle(tx, world, self._policy)
