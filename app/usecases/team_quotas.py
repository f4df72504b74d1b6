"""What a cluster's compute quotas and scheduler config say to its fleet's scheduler (FS-17)."""

import re
from collections.abc import Collection, Iterable

from app import catalog
from app.core.allocation import Allocation, Amount
from app.core.cluster import Cluster
from app.core.governance import Kind
from app.core.intent import EKS
from app.core.scheduling.quota import Quota
from app.core.scheduling.quotas import set_quotas
from app.core.scheduling.state import State
from app.core.scope import Scope
from app.core.times import WorldTime, from_millis
from app.store import governance as rows
from app.store.db import Tx
from app.usecases.governance import InForce, active

_SLICES = 7
"""Compute slices of a GPU that is split; a profile's name begins with how many it has."""
_PROFILE = re.compile(r"mig-(\d+)g\.")
_SUFFIX = "-priority"
"""A workload's label is the name of its class and this."""


async def teams(tx: Tx, scope: Scope, cluster_id: str, now: WorldTime) -> list[str]:
    """The teams that have a quota on the cluster, or are about to; there, they stand in for the world's budgets."""
    found = await rows.living(tx, scope, Kind.QUOTA, cluster_id, now)
    return sorted({one.team for one in found if one.team is not None})


async def refresh(tx: Tx, scope: Scope, cluster: Cluster, state: State, types: Collection[str], now: int) -> bool:
    """Split the fleet by the quotas in force; whether that is news to its state.

    A fleet that has been split by the world's budgets stays so: creating a quota there is refused.
    """
    if cluster.orchestrator != EKS or state.applied:
        return False
    current = await active(tx, scope, cluster.cluster_id, from_millis(now))
    quotas = quotas_in_force(current, types)
    known = {quota.team for quota in quotas}
    coming = [team for team in await teams(tx, scope, cluster.cluster_id, from_millis(now)) if team not in known]
    quotas += [Quota(team, 0, lends=False, weight=0, preempts=False) for team in coming]
    if not quotas and state.quotas is None:
        return False
    before = state.quotas
    set_quotas(state, quotas, now, fair_share=has_fair_share(current), idle_sharing=shares_idle(current))
    return state.quotas != before


def quotas_in_force(current: InForce, types: Collection[str]) -> list[Quota]:
    """The quotas that are active, one a team, in GPUs of a fleet whose nodes are of these instance types."""
    return [_quota(allocation, types) for allocation in current.allocations if allocation.enabled]


def has_fair_share(current: InForce) -> bool:
    """Without a scheduler config borrowers are served first come, first served."""
    return current.policy is not None and current.policy.fair_share


def shares_idle(current: InForce) -> bool:
    """Whether GPUs that no quota claims may be borrowed: if a scheduler config says so."""
    return current.policy is not None and bool(current.policy.idle_sharing)


def priority(current: InForce, label: str | None) -> int:
    """The weight of the priority class that a workload's label names; 0 for none and for an unknown one."""
    classes = dict(current.policy.priorities) if current.policy is not None else {}
    return classes.get((label or "").removesuffix(_SUFFIX), 0)


def _quota(allocation: Allocation, types: Collection[str]) -> Quota:
    own = _by_type(allocation.amounts, types)
    return Quota(
        team=allocation.team,
        gpus=sum(own.values()) // _SLICES,
        lends=allocation.lends,
        borrow_limit=_limit(allocation, own, types) if allocation.borrows else 0,
        weight=allocation.weight,
        preempts=allocation.preempts_own,
    )


def _limit(allocation: Allocation, own: dict[str, int], types: Collection[str]) -> int:
    """An absolute limit holds for the instance types that it names, the percentage for the quota's others."""
    absolute = _by_type(allocation.borrow_limits, types)
    percent = sum(slices for name, slices in own.items() if name not in absolute)
    return (sum(absolute.values()) * 100 + percent * allocation.borrow_limit) // (100 * _SLICES)


def _by_type(amounts: Iterable[Amount], types: Collection[str]) -> dict[str, int]:
    """Slices of GPUs; vCPU and memory alone come to none."""
    found: dict[str, int] = {}
    for amount in amounts:
        if amount.instance_type in types:
            found[amount.instance_type] = found.get(amount.instance_type, 0) + _slices(amount)
    return found


def _slices(amount: Amount) -> int:
    whole = amount.accelerators + amount.instances * catalog.instance_type(amount.instance_type).accelerators
    if amount.partition is None:
        return whole * _SLICES
    profile, number = amount.partition
    known = _PROFILE.match(profile)
    return whole * _SLICES + (int(known[1]) * number if known else 0)
