"""Training plans: buy, extend, look at. The clock alone moves a plan's status."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from app import catalog
from app.core import offerings
from app.core.errors import InUse, Invalid, NotFound
from app.core.faults import Rule, Subject
from app.core.ids import cluster_arn
from app.core.offerings import Machines, Offer
from app.core.plans import Extension, Plan, Reserved, name_of, plan_arn, reservations, reserved_arn
from app.core.scope import Scope
from app.core.times import WorldTime, after
from app.core.world import World
from app.store import capacity, clusters, plans, tags
from app.store.db import Tx
from app.usecases import failing, guests, reserving
from app.usecases.clusters import hold_world, must_lock, world_of
from app.usecases.offerings import check_quota, extension_fee, fee_of, owner_of, unknown
from app.usecases.provisioning import Policy

DECLINED = "The upfront payment was declined, so nothing was reserved. Search offerings again and buy another plan."


class Seen(NamedTuple):
    """A plan, how much of it is in use, and the time of its world, on which its status depends."""

    plan: Plan
    uses: plans.Uses
    now: WorldTime
    seed: int

    @property
    def alive(self) -> bool:
        """True while its machines are, or will be, there."""
        return self.plan.status(self.now) in ("Scheduled", "Active")

    def held(self, one: Reserved) -> int:
        return sum(use.held for (owner, _), use in self.uses.items() if owner == one.reservation_id)

    def unhealthy(self, one: Reserved) -> int:
        return sum(use.unhealthy for (owner, _), use in self.uses.items() if owner == one.reservation_id)

    def of_server(self, one: Reserved, number: int) -> plans.Use:
        return self.uses.get((one.reservation_id, number), plans.Use(0, 0))


async def create(
    tx: Tx, scope: Scope, name: str, offering_id: str, spares: int | None, given: Mapping[str, str]
) -> str:
    """Buy what was offered, charged at once; the new plan's ARN."""
    world = await hold_world(tx, scope)
    offer = offerings.read_offer(world.seed, owner_of(scope), offering_id)
    if offer is None or offer.blocks[0].starts_at <= world.now:
        raise NotFound(
            f"Training plan offering '{offering_id}' "
            + ("was never made to this account and region." if offer is None else "is no longer available.")
            + " Call SearchTrainingPlanOfferings and use an id of its answer."
        )
    machines = offer.machines
    spares = _spares(machines, spares)
    struck = await _payment(tx, scope, world, "CreateTrainingPlan", name, machines.instance_type)
    quotas = await capacity.quotas(tx, scope, lock=True)
    if quotas:
        used = await plans.live(tx, scope, world.now)
        check_quota(quotas, catalog.quotas()["training-plans"].name, used[""], 1)
        reserved = catalog.reserved_quota(machines.instance_type).name
        check_quota(quotas, reserved, used.get(machines.instance_type, 0), machines.count)
    plan = _bought(scope, world, name, offer, spares, struck)
    if not await plans.insert(tx, scope, plan):
        raise InUse(f"Training plan '{name}' already exists in this account and region. Choose another name.")
    arn = plan_arn(scope.region, scope.account, name)
    if given:
        await tags.put(tx, scope, arn, given)
    return arn


def _spares(machines: Machines, asked: int | None) -> int:
    """Spare instances for each UltraServer, 1 by default; plans of single instances have none."""
    if not machines.ultra_count:
        if asked:
            raise Invalid("SpareInstanceCountPerUltraServer needs an offering of UltraServers. Leave it out.")
        return 0
    most = machines.count // machines.ultra_count - 1
    if asked is not None and asked > most:
        raise Invalid(f"SpareInstanceCountPerUltraServer must be at most {most} for {machines.ultra_type}.")
    return 1 if asked is None else asked


def _bought(scope: Scope, world: World, name: str, offer: Offer, spares: int, struck: Rule | None) -> Plan:
    settles_at = after(world.now, world.timings.delays["payment"])
    machines = offer.machines
    return Plan(
        name=name,
        target=offer.target,
        instance_type=machines.instance_type,
        total=machines.count,
        ultra_type=machines.ultra_type,
        ultra_count=machines.ultra_count,
        spares=spares,
        zone=offer.zone,
        created_at=world.now,
        settles_at=settles_at,
        declined_at=settles_at if struck else None,
        failure=(struck.message or DECLINED) if struck else None,
        fee=fee_of(scope.region, offer),
        fee_evidence=catalog.upfront_fee(machines.instance_type, scope.region).evidence,
        starts_at=offer.blocks[0].starts_at,
        ends_at=offer.blocks[-1].ends_at,
        reserved=reservations(world.seed, owner_of(scope), name, offer.blocks),
    )


async def _payment(tx: Tx, scope: Scope, world: World, operation: str, name: str, kind: str) -> Rule | None:
    """The `internal-error` that strikes the payment of this operation, if any."""
    subject = Subject(scope.account, scope.region, instance_type=kind, logical_id=name, operation=operation)
    [struck] = await failing.strike(tx, world, [subject])
    return struck


