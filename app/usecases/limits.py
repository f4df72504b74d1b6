"""The account's quotas at work: what a request wants in all must stay within them (CT-4)."""

from collections import Counter
from collections.abc import Mapping, Sequence

from app import catalog
from app.core.cluster import Group
from app.core.errors import LimitExceeded
from app.core.scope import Scope
from app.store import capacity
from app.store.db import Tx


async def check(tx: Tx, scope: Scope, cluster_id: str | None, groups: Sequence[Group]) -> None:
    """Refuse groups that would pass a quota; it counts wanted instances, not running ones."""
    quotas = await capacity.quotas(tx, scope, lock=True)
    if not quotas:
        return
    before = await capacity.targets(tx, scope)
    own = {kind: count for (owner, kind), count in before.items() if owner == cluster_id}
    others: Counter[str] = Counter()
    for (owner, kind), count in before.items():
        if owner != cluster_id:
            others[kind] += count
    wanted: Counter[str] = Counter()
    for group in groups:
        if group.delete_requested_at is None:
            wanted[group.instance_types[0]] += group.target
    _check_types(quotas, others, own, wanted)
    known = catalog.quotas()
    _check(quotas, known["instances-per-cluster"].name, 0, sum(own.values()), wanted.total())
    _check(quotas, known["instances"].name, others.total(), sum(own.values()), wanted.total())


def _check_types(
    quotas: Mapping[str, int], others: Mapping[str, int], own: Mapping[str, int], wanted: Mapping[str, int]
) -> None:
    for kind, count in sorted(wanted.items()):
        _check(quotas, catalog.on_demand_quota(kind).name, others.get(kind, 0), own.get(kind, 0), count)


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
