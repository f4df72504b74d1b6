"""The account's quotas at work: what a request wants in all must stay within them (CT-4)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil

from app import catalog
from app.core.cluster import Group
from app.core.errors import LimitExceeded
from app.core.scope import Scope
from app.store import capacity
from app.store.capacity import Demand
from app.store.db import Tx


async def check(tx: Tx, scope: Scope, cluster_id: str | None, groups: Sequence[Group]) -> None:
    """Refuse groups that would pass a quota; it counts wanted instances, not running ones."""
    quotas = await capacity.quotas(tx, scope, lock=True)
    if not quotas:
        return
    before = await capacity.demands(tx, scope)
    own = [one for one in before if one.cluster_id == cluster_id]
    others = [one for one in before if one.cluster_id != cluster_id]
    wanted = [_demand(cluster_id, group) for group in groups if group.delete_requested_at is None]
    _check_types(quotas, others, own, wanted)
    names = {key: quota.name for key, quota in catalog.quotas().items()}
    _check(quotas, names["instances-per-cluster"], 0, _instances(own), _instances(wanted))
    _check(quotas, names["instances"], _instances(others), _instances(own), _instances(wanted))
    spot = [[one for one in side if _is_spot(one)] for side in (others, own, wanted)]
    _check(quotas, names["spot-instances"], *map(_instances, spot))
    check_count(quotas, "instance-groups", len(own), len(wanted) - len(own))
    _check_volumes(quotas, {one.group: one.target for one in own}, wanted)
    present, asked = (sum(map(_lustre_tib, side)) for side in ([*others, *own], [*others, *wanted]))
    check_count(quotas, "lustre-capacity", present, asked - present)


def _demand(cluster_id: str | None, group: Group) -> Demand:
    return Demand(cluster_id or "", group.name, group.instance_types[0], group.target, group.spec["request"])


def _instances(demands: Iterable[Demand]) -> int:
    return sum(one.target for one in demands)


def _is_spot(demand: Demand) -> bool:
    return "Spot" in (demand.request.get("CapacityRequirements") or {})


def _lustre_tib(demand: Demand) -> int:
    """The file system of a restricted group, in whole TiB."""
    config = (demand.request.get("EnvironmentConfig") or {}).get("FSxLustreConfig") or {}
    return ceil(int(config.get("SizeInGiB", 0)) / 1024)


def _check_types(
    quotas: Mapping[str, int], others: Sequence[Demand], own: Sequence[Demand], wanted: Sequence[Demand]
) -> None:
    """On demand and Spot are quotas of their own for each type."""
    sums = [_by_quota(side) for side in (others, own, wanted)]
    for name in sorted(sums[2]):
        _check(quotas, name, *(side[name] for side in sums))


def _by_quota(demands: Iterable[Demand]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for one in demands:
        quota = catalog.spot_quota if _is_spot(one) else catalog.on_demand_quota
        sums[quota(one.instance_type).name] += one.target
    return sums


def _check_volumes(quotas: Mapping[str, int], before: Mapping[str, int], wanted: Sequence[Demand]) -> None:
    """What a lower quota has left behind stays; who adds an instance adds a volume of its size."""
    for one in wanted:
        if one.group not in before or one.target > before[one.group]:
            for storage in one.request.get("InstanceStorageConfigs") or ():
                size = (storage.get("EbsVolumeConfig") or {}).get("VolumeSizeInGB", 0)
                check_count(quotas, "volume-size", 0, size)


def _check(quotas: Mapping[str, int], name: str, others: int, own: int, wanted: int) -> None:
    limit = quotas.get(name)
    if limit is None or wanted <= own or others + wanted <= limit:
        return
    raise LimitExceeded(
        f"The account-level service limit '{name}' is {limit} Instances, with current utilization of {others + own} "
        f"Instances and a request delta of {wanted - own} Instances. Please use AWS Service Quotas to request an "
        "increase for this quota. If AWS Service Quotas is not available, contact AWS support to request an increase "
        "for this quota."
    )


async def locked(tx: Tx, scope: Scope) -> Mapping[str, int]:
    """The quotas that are set, locked: who counts after this counts alone."""
    return await capacity.quotas(tx, scope, lock=True)


def check_count(quotas: Mapping[str, int], key: str, present: int, added: int) -> None:
    """Refuse `added` more things than the quota of this key leaves room for; nothing is refused that adds none."""
    quota = catalog.quotas()[key]
    limit = quotas.get(quota.name)
    if limit is None or added <= 0 or present + added <= limit:
        return
    raise LimitExceeded(
        f"The account-level service limit '{quota.name}' is {limit} {quota.unit}, with current utilization of "
        f"{present} {quota.unit} and a request delta of {added} {quota.unit}. Please use AWS Service Quotas to request "
        "an increase for this quota, or ask for less."
    )
