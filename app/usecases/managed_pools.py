"""Managed pools: what a project's quota leaves to budgets, the fleet of jobs without a cluster (FS-20)."""

from collections.abc import Iterable
from fractions import Fraction

from app.core.gang import Goods, goods_of, label
from app.core.job import POOL, STANDARD, is_managed
from app.core.job_spec import Pool, pools
from app.core.machines import metrics
from app.core.managed_pools import metric_of, size
from app.core.scope import Scope
from app.store import budget_use, capacity, fleets, jobs
from app.store.db import Tx
from app.usecases.machine_prices import machine_rates
from app.usecases.machines import machine


async def lock_quota(tx: Tx, scope: Scope) -> None:
    """Until the transaction ends nobody else gives away what the project's quotas have left."""
    await fleets.lock(tx, scope, POOL)


async def room(tx: Tx, scope: Scope, fleet: str) -> int:
    """GPUs of the pool now; the quota is ours."""
    return size(metric_of(fleet), await capacity.quotas(tx, scope), await jobs.used(tx, scope, [POOL]))


async def at_work(tx: Tx, scope: Scope) -> list[str]:
    """The managed pools of the project and region that have workloads which have not ended."""
    return [name for home, name in await budget_use.fleets(tx, scope.world) if home == scope and is_managed(name)]


async def gpu_price(tx: Tx, scope: Scope, fleet: str) -> Fraction:
    """Micro-dollars that an hour of one of the pool's GPUs costs now: of the machines that its jobs have asked for the
    dearest, so that no limit is passed; 0 before the first job."""
    specs = await jobs.machine_specs(tx, scope, fleet)
    found = {_goods(one): gpus for one in _pools(specs) if (gpus := _gpus(one, metric_of(fleet)))}
    rates = await machine_rates(tx, scope, found)
    return max(
        (Fraction(rates[label(goods)].micro_usd_per_hour, gpus) for goods, gpus in found.items()), default=Fraction(0)
    )


def _pools(machine_specs: Iterable[object]) -> list[Pool]:
    return pools({"workerPoolSpecs": [{"machineSpec": spec} for spec in machine_specs]})


def _goods(pool: Pool) -> Goods:
    return goods_of(machine(pool.machine_type), pool.accelerator, pool.accelerators, STANDARD)


def _gpus(pool: Pool, metric: str) -> int:
    return metrics(machine(pool.machine_type), pool.accelerator, pool.accelerators, STANDARD).get(metric, 0)