async def extend(tx: Tx, scope: Scope, offering_id: str, policy: Policy) -> tuple[Plan, list[Extension], WorldTime]:
    """Buy more time; plan, all its extensions, and the world's time."""
    world = await hold_world(tx, scope)
    offer = offerings.read_extension(world.seed, owner_of(scope), offering_id)
    if offer is None:
        raise _no_extension(offering_id, "was never made to this account and region")
    arn = plan_arn(scope.region, scope.account, offer.plan)
    holders = await _lock_holders(tx, scope, arn, policy)
    known = await plans.get(tx, scope, offer.plan)
    if known is None:
        raise _no_extension(offering_id, "is no longer available")
    struck = await _payment(tx, scope, world, "ExtendTrainingPlan", known.name, known.instance_type)
    plan = (await plans.lock(tx, scope, [offer.plan])).get(offer.plan)  # behind the fault rules, as in a pass
    if plan is None or plan.ends_at != offer.starts_at or plan.status(world.now) not in ("Scheduled", "Active"):
        raise _no_extension(offering_id, "is no longer available")
    before = await plans.extensions(tx, scope, plan.name)
    extension = Extension(
        number=len(before) + 1,
        offering_id=offering_id,
        extended_at=world.now,
        starts_at=offer.starts_at,
        ends_at=offer.ends_at,
        declined_at=world.now if struck else None,
        fee=extension_fee(scope, plan, offer),
        fee_evidence=catalog.upfront_fee(plan.instance_type, scope.region).evidence,
    )
    await plans.extend(tx, scope, plan, extension)
    if not struck:
        for cluster_id in holders:
            await reserving.wake(tx, scope, arn, cluster_id, world.now)
    return plan, [*before, extension], world.now


async def _lock_holders(tx: Tx, scope: Scope, arn: str, policy: Policy) -> list[str]:
    """The clusters with a group on the plan, locked before the plan is, their past done with the plan as it was."""
    holders = sorted(await plans.holders(tx, scope, arn))
    # All of them, and their jobs, before the past of any is done, which locks fault rules and pools.
    locked = [await clusters.lock(tx, scope, cluster_arn(scope.region, scope.account, one)) for one in holders]
    await guests.hold_all(tx, scope, [one.cluster for one in locked if one is not None])
    there = []
    for cluster_id in holders:
        with suppress(NotFound):  # deleted since it was read
            await must_lock(tx, scope, cluster_arn(scope.region, scope.account, cluster_id), policy)
            there.append(cluster_id)
    return there


def _no_extension(offering_id: str, why: str) -> NotFound:
    return NotFound(
        f"Training plan extension offering '{offering_id[:256]}' {why}. Call SearchTrainingPlanOfferings with the "
        "TrainingPlanArn and use an id of its answer."
    )


async def describe(tx: Tx, scope: Scope, name_or_arn: str) -> Seen:
    world = await world_of(tx, scope)
    plan = await plans.get(tx, scope, name_of(scope, name_or_arn))
    if plan is None:
        raise unknown(name_or_arn)
    return Seen(plan, await _uses(tx, scope, [plan]), world.now, world.seed)


async def describe_reserved(tx: Tx, scope: Scope, arn: str) -> tuple[Seen, Reserved]:
    """The plan that owns the reserved capacity, and the reserved capacity."""
    name, reservation_id = None, arn.rpartition("/")[2]
    if arn == reserved_arn(scope.region, scope.account, reservation_id):
        name = await plans.owner(tx, scope, reservation_id)
    if name is None:
        await world_of(tx, scope)
        raise NotFound(f"Reserved capacity '{arn}' not found. DescribeTrainingPlan shows those of a plan.")
    seen = await describe(tx, scope, name)
    return seen, next(one for one in seen.plan.reserved if one.reservation_id == reservation_id)


async def page(tx: Tx, scope: Scope, **question: Any) -> list[Seen]:
    """A page of ListTrainingPlans."""
    world = await world_of(tx, scope)
    found = await plans.page(tx, scope, world.now, **question)
    uses = await _uses(tx, scope, found)
    return [Seen(plan, uses, world.now, world.seed) for plan in found]


async def history(tx: Tx, scope: Scope, arn: str, behind: int, limit: int) -> tuple[Seen, list[Extension]]:
    """A page of the plan's extensions, oldest first."""
    seen = await describe(tx, scope, arn)
    return seen, await plans.extensions(tx, scope, seen.plan.name, behind, limit)


async def _uses(tx: Tx, scope: Scope, found: Sequence[Plan]) -> plans.Uses:
    ids = [one.reservation_id for plan in found for one in plan.reserved]
    return await plans.uses(tx, scope, ids) if ids else {}
