"""Clusters on training plans: what a group's plan must be, and who is woken when a plan gets more time."""

from collections.abc import Iterable, Mapping, Sequence

from app.core.cluster import Group
from app.core.errors import Invalid
from app.core.plans import NOT_APPLICABLE, name_of
from app.core.reserving import Reserve, check_plan, check_room, placed
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import clusters, plans, worlds
from app.store.db import Tx


async def reserve(tx: Tx, scope: Scope, groups: Mapping[str, Group]) -> Reserve:
    """The plans of these groups, locked: after the cluster, the fault rules and the pools."""
    arns = arns_of(groups.values())
    if not arns:
        return Reserve()
    found = await plans.lock(tx, scope, [name_of(scope, arn) for arn in arns])
    known = {arn: found[name] for arn in arns if (name := name_of(scope, arn)) in found}
    uses = await plans.uses(tx, scope, [one for plan in known.values() for one in plan.reservation_ids])
    return Reserve(known, {key: use.held for key, use in uses.items()})


def arns_of(groups: Iterable[Group]) -> list[str]:
    """The plans of the groups."""
    return sorted({group.training_plan for group in groups if group.training_plan is not None})


async def check(
    tx: Tx, scope: Scope, cluster_id: str | None, before: Mapping[str, Group], groups: Sequence[Group], now: WorldTime
) -> list[Group]:
    """The groups, those on plans placed where the plan is; refused is what a plan cannot serve.

    A group that only shrinks, or is left as it was, is not looked at: its plan may be over.
    """
    staying = [group for group in groups if group.delete_requested_at is None]
    growing = {group.name for group in staying if _grows(before.get(group.name), group)}
    arns = arns_of([group for group in staying if group.name in growing])
    if not arns:
        return list(groups)
    found = await plans.lock(tx, scope, [name_of(scope, arn) for arn in arns])
    checked = []
    for group in groups:
        arn = group.training_plan
        if arn is not None and group.name in growing:
            plan = found.get(name_of(scope, arn))
            group = placed(group, plan)
            check_plan(group, arn, plan, now)
        checked.append(group)
    others = await plans.wanted(tx, scope, cluster_id, arns)
    for arn in arns:
        own = sum(group.target for group in staying if group.training_plan == arn)
        check_room(arn, found[name_of(scope, arn)], others.get(arn, 0) + own)
    return checked


def _grows(old: Group | None, group: Group) -> bool:
    """True for a group that asks its plan for more; an update may not take the plan from under its instances."""
    if old is None or old.training_plan == group.training_plan:
        return group.training_plan is not None and (old is None or group.target > old.target)
    if old.slots:
        raise Invalid(
            f"Instance group '{group.name}' has instances, so its TrainingPlanArn cannot be changed. Scale the group "
            "to 0 first, or add another group."
        )
    return group.training_plan is not None


async def statuses(tx: Tx, scope: Scope, arns: Mapping[str, str]) -> dict[str, str]:
    """The status of each group's plan, by group, as `arns` has the plans."""
    world = await worlds.read(tx, scope.world)
    if world is None:
        return {}
    found = await plans.read(tx, scope, sorted({name_of(scope, arn) for arn in arns.values()}))
    told = {}
    for group, arn in arns.items():
        plan = found.get(name_of(scope, arn))
        told[group] = NOT_APPLICABLE if plan is None else plan.status(world.now)
    return told


async def wake(tx: Tx, scope: Scope, arn: str, cluster_id: str, now: WorldTime) -> None:
    """The plan has more time: the locked cluster looks at it anew, and its nodes that wait for the plan try at once."""
    await plans.wake(tx, scope, cluster_id, [arn], now)
    await clusters.hurry(tx, scope, cluster_id, now)
