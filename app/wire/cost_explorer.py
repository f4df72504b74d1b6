"""Cost Explorer: GetCostAndUsage answers the figures of our own bill (CT-6).

Every cost metric is the same amount, since there are neither discounts nor reservations. An amount is a sum of lines of
the bill: by type when grouped by INSTANCE_TYPE, by account when by LINKED_ACCOUNT, by instance in all other cases.
"""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any

import orjson

from app.core.errors import Invalid
from app.core.metering import HOUR_MS
from app.core.times import WorldTime
from app.store.db import Tx
from app.usecases import costs
from app.usecases.bills import KEYS, Grain, Key
from app.usecases.costs import Amount, Usage
from app.wire.aws.protocol import AwsError
from app.wire.aws.registry import AwsService, Context
from app.wire.cost_dimensions import GROUPABLE, compile_filter, dimension

cost_explorer = AwsService("ce", target_prefix="AWSInsightsIndexService")

COSTS = ("UnblendedCost", "BlendedCost", "AmortizedCost", "NetUnblendedCost", "NetAmortizedCost")
METRICS = (*COSTS, "UsageQuantity", "NormalizedUsageAmount")
PAGE_ROWS = 2000
"""Groups on one page (chosen); AWS pages too, but does not say at what size."""
HOURLY_DAYS = 14
MOST_PERIODS = 4000
"""Ten years of days (chosen): AWS keeps fewer, but the clock of a world may go far."""
_LINES: Mapping[Key, Grain] = {("INSTANCE_TYPE",): "type", ("LINKED_ACCOUNT",): "account"}
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
_STEPS: Mapping[str, Callable[[WorldTime], datetime]] = {
    "HOURLY": lambda at: at + _HOUR,
    "DAILY": lambda at: at + _DAY,
    "MONTHLY": lambda at: (at.replace(day=1) + timedelta(days=32)).replace(day=1),
}


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: the periods' bounds, and how usage is chosen, grouped and measured."""

    granularity: str
    bounds: Sequence[WorldTime]
    wanted: Callable[[Usage], bool]
    group_of: Callable[[Usage], Key]
    line_of: Callable[[Usage], Key]
    is_grouped: bool
    metrics: Sequence[str]


@cost_explorer.operation
async def get_cost_and_usage(ctx: Context, req: dict[str, Any]) -> dict[str, Any]:
    """Cost and usage of the caller's account in all regions, in days, hours or months of the world's time."""
    _check_view(ctx, req.get("BillingViewArn"))
    query, now, used = await ctx.service.db.run(_read, ctx, req)
    periods = costs.along(used, query.bounds, now, query.line_of, query.group_of)
    digest = _digest(req)
    first = _opened(req.get("NextPageToken"), digest)
    last = _page_end(periods, first)
    results = [_result(query, place, periods[place], now) for place in range(first, last)]
    return {
        "ResultsByTime": results,
        "GroupDefinitions": req.get("GroupBy"),
        "DimensionValueAttributes": [],
        "NextPageToken": _sealed(last, digest) if last < len(periods) else None,
    }


async def _read(tx: Tx, ctx: Context, req: dict[str, Any]) -> tuple[Query, WorldTime, list[Usage]]:
    now = await costs.world_now(tx, ctx.scope.world)
    query = _query(req, now)
    used = await costs.usage(tx, ctx.scope.world, ctx.scope.account, query.bounds[0], query.bounds[-1])
    return query, now, [one for one in used if query.wanted(one)]


def _query(req: dict[str, Any], now: WorldTime) -> Query:
    keys = _group_keys(req.get("GroupBy") or [])
    readers = [read for _, read in keys]
    grain = _LINES.get(tuple(name for name, _ in keys), "instance")
    line_key = KEYS[grain]
    return Query(
        granularity=req["Granularity"],
        bounds=_bounds(req["Granularity"], req["TimePeriod"], now),
        wanted=compile_filter(req.get("Filter")),
        group_of=lambda used: tuple(read(used) for read in readers),
        line_of=lambda used: line_key(used.entry),
        is_grouped=bool(keys),
        metrics=_metrics(req["Metrics"]),
    )


def _metrics(names: Sequence[str]) -> Sequence[str]:
    unknown = [name for name in names if name not in METRICS]
    if unknown or not names:
        told = f"Metric {unknown[0][:60]} is not emulated" if unknown else "Metrics must name at least one"
        raise Invalid(f"{told}. Use one of: {', '.join(METRICS)}.")
    return list(dict.fromkeys(names))


def _group_keys(definitions: Sequence[Mapping[str, str]]) -> list[tuple[str, Callable[[Usage], str]]]:
    if len(definitions) > 2:
        raise Invalid("GroupBy takes at most two definitions.")
    keys = [_group_key(each.get("Type"), each.get("Key", "")) for each in definitions]
    if len({name for name, _ in keys}) < len(keys):
        raise Invalid("GroupBy names the same key twice.")
    return keys


def _group_key(kind: str | None, key: str) -> tuple[str, Callable[[Usage], str]]:
    if kind == "DIMENSION" and key in GROUPABLE:
        return key, dimension(key)
    if kind == "TAG" and key:
        return f"${key}", lambda used: f"{key}${used.tags.get(key, '')}"
    known = ", ".join(GROUPABLE)
    raise Invalid(f"GroupBy {kind} {key[:80]} is not emulated. Use a DIMENSION of {known}, or a TAG with its Key.")


