"""What it cost (CT-6), as JSON and CSV."""

import csv
import io
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Response
from pydantic import BaseModel, Field

from app.core.errors import Invalid
from app.core.plans import plan_arn
from app.core.shares import Part
from app.core.times import to_iso
from app.usecases import bills
from app.usecases.bills import Bill, Fee, Grain, Line, Share
from app.wire.control.vocabulary import TEXT, Instant, ServiceOf, WorldOf

router = APIRouter(tags=["bills"])
_FINEST: Grain = "instance"
_IN_JSON_ALONE = ("intervals", "workloads")
_OWNER = ("cluster_arn", "cluster_name", "job", "job_name", "budget")
_OF_GRAIN: dict[Grain, tuple[str, ...]] = {
    "instance": (*_OWNER, "group", "instance_id", "logical_id"),
    "group": (*_OWNER, "group"),
    "cluster": _OWNER,
    "job": _OWNER,
    "budget": ("cluster_arn", "cluster_name", "budget"),
    "type": (),
    "account": (),
}


class BillInterval(BaseModel):
    """A stretch of billable time of one instance, or of the machine of a job's worker (then `logical_id` is the
    worker's name). `micro_usd` is what the line grew by it: they sum to the line.

    What began before the period is shown from the period's beginning on. `ended` is when it really ended; null: it
    still ran at the period's end.
    """

    instance_id: str
    logical_id: str
    group: str
    cluster_name: str | None
    job_name: str | None
    started: str
    ended: str | None
    milliseconds: int
    micro_usd_per_hour: int
    price_evidence: str
    micro_usd: int


class BillPart(BaseModel):
    """What one job or budget has had of a cluster's line, by GPU-time, or what was idle. The parts sum to the line, and
    are in no total besides: a job on a cluster has no price of its own."""

    job: str | None = Field(description="projects/…/locations/…/customJobs/…, by job.")
    job_name: str | None
    budget: str | None
    idle: bool
    gpu_milliseconds: int
    micro_usd: int


class BillLine(BaseModel):
    """One thing's cost: milliseconds x micro_usd_per_hour / 3,600,000, summed, then rounded half up, once.

    What a line's parts do not have in common is null. Billing begins when the lifecycle script starts (or the
    instance has booted, without one) and ends when termination starts; of a job's worker, from the machine's start to
    its stop. A line is of a cluster or of a job, as far as `by` tells them apart. `started` is never before the period;
    `ended` is when the last of it really ended, and null when something of it still ran at the period's end: at `to`,
    or at `as_of` if that is earlier.
    """

    cluster_arn: str | None
    cluster_name: str | None
    job: str | None = Field(description="projects/…/locations/…/customJobs/….")
    job_name: str | None
    budget: str | None = Field(description="Of a job.")
    group: str | None
    instance_id: str | None
    logical_id: str | None
    instance_type: str | None
    account: str | None
    region: str | None
    started: str
    ended: str | None
    milliseconds: int
    micro_usd_per_hour: int | None
    price_evidence: str = Field(description="Where the price comes from; all of them, if there are several.")
    micro_usd: int
    intervals: list[BillInterval] | None = None
    workloads: list[BillPart] | None = None


class UpfrontFee(BaseModel):
    """What a training plan cost, or one more stretch of it (`extension`, by number), when it was bought."""

    training_plan_arn: str
    extension: int | None
    account: str
    region: str
    instance_type: str
    instances: int
    charged: str
    price_evidence: str
    micro_usd: int


class BillOfWorld(BaseModel):
    """The lines and their sum. What runs counts up to `to`, or to `as_of`, the world's time, if that is earlier.

    `upfront` is there when training plans were bought in the period and no cluster is named; it is not in the total.
    """

    currency: str
    total_micro_usd: int
    as_of: str
    lines: list[BillLine]
    upfront: list[UpfrontFee] | None = None


