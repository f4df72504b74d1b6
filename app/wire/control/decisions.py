"""What schedulers have decided, each with its code and numbers (FS-13)."""

from fractions import Fraction
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from app.core.ratios import decimal, exact
from app.core.scheduling.budgets import Ratio as CoreRatio
from app.core.times import from_millis, to_iso
from app.usecases import fleet_policies
from app.usecases.fleet_policies import Decided
from app.wire.control.vocabulary import TEXT, ServiceOf, WorldOf

router = APIRouter(tags=["workloads"])
Kind = Literal[
    "admit",
    "preempt",
    "move",
    "requeue",
    "fill",
    "reserve",
    "unreserve",
    "unfund",
    "fund",
    "drained",
    "release",
    "warn",
    "lost",
]
Cluster = Annotated[str | None, Query(max_length=512, pattern=TEXT, description="Name, id or ARN.")]
_INSTANTS = ("due", "protected_until", "since")
_KNOWN = ("at", "workload", "code", "victims", "places", "standing", *_INSTANTS)


class Ratio(BaseModel):
    """How much of its share a budget has had: (use + commitments) over what it was entitled to."""

    budget: str
    ratio: str = Field(description="Exact.", examples=["21/20"])
    decimal: str | None = Field(description="The same, to four places; null without a share.", examples=["1.0500"])


class Victim(BaseModel):
    """Who leaves, and when its grace is over."""

    workload: str
    until: str


class DecisionRecord(BaseModel):
    """A decision; what its kind does not have is null."""

    cluster_arn: str | None
    cluster_name: str | None
    pool: str | None = Field(description="The managed pool, of one.")
    number: int = Field(description="On its fleet, from 1.")
    at: str
    kind: str = Field(examples=["preempt"])
    code: str = Field(examples=["fair-share"])
    workload: str | None = Field(description="Whom it is about, or for whom others leave.")
    places: dict[str, int] | None = Field(default=None, description="How many replicas on each host.")
    victims: list[Victim] | None = None
    ratios: list[Ratio] | None = Field(
        default=None, description="Of the two budgets below the lowest common ancestor, the preemptor's first."
    )
    due: str | None = Field(default=None, description="When it takes effect; of a reservation, T.")
    since: str | None = None
    protected_until: str | None = None
    facts: dict[str, Any] = Field(default={}, description="What else belongs to its kind.")


class Decisions(BaseModel):
    decisions: list[DecisionRecord]


@router.get("/decisions", summary="What schedulers decided: the newest, or of one fleet those behind a number")
async def read_decisions(
    service: ServiceOf,
    world: WorldOf,
    cluster: Cluster = None,
    workload: Annotated[
        str | None, Query(max_length=128, pattern=TEXT, description="That it concerns, also as a victim.")
    ] = None,
    kind: Annotated[list[Kind] | None, Query(description="Of these kinds.")] = None,
    after: Annotated[int | None, Query(ge=0, le=2**62, description="Of one fleet, behind this number.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Decisions:
    """The oldest first."""
    kinds = tuple(kind or ())
    found = await service.db.run(fleet_policies.decisions, world, cluster, workload, kinds, after, limit)
    return Decisions(decisions=[decision(one) for one in found])


def decision(one: Decided) -> DecisionRecord:
    body = one.body
    standing = body.get("standing")
    return DecisionRecord(
        cluster_arn=one.of.arn,
        cluster_name=one.of.cluster,
        pool=one.of.pool,
        number=one.seq,
        at=moment(one.at),
        kind=one.kind,
        code=one.code,
        workload=one.workload,
        places=dict(body["places"]) if "places" in body else None,
        victims=[Victim(workload=name, until=moment(at)) for name, at in body["victims"]]
        if "victims" in body
        else None,
        ratios=None if standing is None else [_side(standing, side) for side in ("preemptor", "victim")],
        facts={name: value for name, value in body.items() if name not in _KNOWN},
        **{name: moment(body[name]) for name in _INSTANTS if name in body},
    )


def _side(standing: dict[str, Any], side: str) -> Ratio:
    return ratio(standing[side], tuple(standing[f"{side}_ratio"]))


def ratio(budget: str, value: CoreRatio) -> Ratio:
    """Reduced; its decimal is rounded half up."""
    over, under = value
    if not under:
        return Ratio(budget=budget, ratio=f"{over}/0", decimal=None)
    share = Fraction(over, under)
    return Ratio(budget=budget, ratio=exact(share), decimal=decimal(share, 4))


def moment(milliseconds: int) -> str:
    return to_iso(from_millis(milliseconds))
