"""What metrics show of worlds and of our processes, in one statement each."""

from typing import NamedTuple

from app.store.db import Tx
from app.store.processes import ALIVE
from app.store.worlds import COLUMNS

_FAILING = "due_at IS NOT NULL AND failures > 0"


def _count(table: str, which: str) -> str:
    return f"(SELECT count(*) FROM {table} WHERE world = w.name AND {which})"


def _oldest(table: str) -> str:
    return f"(SELECT min(due_at) FROM {table} WHERE world = w.name AND due_at IS NOT NULL)"


# A frozen or leased world is not behind: its clock waits for whoever advances it.
WORLDS = f"""WITH w AS MATERIALIZED (SELECT {COLUMNS} FROM world) SELECT w.name,
        {_count("cluster", "due_at <= w.now")},
        {_count("custom_job", "due_at <= w.now")} + {_count("tuning_job", "due_at <= w.now")},
        CASE WHEN w.frozen OR w.leased THEN 0 ELSE greatest(0, coalesce(extract(epoch FROM w.now -
            least({_oldest("cluster")}, {_oldest("custom_job")}, {_oldest("tuning_job")})), 0)) END::float8,
        {_count("cluster", _FAILING)}, {_count("custom_job", _FAILING)} + {_count("tuning_job", _FAILING)}
    FROM w ORDER BY w.name"""
PROCESSES = f"""SELECT 'process', kind, name, passes, true FROM process WHERE {ALIVE}
    UNION ALL SELECT 'lease', '', name, passes, until_wall > clock_timestamp() FROM lease ORDER BY 1, 2, 3"""


class WorldGauges(NamedTuple):
    """Clusters, and jobs of both kinds, that are due, how long the oldest has been (world time, running worlds), and
    those whose passes fail."""

    world: str
    clusters_due: int
    jobs_due: int
    lag_seconds: float
    clusters_failing: int
    jobs_failing: int


class ProcessGauges(NamedTuple):
    """A process that lives (`is_lease` False), or a lease, which has no kind, and whether it is held."""

    is_lease: bool
    kind: str
    name: str
    passes: int
    held: bool


async def of_worlds(tx: Tx) -> list[WorldGauges]:
    return [WorldGauges(*row) for row in await tx.fetch(WORLDS)]


async def of_processes(tx: Tx) -> list[ProcessGauges]:
    return [ProcessGauges(row[0] == "lease", *row[1:]) for row in await tx.fetch(PROCESSES)]