@router.get(
    "/bills",
    summary="What ran, from when to when, and what it cost",
    response_model=BillOfWorld,
    response_model_exclude_unset=True,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def read_bill(
    service: ServiceOf,
    world: WorldOf,
    cluster: Annotated[
        str | None, Query(max_length=512, pattern=TEXT, description="Name (of all that had it), id or ARN.")
    ] = None,
    job: Annotated[
        str | None, Query(max_length=512, pattern=TEXT, description="Display name (of all that had it), id or name.")
    ] = None,
    by: Annotated[Grain, Query(description="What a line is about.")] = _FINEST,
    since: Annotated[Instant | None, Query(alias="from", description="Nothing before this instant.")] = None,
    until: Annotated[Instant | None, Query(alias="to", description="Nothing from this instant on.")] = None,
    intervals: Annotated[bool, Query(description="Open each line into the intervals it is made of.")] = False,
    form: Annotated[Literal["json", "csv"] | None, Query(alias="format", description="Else as Accept says.")] = None,
    accept: Annotated[str, Header()] = "",
) -> Any:
    found = await service.db.run(bills.bill, world, by=by, cluster=cluster, job=job, since=since, until=until)
    as_csv = form == "csv" or (form is None and accept.partition(";")[0].strip() == "text/csv")
    if as_csv and intervals:
        raise Invalid("A CSV has a row a line: ask for the intervals as JSON.")
    if as_csv:
        return Response(_csv(found, by), media_type="text/csv")
    return {
        "currency": "USD",
        "total_micro_usd": found.total_micro_usd,
        "as_of": to_iso(found.as_of),
        "lines": [
            _line(line, by)
            | ({"intervals": [_interval(share) for share in line.shares]} if intervals else {})
            | ({"workloads": [_part(part, by) for part in line.workloads]} if line.workloads else {})
            for line in found.lines
        ],
        **({"upfront": [_fee(fee) for fee in found.upfront]} if found.upfront else {}),
    }


def _fee(fee: Fee) -> dict[str, Any]:
    return {
        "training_plan_arn": plan_arn(fee.region, fee.account, fee.plan),
        "extension": fee.extension,
        "account": fee.account,
        "region": fee.region,
        "instance_type": fee.instance_type,
        "instances": fee.instances,
        "charged": to_iso(fee.at),
        "price_evidence": fee.evidence,
        "micro_usd": fee.micro_usd,
    }


def _line(line: Line, by: Grain) -> dict[str, Any]:
    named = {
        "cluster_arn": line.common(bills.arn_of),
        "cluster_name": line.common(lambda e: e.cluster_name),
        "job": line.common(bills.job_of),
        "job_name": line.common(lambda e: e.job_name),
        "budget": line.common(lambda e: e.budget),
        "group": line.common(lambda e: e.group),
        "instance_id": line.common(lambda e: e.instance_id),
        "logical_id": line.common(lambda e: e.logical_id),
    }
    return {
        **{name: value if name in _OF_GRAIN[by] else None for name, value in named.items()},
        "instance_type": line.common(lambda e: e.instance_type),
        "account": line.common(lambda e: e.account),
        "region": line.common(lambda e: e.region),
        "started": to_iso(line.started),
        "ended": to_iso(line.ended) if line.ended else None,
        "milliseconds": line.milliseconds,
        "micro_usd_per_hour": line.common(lambda e: e.micro_usd_per_hour),
        "price_evidence": line.price_evidence,
        "micro_usd": line.micro_usd,
    }


def _part(part: Part, by: Grain) -> dict[str, Any]:
    job, name, budget = None, None, None
    if by == "job" and part.key:
        project, location, job_id, name, budget = part.key
        job = f"projects/{project}/locations/{location}/customJobs/{job_id}"
    elif part.key:
        (budget,) = part.key
    return {
        "job": job,
        "job_name": name,
        "budget": budget or None,
        "idle": not part.key,
        "gpu_milliseconds": part.gpu_milliseconds,
        "micro_usd": part.micro_usd,
    }


def _interval(share: Share) -> dict[str, Any]:
    entry = share.entry
    return {
        "instance_id": entry.instance_id,
        "logical_id": entry.logical_id,
        "group": entry.group,
        "cluster_name": entry.cluster_name,
        "job_name": entry.job_name,
        "started": to_iso(share.started),
        "ended": to_iso(share.ended) if share.ended else None,
        "milliseconds": share.milliseconds,
        "micro_usd_per_hour": entry.micro_usd_per_hour,
        "price_evidence": entry.price_evidence,
        "micro_usd": share.micro_usd,
    }


def _csv(bill: Bill, by: Grain) -> str:
    written = io.StringIO()
    rows = [*(_line(line, by) for line in bill.lines), *map(_fee, bill.upfront)]
    shown = (BillLine, UpfrontFee) if bill.upfront else (BillLine,)
    names = dict.fromkeys(name for shape in shown for name in shape.model_fields if name not in _IN_JSON_ALONE)
    writer = csv.DictWriter(written, list(names))
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()
