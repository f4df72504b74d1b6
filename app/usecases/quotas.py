"""Account quotas by the names that AWS and Google give them (CT-4). None limits anything until it is set."""

from collections.abc import Mapping
from typing import NamedTuple

from app import catalog
from app.core.errors import InUse, Invalid, NotFound
from app.core.job import POOL
from app.core.machines import METRIC
from app.core.managed_pools import fleet_of
from app.core.scope import Scope
from app.store import capacity, wakes, worlds
from app.store.db import Tx
from app.usecases import managed_pools, types

_SHORT = METRIC.rpartition("/")[2]


class Limit(NamedTuple):
    """A quota: `value` is in force, None for no limit; `recorded` is what real accounts have, None if unknown."""

    name: str
    value: int | None
    recorded: int | None
    evidence: str
    source: str


async def set_quota(tx: Tx, scope: Scope, name: str, value: int | None) -> Limit:
    """From now on the account may have so many in the region; None takes the limit away, unless it is shared by budgets
    (InUse). Jobs that queue may go on."""
    name = _full_name(name)
    if name.startswith(METRIC) != catalog.is_location(scope.region):
        raise Invalid(
            f"Region {scope.region} has no quota '{name[:120]}'. Vertex AI's quotas are of locations such as "
            f"{types.DEFAULT_LOCATION}, HyperPod's of regions such as us-west-2."
        )
    quota = _quotas(scope.region).get(name)
    if quota is None:
        raise Invalid(
            f"No quota is called '{name[:120]}'. Use the name that AWS or Google gives it, such as "
            f"'ml.p5.48xlarge for cluster usage' or '{METRIC}nvidia_h100_gpus'."
        )
    world = await worlds.lock(tx, scope.world)
    if world is None:
        raise NotFound(f"There is no world '{scope.world}'.")
    if value is None and fleet_of(name) in await managed_pools.at_work(tx, scope):
        raise InUse(
            f"Work with budgets shares what {name} leaves in {scope.region}, and has not ended. Set another value, or "
            "take the limit away when that work is over."
        )
    await capacity.set_quota(tx, scope, name, value)
    if catalog.is_location(scope.region):
        await wakes.leave(tx, scope, wakes.FLEET, POOL, world.now)
    return _limit(quota, value)


async def listed(tx: Tx, scope: Scope) -> list[Limit]:
    """The quotas that are set, and those that are not of one type, by name."""
    values = await capacity.quotas(tx, scope)
    of_one_type = set() if catalog.is_location(scope.region) else {quota.name for quota in _of_types()}
    return [
        _limit(quota, values.get(name))
        for name, quota in sorted(_quotas(scope.region).items())
        if name in values or name not in of_one_type
    ]


def default_region(name: str, default: str) -> str:
    """Where the quota is meant to be if nothing is said."""
    return types.DEFAULT_LOCATION if _full_name(name).startswith(METRIC) else default


def _full_name(name: str) -> str:
    """Google's metrics may be named without the service: `custom_model_training_nvidia_h100_gpus`."""
    return METRIC + name.removeprefix(_SHORT) if name.startswith(_SHORT) else name


def _quotas(region: str) -> Mapping[str, catalog.Quota]:
    """Every quota in the region by its name."""
    if catalog.is_location(region):
        return catalog.vertex_quotas(region)
    return {quota.name: quota for quota in (*catalog.quotas().values(), *_of_types())}


def _of_types() -> list[catalog.Quota]:
    return [
        *(catalog.on_demand_quota(name) for name in catalog.instance_types()),
        *(catalog.spot_quota(name) for name in catalog.instance_types()),
        *(catalog.reserved_quota(name) for name in catalog.reservable()),
    ]


def _limit(quota: catalog.Quota, value: int | None) -> Limit:
    return Limit(quota.name, value, quota.recorded, quota.evidence, quota.source)
