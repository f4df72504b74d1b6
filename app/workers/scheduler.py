"""The scheduler: one at a time by a lease with an epoch, the others stand by. It has no policy to apply yet."""

import logging

from app.settings import Settings
from app.usecases.liveness import count_pass, lead
from app.workers.loop import Work, Worker, run_worker
from app.workers.relay import Relay

LEASE = "scheduler"
log = logging.getLogger(__name__)


async def run(settings: Settings) -> None:
    """Work until told to stop."""
    await run_worker("scheduler", settings, schedule, beside=(relay,))


def schedule(worker: Worker) -> Work:
    """A pass under the lease. Whoever lost it notices at its next write, which then does not happen."""
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
        return False

    return look


async def relay(worker: Worker) -> None:
    """Events out, which need a process that is always there."""
    await Relay(worker).run()
