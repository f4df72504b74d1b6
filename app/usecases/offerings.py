"""What training plans could be bought, at which fee. A search remembers nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app import catalog
from app.core import offerings
from app.core.errors import Invalid, LimitExceeded, NotFound
from app.core.offerings import ExtensionOffer, Machines, Offer, Wanted
from app.core.plans import TARGETS, Plan, name_of
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import capacity, plans
from app.store.db import Tx
from app.usecases.clusters import world_of

MOST_IN_SERVERS = 256
"""The most instances of one reserved capacity that the service's model can tell of."""


@dataclass(frozen=True, slots=True)
class Question:
    """What SearchTrainingPlanOfferings asks; None where it says nothing."""

    instance_type: str | None
    count: int | None
    ultra_type: str | None
    ultra_count: int | None
    targets: Sequence[str]
    hours: int | None
    earliest: WorldTime | None
    latest_end: WorldTime | None
    plan_arn: str | None


class Quoted(NamedTuple):
    """An offering with its id and its fee in micro-dollars."""

    offering_id: str
    offer: Offer
    fee: int


class QuotedExtension(NamedTuple):
    """An extension offering with its id, its fee in micro-dollars, and its zone."""

    offering_id: str
    offer: ExtensionOffer
    fee: int
    zone: str


def owner_of(scope: Scope) -> str:
    """Whom an offering was made to: no id is good for another account or region."""
    return f"{scope.account}/{scope.region}"


async def search(tx: Tx, scope: Scope, question: Question) -> list[Quoted]:
    """What could be bought; more instances than the account's quota allows are a refusal, not an empty list."""
    world = await world_of(tx, scope)
    quotas = await capacity.quotas(tx, scope)
    zones = [zone.name for zone in catalog.zones(scope.region)]
    found: list[Quoted] = []
    for machines in _machines(question):
        check_quota(quotas, catalog.reserved_quota(machines.instance_type).name, 0, machines.count)
        if not _sold(machines):
            continue
        for target in dict.fromkeys(question.targets or TARGETS):
            wanted = Wanted(machines, target, question.hours, question.earliest, question.latest_end)
            for offer in offerings.offers(world.seed, scope.region, zones, wanted, world.now):
                offering_id = offerings.offer_id(world.seed, owner_of(scope), offer)
                found.append(Quoted(offering_id, offer, fee_of(scope.region, offer)))
    return found


def _machines(question: Question) -> list[Machines]:
    """The kinds of machines that the question is about; instances of UltraServers are sold in whole UltraServers."""
    kinds = catalog.reservable() if question.instance_type is None else (question.instance_type,)
    servers = catalog.ultra_servers()
    in_servers = {server.instance_type for server in servers.values()}
    found: list[Machines] = []
    if question.ultra_type is None and question.ultra_count is None:
        count = 1 if question.count is None else question.count
        found += [Machines(kind, count) for kind in kinds if kind not in in_servers]
    for name, server in servers.items():
        whole = _whole_servers(question, server.instances)
        if server.instance_type in kinds and question.ultra_type in (None, name) and whole:
            found.append(Machines(server.instance_type, whole * server.instances, name, whole))
    return found


def _whole_servers(question: Question, instances: int) -> int:
    """How many UltraServers of so many instances are asked for; 0 for a part of one, or if the counts disagree."""
    if question.count is None:
        return question.ultra_count or 1
    whole, odd = divmod(question.count, instances)
    return 0 if odd or question.ultra_count not in (None, whole) else whole


def _sold(machines: Machines) -> bool:
    if machines.ultra_count:
        return machines.count <= MOST_IN_SERVERS
    return machines.count in catalog.plan_sizes()


def fee_of(region: str, offer: Offer) -> int:
    """The upfront fee in micro-dollars."""
    price = catalog.upfront_fee(offer.machines.instance_type, region).micro_usd_per_day
    return offerings.fee(price, offer.machines.count, sum(block.milliseconds for block in offer.blocks))


def check_quota(quotas: Mapping[str, int], name: str, used: int, more: int) -> None:
    """Refuse what would pass the quota `name`, if the account has it."""
    limit = quotas.get(name)
    if limit is not None and used + more > limit:
        raise LimitExceeded(
            f"The account-level service limit '{name}' is {limit}, with current utilization of {used} and a request "
            f"delta of {more}. Please use AWS Service Quotas to request an increase for this quota."
        )


async def search_extensions(tx: Tx, scope: Scope, question: Question) -> list[QuotedExtension]:
    """More time for the plan that the question names, if it is of use still."""
    world = await world_of(tx, scope)
    plan = await plans.get(tx, scope, name_of(scope, question.plan_arn or ""))
    if plan is None:
        raise Invalid(unknown(question.plan_arn or "").message)
    if plan.status(world.now) not in ("Scheduled", "Active"):
        return []
    offered = offerings.extension_offers(
        plan.name, plan.ends_at, offerings.extension_days(question.hours), question.latest_end
    )
    owner = owner_of(scope)
    return [
        QuotedExtension(offerings.extension_id(world.seed, owner, one), one, extension_fee(scope, plan, one), plan.zone)
        for one in offered
    ]


def extension_fee(scope: Scope, plan: Plan, offer: ExtensionOffer) -> int:
    price = catalog.upfront_fee(plan.instance_type, scope.region).micro_usd_per_day
    return offerings.fee(price, plan.total, offerings.Block(offer.starts_at, offer.ends_at).milliseconds)


def unknown(name_or_arn: str) -> NotFound:
    return NotFound(
        f"Training plan '{name_or_arn}' not found. ListTrainingPlans shows the plans of this account and region."
    )
