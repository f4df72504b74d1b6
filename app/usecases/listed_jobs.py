"""Jobs of all projects and regions of a world, as a page lists them."""

from collections.abc import Iterable
from typing import NamedTuple

from app.core.job import FINAL, Job, JobState, state
from app.store import jobs
from app.store.db import Tx
from app.usecases import clocks, known_clusters

MOST_SEEN = 1000
"""Of the newest that may fit so many are looked at."""


class Seen(NamedTuple):
    """A job, the state that is told of it, and the name of the cluster that it is on."""

    job: Job
    state: JobState
    cluster: str | None


async def listed(tx: Tx, world: str, text: str, wanted: JobState | None, limit: int) -> list[Seen]:
    """The newest first: those whose name contains the text, in that state if one is wanted."""
    now = (await clocks.read(tx, world)).now
    names = {
        (one.account, one.region, one.cluster_id): one.name for one in await known_clusters.living(tx, world, None)
    }
    # One that has ended is told as running until its end is shown (VX-9).
    ended = False if wanted is not None and wanted not in (*FINAL, JobState.RUNNING, JobState.PENDING) else None
    found = [
        Seen(one, state(one, now), names.get((one.fleet_account, one.fleet_region, one.fleet)))
        for one in await jobs.in_world(tx, world, text, ended, MOST_SEEN)
    ]
    return [one for one in found if wanted in (None, one.state)][:limit]


async def shown(tx: Tx, world: str, workloads: Iterable[str]) -> dict[str, str]:
    """What those of the workloads that are jobs are called; a job's workload has its id, which is a number."""
    ids = sorted({name for name in workloads if name.isdecimal()})
    return await jobs.display_names(tx, world, ids) if ids else {}
