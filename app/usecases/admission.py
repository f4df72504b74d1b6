"""Who of the jobs that queue gets what it needs (VX-1). Decided under the lock of the fleet."""

from collections.abc import Iterable, Mapping

from app.core.admission import Waiting, admitted
from app.core.job import POOL
from app.core.managed_pools import metric_of
from app.core.scope import Scope
from app.core.world import World
from app.store import capacity, fleets, jobs, scheduling, wakes
from app.store.db import Tx


async def admit(tx: Tx, world: World, scope: Scope, fleet: str) -> int:
    """Serve those who queue for the pool of the project and region, in their turn; how many were served."""
    await fleets.lock(tx, scope, fleet)
    waiting = await jobs.waiting(tx, scope, fleet, world.now)
    pools = await scheduling.managed_pools(tx, scope)
    served = await _serve(tx, scope, waiting, pools)
    for (account, region), job_ids in _by_tenant(served).items():
        await jobs.admit(tx, Scope(scope.world, account, region), job_ids, world.now)
    later = await jobs.next_waiting(tx, scope, fleet, world.now)
    if later is not None:
        await wakes.leave(tx, scope, wakes.FLEET, fleet, later)
    for pool in pools:  # they have what is left
        await wakes.leave(tx, scope, wakes.FLEET, pool, world.now)
    return len(served)


async def _serve(tx: Tx, scope: Scope, waiting: list[Waiting], pools: Mapping[str, int]) -> list[Waiting]:
    """Of the region's pool, which only quotas limit, and what work with budgets has of them (FS-20)."""
    if not waiting:
        return []
    limits = await capacity.quotas(tx, scope)
    if not limits:
        return waiting
    used = await jobs.used(tx, scope, [POOL, *pools])
    for pool, held in pools.items():
        used[metric_of(pool)] = used.get(metric_of(pool), 0) + held
    return list(admitted(limits, used, waiting))


def _by_tenant(served: Iterable[Waiting]) -> Mapping[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for one in served:
        found.setdefault((one.account, one.region), []).append(one.job_id)
    return found
