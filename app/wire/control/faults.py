"""Rules by which things go wrong (CT-3)."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from app.core.chance import MILLION
from app.core.effects import LATENCY
from app.core.errors import Invalid
from app.core.faults import Rule
from app.core.times import to_iso
from app.usecases import fault_aims, faults
from app.wire import emulated
from app.wire.control.vocabulary import (
    MOST_NODES,
    STRICT,
    TEXT,
    Account,
    InstanceType,
    Instant,
    Region,
    ServiceOf,
    WorldOf,
)

router = APIRouter(tags=["faults"])
Name = Annotated[str, Field(min_length=1, max_length=256, pattern=TEXT)]
Count = Annotated[int, Field(ge=1, le=MOST_NODES)]
RuleId = Annotated[str, Path(max_length=64, pattern=TEXT)]
Code = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$", examples=["ThrottlingException"])]
Api = Annotated[str, Field(max_length=64, pattern=TEXT, examples=["sagemaker"])]
Replica = Annotated[str, Field(pattern="^workerpool[0-3]-[0-9]{1,5}$", examples=["workerpool0-0"])]
Seconds = Annotated[float, Field(gt=0, le=MOST_NODES)]


class FaultRule(BaseModel):
    """What happens, to whom, and how often. What is left out matches all."""

    model_config = STRICT | {
        "json_schema_extra": {"examples": [{"effect": "script-failed", "group": "workers", "times": 2}]}
    }
    effect: str = Field(max_length=64, pattern=TEXT)
    account: Account | None = None
    region: Region | None = None
    cluster: Name | None = Field(default=None, description="Name or ARN.")
    group: Name | None = None
    instance_type: InstanceType | None = None
    node: Name | None = Field(default=None, description="Logical id of a node; of one that runs, also its instance id.")
    attempt: Count | None = Field(default=None, description="The node's n-th launch, or the job's n-th attempt.")
    job: Name | None = Field(default=None, description="Id or display name of a job.")
    replica: Replica | None = Field(default=None, description="A job's worker.")
    operation: Name | None = Field(default=None, description="Operation of the API, as CreateCluster.")
    api: Api | None = Field(default=None, description="One of: sagemaker, ce, vertex, storage, logging.")
    code: Code | None = Field(default=None, description="Which error, fault or kind it is.")
    message: Annotated[str, Field(min_length=1, max_length=1024, pattern=TEXT)] | None = Field(
        default=None, description="The text of the error."
    )
    probability: float | None = Field(
        default=None, ge=0, le=1, description="To a millionth; drawn from the world's seed."
    )
    every: Count | None = Field(default=None, description="Each n-th match.")
    times: Count | None = Field(default=None, description="At most so often.")
    after: Instant | None = Field(default=None, description="Not before then.")
    before: Instant | None = Field(default=None, description="Not from then on.")
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = Field(
        default=None, description="What chance is drawn from, in place of the world's seed."
    )
    seconds: Seconds | None = Field(
        default=None,
        description="World time, whole: how slow a boot-slow is, how long a node runs until node-hardware or "
        "node-degraded, or a job's worker until what befalls it. Wall time, to a millisecond: api-latency.",
    )


class Fault(BaseModel):
    """A rule, how often it matched and how often it struck."""

    id: str
    effect: str
    account: str | None
    region: str | None
    cluster: str | None
    group: str | None
    instance_type: str | None
    node: str | None
    attempt: int | None
    job: str | None
    replica: str | None
    operation: str | None
    api: str | None
    code: str | None
    message: str | None
    probability: float
    every: int
    times: int | None
    after: str | None
    before: str | None
    seconds: int | float | None
    seed: int | None
    matches: int
    hits: int


class Faults(BaseModel):
    rules: list[Fault]


class FaultList(BaseModel):
    """The rules to have, in their order."""

    model_config = STRICT
    rules: list[FaultRule] = Field(max_length=1000)


class Chaos(BaseModel):
    """From what chaos is drawn."""

    model_config = STRICT
    seed: int = Field(ge=0, lt=2**63)


class Hit(BaseModel):
    """A rule struck a launch, a node, a request, a job or its worker: the rule's `number`-th hit.

    The `logical_id` of a worker is its job's id and its name.
    """

    rule_id: str
    number: int
    effect: str
    at: str
    account: str
    region: str
    cluster: str
    group: str
    logical_id: str
    attempt: int
    operation: str


class Hits(BaseModel):
    hits: list[Hit]


class Removed(BaseModel):
    removed: int


@router.get("/faults", summary="The rules, and how often each has struck")
async def list_faults(service: ServiceOf, world: WorldOf) -> Faults:
    return Faults(rules=[_shown(rule) for rule in await service.db.run(faults.listed, world)])


@router.post("/faults", status_code=201, summary="Add a rule")
async def add_fault(rule: FaultRule, service: ServiceOf, world: WorldOf) -> Fault:
    return _shown(await service.db.run(faults.add, world, rule_of(rule)))


@router.put("/faults", summary="Have these rules and no others")
async def replace_faults(wanted: FaultList, service: ServiceOf, world: WorldOf) -> Faults:
    rules = [rule_of(rule) for rule in wanted.rules]
    return Faults(rules=[_shown(rule) for rule in await service.db.run(faults.replace_all, world, rules)])


@router.post("/faults/chaos", status_code=201, summary="Let chaos begin: everyday trouble, drawn from a seed")
async def begin_chaos(wanted: Chaos, service: ServiceOf, world: WorldOf) -> Faults:
    """The rules of the chaos profile are added to those that are there, in place of chaos of another seed."""
    rules = await service.db.run(faults.begin_chaos, world, wanted.seed)
    return Faults(rules=[_shown(rule) for rule in rules])


@router.delete("/faults", summary="Remove every rule")
async def clear_faults(service: ServiceOf, world: WorldOf) -> Removed:
    return Removed(removed=await service.db.run(faults.remove, world, None))


@router.get("/faults/hits", summary="What was struck, the newest first")
async def list_hits(
    service: ServiceOf,
    world: WorldOf,
    rule_id: Annotated[str | None, Query(alias="id", max_length=64, pattern=TEXT, description="Of one rule.")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> Hits:
    return Hits(hits=[Hit(**row) for row in await service.db.run(faults.hits, world, rule_id, limit)])


@router.delete("/faults/{rule_id}", summary="Remove one rule")
async def remove_fault(rule_id: RuleId, service: ServiceOf, world: WorldOf) -> Removed:
    return Removed(removed=await service.db.run(faults.remove, world, rule_id))


def rule_of(given: FaultRule) -> Rule:
    """The core's rule, still without an id. Invalid for an operation that no API here has."""
    facts: dict[str, Any] = given.model_dump(exclude={"probability", "every", "seconds"})
    if given.cluster is not None and given.cluster.startswith("arn:"):
        facts |= _of_arn(given.cluster)
    chance = MILLION if given.probability is None else round(given.probability * MILLION)
    rule = Rule(rule_id="", probability=chance, every=given.every or 1, **facts | _length(given))
    fault_aims.check(rule, emulated.apis())
    return rule


