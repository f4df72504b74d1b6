"""The reconciler: moves every running world's clusters and jobs towards what is wanted. Any number may run."""

from datetime import timedelta

from app import clock
from app.settings import Settings
from app.usecases import executing
from app.usecases.clocks import busy_worlds, settle_running
from app.usecases.provisioning import Policy
from app.workers.loop import Work, Worker, run_worker

ROUND = 20
"""Passes over one world before the others get a turn."""
LOSING_SECONDS = 1.0
"""Wall time between two looks for programs whose executor is gone."""


async def run(settings: Settings) -> None:
    """Work until told to stop."""
    await run_worker("reconciler", settings, reconcile, beside=(lose_programs,))


def reconcile(worker: Worker) -> Work:
    """A look over the worlds in which something is due."""
    settings = worker.settings
    policy = Policy(
        settings.events_per_cluster,
        timedelta(seconds=settings.job_error_seconds),
        settings.log_lines_per_job,
        settings.execute_jobs,
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


async def lose_programs(worker: Worker) -> None:
    """The workers of programs that went with their executor, or that nobody is there to run, are lost (VX-16)."""

    async def look() -> bool:
        lost = await executing.lose_orphans(worker.db, waiting=not worker.settings.execute_jobs)
        if not lost:
            await clock.sleep(LOSING_SECONDS)
        return lost

    await worker.work(look)
