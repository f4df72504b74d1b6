"""The scheduler: passes over the fleets of running worlds. Any number may run; each fleet has one, by a lease."""

import logging

from app.settings import Settings
from app.usecases.clocks import busy_fleets, schedule_running
from app.usecases.liveness import count_pass, lead
from app.workers.loop import Work, Worker, run_worker
from app.workers.relay import Relay

LEASE = "scheduler"
ROUND = 50
"""Passes over the fleets of one world before the others get a turn."""
log = logging.getLogger(__name__)


async def run(settings: Settings) -> None:
    """Work until told to stop."""
    await run_worker("scheduler", settings, schedule, beside=(relay,))


def schedule(worker: Worker) -> Work:
    """A look over the worlds in which a fleet is due. The lease of the process as a whole says which one is shown as
    the scheduler; fleets have leases of their own."""
    epoch: int | None = None

    async def look() -> bool:
        nonlocal epoch
        held = await worker.db.run(lead, LEASE, worker.name, epoch, worker.settings.lease_seconds)
        if held != epoch:
            log.info("lease", extra={"facts": {"name": worker.name, "epoch": held, "before": epoch}})
        epoch = held
        if held is not None and not await worker.db.run(count_pass, LEASE, held):
            log.warning("stale lease: started afresh", extra={"facts": {"name": worker.name, "epoch": held}})
            epoch = None
        done = [await _schedule(worker, name) for name in await worker.db.run(busy_fleets)]
        return any(done)

    return look


async def _schedule(worker: Worker, name: str) -> bool:
    """Schedule the world's fleets that are due, up to a round; True when one was."""
    seconds = worker.settings.lease_seconds
    for done in range(ROUND):
        if await schedule_running(worker.db, name, worker.name, seconds) is None:
            return bool(done)
    return True


async def relay(worker: Worker) -> None:
    """Events out, which need a process that is always there."""
    await Relay(worker).run()
