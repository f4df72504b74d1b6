"""The reconciler: moves every running world's clusters towards what is wanted. Any number may run."""

import structlog

from app.settings import Settings
from app.store import worlds
from app.usecases.clocks import settle_once
from app.usecases.provisioning import Policy
from app.workers.loop import Work, Worker, run_worker

ROUND = 20
"""Passes over one world before the others get a turn."""
log = structlog.get_logger()


async def run(settings: Settings) -> None:
    """Work until told to stop."""
    await run_worker("reconciler", settings, reconcile)


def reconcile(worker: Worker) -> Work:
    """A look over the worlds in which something is due."""
    policy = Policy(worker.settings.events_per_cluster)

    async def look() -> bool:
        names = await worker.db.run(worlds.busy)
        done = [await _settle(worker, name, policy) for name in names]
        return any(done)

    return look


async def _settle(worker: Worker, name: str, policy: Policy) -> bool:
    for done in range(ROUND):
        world = await worker.db.run(worlds.read, name)
        if world is None or world.frozen or world.leased:
            return bool(done)
        agenda = await worker.db.run(worlds.agenda, name)
        if await settle_once(worker.db, name, agenda, world.now, policy) is None:
            return bool(done)
    return True
