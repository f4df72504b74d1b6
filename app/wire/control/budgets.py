"""The tree of budgets: who may claim which part of the GPUs, and how much in all (FS-1, FS-3, CT-10)."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from app.core.budget_plan import Wanted
from app.core.budget_shares import Share
from app.core.budget_tree import LONGEST_NAME, MOST_AMOUNT, MOST_BUDGETS, MOST_WEIGHT, ROOT, Change, Node, Period, Unit
from app.core.budget_tree import Limit as CoreLimit
from app.core.ratios import decimal, exact
from app.core.times import from_millis, to_iso
from app.usecases import budget_reports, budgets
from app.usecases.known_fleets import FleetOf, pool_name
from app.wire.control.vocabulary import STRICT, TEXT, ServiceOf, WorldOf

router = APIRouter(tags=["budgets"])
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, pattern=TEXT, examples=["team-a"])]
OfPath = Annotated[str, Path(max_length=LONGEST_NAME, pattern=TEXT)]
Weight = Annotated[int, Field(ge=0, le=MOST_WEIGHT, description="Its part of the parent's claim, over its siblings'.")]


class Limit(BaseModel):
    """At most so much may be charged to the budget and what is below it."""

    model_config = STRICT | {
        "json_schema_extra": {"examples": [{"amount": 10_000, "unit": "gpu-hours", "period": "month"}]}
    }
    amount: int = Field(ge=0, le=MOST_AMOUNT, description="GPU-hours, or millionths of a US dollar.")
    unit: Literal["gpu-hours", "micro-usd"] = "gpu-hours"
    period: Literal["month", "all"] = Field(default="month", description="A calendar month, UTC; or in all.")


Limits = Annotated[list[Limit], Field(max_length=4)]


class BudgetWanted(BaseModel):
    """A budget, split off its parent's claim."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"name": "team-a", "weight": 2}]}}
    name: Name
    parent: Name | None = Field(default=None, description="Left out: it is at the top.")
    weight: Weight
    limits: Limits = []


class BudgetTree(BaseModel):
    """All budgets of a world, in any order."""

    model_config = STRICT
    budgets: list[BudgetWanted] = Field(max_length=MOST_BUDGETS)


class BudgetChange(BaseModel):
    """Another weight, another parent (null: the top), or both."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"weight": 3}]}}
    weight: Weight | None = None
    parent: Name | None = None


class Shift(BaseModel):
    """Weight that goes to a sibling."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"to": "team-b", "weight": 1}]}}
    to: Name
    weight: int = Field(gt=0, le=MOST_WEIGHT)


class BudgetLimits(BaseModel):
    """The limits that it has from now on; none: nothing limits it."""

    model_config = STRICT
    limits: Limits


class Budget(BaseModel):
    """`fraction` is its weight over its siblings', `claim` the product of the fractions on its path: both exact."""

    name: str
    parent: str | None
    weight: int
    fraction: str = Field(examples=["2/3"])
    claim: str = Field(examples=["1/3"])
    is_leaf: bool = Field(description="Workloads are charged to leaves alone.")
    limits: list[Limit]


class BudgetShare(BaseModel):
    """A budget on a cluster now: the ratio decides whose work goes first, the lowest. GPU-time of the last seven days
    is in GPU-milliseconds; before the budget or the cluster was there it counts as if used by the claim."""

    cluster_arn: str | None = Field(description="Null of a managed pool.")
    pool: str | None = Field(
        default=None,
        description="The managed pool, with its project and region.",
        examples=["projects/111122223333/locations/us-central1/pool:custom_model_training_nvidia_h100_gpus"],
    )
    name: str
    used: int = Field(description="Funded GPU-time.")
    committed: int = Field(description="What protected work that runs will still use.")
    owed: int = Field(description="Its claim of the GPU-time that there was.")
    ratio: str | None = Field(examples=["0.981"], description="(used + committed) / owed; null without a claim.")
    claimed_gpus: int
    funded_gpus: int
    unfunded_gpus: int
    borrowed_gpus: int = Field(description="Funded ones beyond its claim.")
    waiting_gpus: int
    turn: int = Field(description="Its place among its siblings: whose turn is first has 1.")


class Budgets(BaseModel):
    budgets: list[Budget]
    shares: list[BudgetShare] = Field(description="Of the clusters and pools that were asked about, by budget.")


class Standing(BaseModel):
    """A limit, and what is left of it in its period on all clusters. `charged`, `reserved` (for protected time to come)
    and `left` are GPU-milliseconds, or micro-dollars of a limit in dollars."""

    limit: Limit
    charged: int
    reserved: int
    left: int
    per_hour: int = Field(description="What an hour costs of all that runs now and is charged.")
    met_at: str | None = Field(description="When the limit is met, if that goes on; null: not in this period.")
    ends_at: str | None = Field(description="When the period ends.")


class Day(BaseModel):
    day: str = Field(examples=["2026-01-31"], description="UTC, of the world's time.")
    gpu_milliseconds: int = Field(description="Funded GPU-time.")


class BurnDown(BaseModel):
    """A budget, what its limits leave, and what it and those below it were charged in the last 30 days."""

    budget: Budget
    limits: list[Standing]
    days: list[Day]


class Made(BaseModel):
    """A change of the tree: create, reweight, move, delete or limit."""

    number: int
    at: str
    kind: str
    name: str
    parent: str | None
    weight: int | None
    limits: list[Limit] | None


