"""The lag of a world's counts: DescribeCluster tells what ListClusterNodes told a while ago.

Only a world with a lag keeps what its counts were, and only for so long.
"""

from collections.abc import Mapping
from datetime import timedelta

from app.core.cluster import Group
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import insert_rows

SHOWN = "current-count"
_KEY = ("world", "account", "region", "cluster_id", "group_name", "at")


async def set_seconds(tx: Tx, world: str, seconds: int) -> None:
    """From now on counts are shown so many seconds of the world's time late; 0: at once."""
    await tx.execute("DELETE FROM read_lag WHERE world = $1", world)
    if seconds:
        await tx.execute("INSERT INTO read_lag (world, shown, seconds) VALUES ($1, $2, $3)", world, SHOWN, seconds)
    else:
        await tx.execute("DELETE FROM count_change WHERE world = $1", world)


async def is_set(tx: Tx, world: str) -> bool:
    """True in a world that shows its counts late."""
    found: bool = await tx.fetchval("SELECT EXISTS (SELECT 1 FROM read_lag WHERE world = $1)", world)
    return found


async def note(
    tx: Tx, scope: Scope, cluster_id: str, was: Mapping[str, Group], now: Mapping[str, Group], at: WorldTime, lag: int
) -> None:
    """Keep what the counts that changed at `at` were before; forget what was longer ago than `lag` seconds."""
    key = (scope.world, scope.account, scope.region, cluster_id)
    await tx.execute(
        "DELETE FROM count_change WHERE world = $1 AND account = $2 AND region = $3 AND cluster_id = $4 AND at <= $5",
        *key,
        at - timedelta(seconds=lag),
    )
    counts = {name: was[name].current if name in was else 0 for name in now}
    changed = [(*key, name, at, counts[name]) for name, group in now.items() if group.current != counts[name]]
    await insert_rows(tx, "count_change", (*_KEY, "was"), changed, on_conflict="ON CONFLICT DO NOTHING")
