"""How many machines exist, and the waking of those who wait for one (CT-4, HP-6)."""

from typing import NamedTuple

from app.core.asking import woken
from app.core.capacity import WHOLE_REGION, Pool
from app.core.errors import Invalid, NotFound
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import capacity, clusters, instances, jobs, replicas, worlds
from app.store.capacity import Change
from app.store.db import Tx
from app.usecases import types

ENOUGH = 100_000
"""How many waiting nodes are woken at once when a type becomes unlimited."""


class Overview(NamedTuple):
    """What limits, what is used of the types that nothing limits (region, type, machines), and what will change."""

    pools: list[Pool]
    unlimited: list[tuple[str, str, int]]
    changes: list[Change]


async def overview(tx: Tx, world: str) -> Overview:
    return Overview(
        await capacity.pools(tx, world), await capacity.unlimited_use(tx, world), await capacity.scheduled(tx, world)
    )


async def set_total(
    tx: Tx, world: str, region: str, zone: str | None, instance_type: str, total: int | None, at: WorldTime | None
) -> WorldTime:
    """From `at` (None: now) on there are `total` machines; None makes the type unlimited.

    Gives the instant at which that takes effect: now, if `at` is past.
    """
    if not types.is_type(instance_type):
        raise Invalid(types.unknown(instance_type))
    types.check_region(instance_type, region)
    if zone is not None and zone not in types.zones(region):
        raise Invalid(f"Region {region} has no zone '{zone}'. Its zones are {', '.join(types.zones(region))}.")
    found = await worlds.lock(tx, world)
    if found is None:
        raise NotFound(f"There is no world '{world}'.")
    change = Change(max(at or found.now, found.now), region, zone or WHOLE_REGION, instance_type, total)
    if change.at > found.now:
        await capacity.schedule(tx, world, change)
    else:
        await _apply(tx, world, change)
    return change.at


async def _apply(tx: Tx, world: str, change: Change) -> None:
    await capacity.set_total(tx, world, change)
    await capacity.leave_wake(tx, world, change.region, {change.instance_type: change.at})


async def apply_due_changes(tx: Tx, world: str, now: WorldTime) -> int:
    """Carry out the schedule up to `now`; how many changes it held."""
    if await worlds.lock(tx, world) is None:
        return 0
    changes = await capacity.take_due_changes(tx, world, now)
    for change in changes:
        await _apply(tx, world, change)
    return len(changes)


async def _wake_jobs(tx: Tx, world: str, wake: capacity.Wake, limit: int) -> int:
    """Let the jobs ask again whose workers have waited the longest; they are locked in the order of passes."""
    found = woken(await replicas.waiting(tx, world, wake.region, wake.instance_type), limit)
    for one in sorted(found, key=lambda one: (one.account, one.number)):
        scope = Scope(world, one.account, wake.region)
        await jobs.hurry(tx, scope, one.job_id, wake.at)
        await replicas.wake(tx, scope, one.job_id, wake.at)
    return len(found)


async def wake_waiting(tx: Tx, world: str, now: WorldTime) -> int:
    """Let those who waited the longest try again, as many as there are machines; how many were woken.

    Clusters are locked before the wake is spent, in the order in which a pass takes them, so neither waits for the
    other in a circle; and a wake that a pass leaves meanwhile stays.
    """
    woken = 0
    for wake in await capacity.due_wakes(tx, world, now):
        room = await capacity.free_machines(tx, world, wake.region, wake.instance_type)
        limit = ENOUGH if room.free is None else room.free
        found = await instances.oldest_waiting(tx, world, wake.region, wake.instance_type, room.full, limit)
        for (account, region, cluster_id), logical_ids in sorted(found.items()):
            scope = Scope(world, account, region)
            await clusters.hurry(tx, scope, cluster_id, wake.at)
            await instances.wake(tx, scope, cluster_id, wake.at, logical_ids)
            woken += len(logical_ids)
        woken += await _wake_jobs(tx, world, wake, limit)
        await capacity.spend_wake(tx, world, wake)
    return woken