def _length(given: FaultRule) -> dict[str, int]:
    """A request is late in wall time, to the millisecond; all else lasts whole seconds of the world's."""
    if given.seconds is None:
        return {}
    if given.effect == LATENCY:
        return {"milliseconds": round(given.seconds * 1000)}
    if given.seconds != int(given.seconds):
        raise Invalid(f"'seconds' of {given.effect} must be whole.")
    return {"seconds": int(given.seconds)}


def _of_arn(arn: str) -> dict[str, str]:
    """Account, region and cluster id that the ARN names."""
    parts = arn.split(":", 5)
    if len(parts) != 6 or not parts[5].startswith("cluster/"):
        raise Invalid(f"'{arn[:120]}' is not a cluster's ARN. Give its name, or the ClusterArn of CreateCluster.")
    return {"region": parts[3], "account": parts[4], "cluster": parts[5].removeprefix("cluster/")}


def _shown(rule: Rule) -> Fault:
    return Fault(
        id=rule.rule_id,
        effect=rule.effect,
        account=rule.account,
        region=rule.region,
        cluster=rule.cluster,
        group=rule.group,
        instance_type=rule.instance_type,
        node=rule.node,
        attempt=rule.attempt,
        job=rule.job,
        replica=rule.replica,
        operation=rule.operation,
        api=rule.api,
        code=rule.code,
        message=rule.message,
        probability=rule.probability / MILLION,
        every=rule.every,
        times=rule.times,
        after=to_iso(rule.after) if rule.after else None,
        before=to_iso(rule.before) if rule.before else None,
        seconds=rule.seconds if rule.milliseconds is None else rule.milliseconds / 1000,
        seed=rule.seed,
        matches=rule.matches,
        hits=rule.hits,
    )