def _bounds(granularity: str, period: Mapping[str, str], now: WorldTime) -> list[WorldTime]:
    """The instants that part the periods, the first and the last included."""
    start, end = (_instant(period[name], granularity) for name in ("Start", "End"))
    if start >= end:
        raise Invalid("Start date (and hour) should be before end date (and hour)")
    if start > now:
        raise Invalid(f"Start date is after the current date, which is {now:%Y-%m-%d} in this world.")
    if end > _STEPS["MONTHLY"](_midnight(now)):
        raise Invalid("end date past the beginning of next month")
    if granularity == "HOURLY" and start < _midnight(now) - HOURLY_DAYS * _DAY:
        raise Invalid(
            f"Start date is more than {HOURLY_DAYS} days ago for hourly granularity. Please adjust start date as we "
            f"support only {HOURLY_DAYS} days of data at hourly granularity."
        )
    bounds = [start]
    while bounds[-1] < end:
        if len(bounds) > MOST_PERIODS:
            raise Invalid(f"The period has more than {MOST_PERIODS} parts. Ask for less, or with MONTHLY granularity.")
        bounds.append(WorldTime(min(end, _STEPS[granularity](bounds[-1]))))
    return bounds


def _instant(text: str, granularity: str) -> WorldTime:
    if "T" in text and granularity != "HOURLY":
        raise Invalid(f"'{text}' has a time of day: with {granularity} granularity dates are yyyy-MM-dd.")
    try:
        moment = datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)
    except ValueError:
        raise Invalid(f"'{text}' is no date: it must be yyyy-MM-dd, or yyyy-MM-ddThh:mm:ssZ when HOURLY.") from None
    if moment.year < 1970 or moment.replace(minute=0, second=0) != moment:
        raise Invalid(f"'{text}' must be a full hour since 1970.")
    return WorldTime(moment)


def _midnight(at: WorldTime) -> WorldTime:
    return WorldTime(at.replace(hour=0, minute=0, second=0, microsecond=0))


def _result(query: Query, place: int, groups: Mapping[Key, Amount], now: WorldTime) -> dict[str, Any]:
    start, end = query.bounds[place], query.bounds[place + 1]
    form = "%Y-%m-%dT%H:%M:%SZ" if query.granularity == "HOURLY" else "%Y-%m-%d"
    total = groups.get((), Amount())
    return {
        "TimePeriod": {"Start": start.strftime(form), "End": end.strftime(form)},
        "Total": {} if query.is_grouped else _values(query.metrics, total),
        "Groups": [
            {"Keys": list(key), "Metrics": _values(query.metrics, groups[key])}
            for key in (sorted(groups) if query.is_grouped else ())
        ],
        # AWS's figures are final when the month's bill is; until then they are estimates.
        "Estimated": end > _midnight(now).replace(day=1),
    }


def _values(metrics: Sequence[str], amount: Amount) -> dict[str, dict[str, str]]:
    hours = (Decimal(amount.milliseconds) / HOUR_MS).quantize(Decimal("1e-10"))
    known = {
        **dict.fromkeys(COSTS, (Decimal(amount.micro_usd).scaleb(-6), "USD")),
        "UsageQuantity": (hours, "Hrs"),
        # Sizes are only normalised for instances that reservations may cover.
        "NormalizedUsageAmount": (Decimal(0), "N/A"),
    }
    return {name: {"Amount": _plain(known[name][0]), "Unit": known[name][1]} for name in metrics}


def _plain(number: Decimal) -> str:
    """Without an exponent and without zeros at the end: `0`, `98.32`."""
    return format(number.normalize(), "f")


def _check_view(ctx: Context, arn: str | None) -> None:
    if arn is not None and not arn.endswith(f"::{ctx.scope.account}:billingview/primary"):
        raise AwsError("ResourceNotFoundException", f"There is no billing view {arn}. Leave BillingViewArn out.")


def _page_end(periods: Sequence[Mapping[Key, Amount]], first: int) -> int:
    """How many periods have been told when the page is full; a period is never split."""
    rows, place = 0, first
    while place < len(periods) and (place == first or rows + len(periods[place]) < PAGE_ROWS):
        rows += max(1, len(periods[place]))
        place += 1
    return place


def _digest(req: Mapping[str, Any]) -> str:
    asked = {name: value for name, value in req.items() if name != "NextPageToken"}
    return sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


def _sealed(place: int, digest: str) -> str:
    return base64.urlsafe_b64encode(f"{place}:{digest}".encode()).decode()


def _opened(token: str | None, digest: str) -> int:
    if token is None:
        return 0
    try:
        place, _, of = base64.b64decode(token, altchars=b"-_", validate=True).decode("ascii").partition(":")
    except (binascii.Error, ValueError):
        place, of = "", ""
    if not place.isdecimal() or len(place) > 9 or len(of) != len(digest):
        raise AwsError("InvalidNextTokenException", "NextPageToken is not one that this operation gave.")
    if of != digest:
        raise AwsError("RequestChangedException", "The request is another than the one that gave NextPageToken.")
    return int(place)
