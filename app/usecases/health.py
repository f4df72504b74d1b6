"""Whether the service can be used, and what it is made of (CT-7)."""

from datetime import datetime
from typing import Any

import asyncpg

from app.core.scope import DEFAULT_WORLD
from app.store import clusters, processes, sessions, worlds
from app.store.db import Tx

WORKERS = ("reconciler", "scheduler")


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
    """Server version, worlds, clusters whose passes fail, processes and leases."""
    every = await worlds.all_worlds(tx)
    failing = {world.name: await clusters.failing(tx, world.name) for world in every}
    return {
        "postgres": await sessions.server_version(tx),
        "worlds": every,
        "failing": [{"world": name} | _plain(row) for name, rows in failing.items() for row in rows],
        "processes": [_plain(row) for row in await processes.living(tx)],
        "leases": [_plain(row) for row in await processes.leases(tx)],
    }


def _plain(row: asyncpg.Record) -> dict[str, Any]:
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}
