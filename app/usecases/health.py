"""Whether the service can be used, and what it is made of (CT-7)."""

from datetime import datetime
from typing import Any

import asyncpg

from app.core.scope import DEFAULT_WORLD
from app.store import clusters, gauges, jobs, processes, sessions, tuning, wakes, worlds
from app.store.db import Tx
from app.store.gauges import ProcessGauges as ProcessGauges
from app.store.gauges import WorldGauges as WorldGauges

WORKERS = ("reconciler", "scheduler")
KINDS = ("api", *WORKERS)
MOST_WORLDS = 100
OTHER = "_other"
"""No world can have this name."""


async def missing(tx: Tx) -> list[str]:
    """What the service still waits for; nothing when it is ready. The schema is known to be current."""
    reasons = []
    if await worlds.read(tx, DEFAULT_WORLD) is None:
        reasons.append(f"world '{DEFAULT_WORLD}' and its seed are not there yet")
    living = await processes.living(tx)
    for kind in WORKERS:
        passes = [row["passes"] for row in living if row["kind"] == kind]
        if not passes:
            reasons.append(f"no {kind} is alive")
        elif max(passes) < 1:
            reasons.append(f"the {kind} has not made a pass yet")
    return reasons


async def facts(tx: Tx) -> dict[str, Any]:
    """Server version, worlds, clusters and jobs of both kinds whose passes fail, processes and leases."""
    every = await worlds.all_worlds(tx)
    failed = {world.name: await failing(tx, world.name) for world in every}
    return {
        "postgres": await sessions.server_version(tx),
        "worlds": every,
        "failing": [{"world": name} | _plain(row) for name, rows in failed.items() for row in rows],
        "processes": [_plain(row) for row in await processes.living(tx)],
        "leases": [_plain(row) for row in await processes.leases(tx)],
    }


async def failing(tx: Tx, world: str) -> list[asyncpg.Record]:
    """The clusters and jobs of both kinds whose last pass failed, and what could not be looked at again, with the
    reason."""
    return [row for kind in (clusters, jobs, tuning, wakes) for row in await kind.failing(tx, world)]


def _plain(row: asyncpg.Record) -> dict[str, Any]:
    return {key: _wall(value) if isinstance(value, datetime) else value for key, value in row.items()}


async def measured(tx: Tx) -> tuple[list[WorldGauges], list[ProcessGauges]]:
    """What metrics tell of worlds, those beyond `MOST_WORLDS` as one, and of processes and leases."""
    every = await gauges.of_worlds(tx)
    shown, rest = every[:MOST_WORLDS], every[MOST_WORLDS:]
    if rest:
        lag = max(one.lag_seconds for one in rest)
        shown.append(
            WorldGauges(
                OTHER,
                sum(one.clusters_due for one in rest),
                sum(one.jobs_due for one in rest),
                lag,
                sum(one.clusters_failing for one in rest),
                sum(one.jobs_failing for one in rest),
            )
        )
    return shown, await gauges.of_processes(tx)


def _wall(moment: datetime) -> str:
    """Written as the instants of worlds are, though it is none."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
