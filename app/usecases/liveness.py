"""Which of our processes live, who leads, and the gaps without any process, which are no time of a world (CT-1)."""

from datetime import timedelta

from app.store import processes, worlds
from app.store.db import IDLE_SECONDS, Tx

GAP = timedelta(seconds=worlds.GAP_SECONDS)
"""What of a silence of every process still counts as time of a world; the clocks stop there by themselves."""
BACKWARD = timedelta(seconds=-1)


async def beat(tx: Tx, name: str, kind: str, passes: int) -> timedelta | None:
    """One heartbeat; the gap that was left out of the worlds' clocks, if there was one."""
    await processes.cut_off_stopped(tx, IDLE_SECONDS)
    silence = await processes.last_pulse(tx)
    await processes.take_pulse(tx)
    await processes.beat(tx, name, kind, passes)
    await processes.forget_dead(tx)
    if silence is None or BACKWARD <= silence <= GAP:
        return None
    gap = silence - GAP if silence > GAP else silence
    await worlds.shift(tx, gap)
    return gap


async def leave(tx: Tx, name: str) -> None:
    """The process ends."""
    await processes.leave(tx, name)


async def lead(tx: Tx, lease: str, name: str, epoch: int | None, seconds: float) -> int | None:
    """Keep the lease of `epoch`, or take it when it is free; the epoch that is held, or None."""
    return await processes.hold(tx, lease, name, epoch, seconds)


async def count_pass(tx: Tx, lease: str, epoch: int) -> bool:
    """Write down a pass under the lease; False when the lease is no longer ours, and nothing was written."""
    return await processes.count_pass(tx, lease, epoch)
