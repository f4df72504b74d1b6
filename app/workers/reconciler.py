"""The reconciler: moves every running world's clusters towards what is wanted. Any number may run."""

from datetime import timedelta

from app.settings import Settings
from app.usecases.clocks import busy_worlds, settle_running
from app.usecases.provisioning import Policy
from app.workers.loop import Work, Worker, run_worker

ROUND = 20
"""Passes over one world before the others get a turn."""


async def run(settings: Settings) -> None:
    """Work until told to stop."""
    await run_worker("reconciler", settings, reconcile)


def reconcile(worker: Worker) -> Work:
    """A look over the worlds in which something is due."""
    settings = worker.settings
    policy = Policy(
        settings.events_per_cluster, timedelta(seconds=settings.job_error_seconds), settings.log_lines_per_job
    )

    async def look() -> bool:
        names = await worker.db.run(busy_worlds)
        done = [await _settle(worker, name, policy) for name in names]
        return any(done)

    return look


async def _settle(worker: Worker, name: str, policy: Policy) -> bool:
    """Do what is due in the world, up to a round; True when something was."""
    for done in range(ROUND):
        if await settle_running(worker.db, name, policy) is None:
            return bool(done)
    return True