class Changes(BaseModel):
    changes: list[Made]


@router.get("/budgets", summary="The tree of budgets with its arithmetic")
async def read_budgets(
    service: ServiceOf,
    world: WorldOf,
    cluster: Annotated[
        str | None, Query(max_length=512, pattern=TEXT, description="Name, id or ARN; or a managed pool's name.")
    ] = None,
) -> Budgets:
    """Each budget stands below its parent, siblings by name."""
    nodes = await service.db.run(budgets.nodes, world)
    found = await service.db.run(budget_reports.shares_of, world, cluster) if cluster is not None else []
    shown = [_share(one, share) for one, shares in found for share in shares]
    return Budgets(budgets=[_shown(node) for node in nodes], shares=shown)


@router.post("/budgets", status_code=201, summary="Split a budget off its parent's claim")
async def create_budget(wanted: BudgetWanted, service: ServiceOf, world: WorldOf) -> Changes:
    one = wanted_of(wanted)
    made = await service.db.run(budgets.create, world, one.name, one.parent, one.weight, one.limits)
    return _told(made)


@router.put("/budgets", summary="Have these budgets and no others")
async def apply_budgets(
    tree: BudgetTree,
    service: ServiceOf,
    world: WorldOf,
    dry_run: Annotated[bool, Query(description="Only tell what would change.")] = False,
) -> Changes:
    """All of it or nothing; a second time nothing changes. Budgets that are not named are deleted."""
    wanted = [wanted_of(one) for one in tree.budgets]
    return _told(await service.db.run(budgets.apply, world, wanted, write=not dry_run))


@router.get("/budgets/{name}", summary="What a budget was charged, and what its limits leave")
async def read_budget(name: OfPath, service: ServiceOf, world: WorldOf) -> BurnDown:
    found = await service.db.run(budget_reports.report, world, name)
    return BurnDown(
        budget=_shown(found.node),
        limits=[_standing(one) for one in found.limits],
        days=[Day(day=to_iso(from_millis(day))[:10], gpu_milliseconds=charged) for day, charged in found.days],
    )


def _standing(one: budget_reports.Standing) -> Standing:
    return Standing(
        limit=_limit(one.limit),
        charged=one.charged,
        reserved=one.reserved,
        left=one.left,
        per_hour=one.per_hour,
        met_at=None if one.met_at is None else to_iso(from_millis(one.met_at)),
        ends_at=None if one.ends_at is None else to_iso(from_millis(one.ends_at)),
    )


@router.patch("/budgets/{name}", summary="Give a budget another weight or parent")
async def change_budget(name: OfPath, change: BudgetChange, service: ServiceOf, world: WorldOf) -> Changes:
    """What was used before stays where it was used."""
    parent = (change.parent or ROOT) if "parent" in change.model_fields_set else None
    return _told(await service.db.run(budgets.change, world, name, parent, change.weight))


@router.post("/budgets/{name}/shift", summary="Move weight from a budget to a sibling")
async def shift_budget(name: OfPath, shift: Shift, service: ServiceOf, world: WorldOf) -> Changes:
    return _told(await service.db.run(budgets.shift, world, name, shift.to, shift.weight))


@router.put("/budgets/{name}/limits", summary="Limit what may be charged to a budget")
async def limit_budget(name: OfPath, given: BudgetLimits, service: ServiceOf, world: WorldOf) -> Changes:
    limits = [_limit_of(one) for one in given.limits]
    return _told(await service.db.run(budgets.set_limits, world, name, limits))


@router.delete("/budgets/{name}", summary="Delete a budget")
async def delete_budget(name: OfPath, service: ServiceOf, world: WorldOf) -> Changes:
    """Its use stays with its parent. Refused while budgets are below it or workloads are charged to it."""
    return _told(await service.db.run(budgets.delete, world, name))


def wanted_of(one: BudgetWanted) -> Wanted:
    return Wanted(one.name, one.parent or ROOT, one.weight, tuple(_limit_of(limit) for limit in one.limits))


def _limit_of(limit: Limit) -> CoreLimit:
    return CoreLimit(limit.amount, Unit(limit.unit), Period(limit.period))


def _limit(limit: CoreLimit) -> Limit:
    return Limit(amount=limit.amount, unit=limit.unit.value, period=limit.period.value)


def _shown(node: Node) -> Budget:
    return Budget(
        name=node.name,
        parent=node.parent or None,
        weight=node.weight,
        fraction=exact(node.fraction),
        claim=exact(node.claim),
        is_leaf=node.is_leaf,
        limits=[_limit(one) for one in node.limits],
    )


def _share(of: FleetOf, share: Share) -> BudgetShare:
    facts = {name: getattr(share, name) for name in Share.__slots__ if name != "ratio"}
    pool = pool_name(of.scope, of.pool) if of.pool else None
    return BudgetShare(
        cluster_arn=of.arn, pool=pool, ratio=None if share.ratio is None else decimal(share.ratio, 3), **facts
    )


def _told(made: list[Change]) -> Changes:
    return Changes(changes=[_change(one) for one in made])


def _change(one: Change) -> Made:
    step = one.kind.value
    return Made(
        number=one.number,
        at=to_iso(from_millis(one.at)),
        kind=step,
        name=one.name,
        parent=one.parent if step in ("create", "move") and one.parent else None,
        weight=one.weight if step in ("create", "reweight") else None,
        limits=[_limit(limit) for limit in one.limits] if step == "limit" else None,
    )
