"""The bill, down to the intervals that each line is made of, and why it is what it is (CT-6)."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.page import Page, PageOf
from app.console.paging import Paging
from app.core.errors import Invalid
from app.core.metering import HOUR_MS
from app.core.times import WorldTime, to_iso
from app.usecases import bills
from app.usecases.bills import KEYS, Bill, Fee, Grain, Line, Share

router = APIRouter()
SIZE = 200
MOST_INTERVALS = 500
GRAINS: tuple[Grain, ...] = ("cluster", "group", "instance", "type", "account", "job", "budget")
COLUMNS = (
    *("owner", "group", "logical_id", "instance_id", "instance_type", "account", "region", "started", "ended"),
    *("milliseconds", "micro_usd_per_hour", "price_evidence", "micro_usd"),
)


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of time for which a machine is paid; `micro_usd` is what the line grew by it."""

    who: str
    started: WorldTime
    ended: WorldTime | None
    milliseconds: int
    micro_usd_per_hour: int
    evidence: str
    micro_usd: int


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the bill; `key` opens it. Money in micro-dollars."""

    key: str
    name: str
    detail: str
    started: WorldTime
    ended: WorldTime | None
    milliseconds: int
    micro_usd_per_hour: int | None
    evidence: str
    micro_usd: int
    intervals: int


@dataclass(frozen=True, slots=True)
class Opened:
    """The line that is open. Before the one rounding it is `numerator` / 3,600,000 micro-dollars."""

    row: Row
    numerator: int
    intervals: list[Interval]
    more: int

    @property
    def why(self) -> str:
        """The line's arithmetic in one sentence."""
        whole, rest = divmod(self.numerator, HOUR_MS)
        exact = f"{whole:,}" + (f" {rest:,}/{HOUR_MS:,}" if rest else "")
        row = self.row
        if row.micro_usd_per_hour is not None:
            product = f"{row.milliseconds:,} ms × {row.micro_usd_per_hour:,} µ$/h"
        else:
            product = f"Milliseconds × µ$/h, summed over {row.intervals:,} intervals: {self.numerator:,}"
        half = "up" if rest * 2 >= HOUR_MS else "down"
        rounded = f"Rounded {half} once, on the line" if rest else "There is nothing to round"
        return f"{product} ÷ {HOUR_MS:,} ms/h = {exact} µ$. {rounded}: {row.micro_usd:,} µ$."


@dataclass(frozen=True, slots=True)
class BillView:
    """A page of the bill."""

    as_of: WorldTime
    total: int
    lines: list[Row]
    paging: Paging
    opened: Opened | None
    upfront: Sequence[Fee]
    grains: tuple[Grain, ...] = GRAINS


def view(bill: Bill, by: Grain, skipped: int, line: str) -> BillView:
    """The bill's lines from the `skipped`-th on, and the one of the key `line`, opened."""
    opened = next((one for one in bill.lines if line and _key(one, by) == line), None)
    return BillView(
        as_of=bill.as_of,
        total=bill.total_micro_usd,
        lines=[_row(one, by) for one in bill.lines[skipped : skipped + SIZE]],
        paging=Paging(skipped, SIZE, len(bill.lines)),
        opened=None if opened is None else _open(opened, by),
        upfront=bill.upfront,
    )


def _key(line: Line, by: Grain) -> str:
    return "/".join(KEYS[by](line.shares[0].entry))


def _row(line: Line, by: Grain) -> Row:
    entry = line.shares[0].entry
    owner = entry.cluster_name or entry.job_name or entry.owner_id
    kind = line.common(lambda e: e.instance_type) or "several types"
    price = line.common(lambda e: e.micro_usd_per_hour)
    name = {
        "instance": entry.instance_id or entry.logical_id,
        "group": entry.group,
        "type": entry.instance_type,
        "account": entry.account,
        "budget": entry.budget or owner if entry.is_of_job else owner,
    }.get(by, owner)
    detail = " · ".join(dict.fromkeys(part for part in (owner, entry.group, str(kind)) if part and part != name))
    if by in ("type", "account"):
        detail = "" if by == "type" else str(kind)
    return Row(
        key=_key(line, by),
        name=name,
        detail=detail,
        started=line.started,
        ended=line.ended,
        milliseconds=line.milliseconds,
        micro_usd_per_hour=price if isinstance(price, int) else None,
        evidence=line.price_evidence,
        micro_usd=line.micro_usd,
        intervals=len(line.shares),
    )


def _open(line: Line, by: Grain) -> Opened:
    numerator = sum(share.milliseconds * share.entry.micro_usd_per_hour for share in line.shares)
    shown = [_interval(share) for share in line.shares[:MOST_INTERVALS]]
    return Opened(_row(line, by), numerator, shown, len(line.shares) - len(shown))


def _interval(share: Share) -> Interval:
    entry = share.entry
    return Interval(
        entry.instance_id or entry.logical_id,
        share.started,
        share.ended,
        share.milliseconds,
        entry.micro_usd_per_hour,
        entry.price_evidence,
        share.micro_usd,
    )


@router.get("/bill")
async def show_bill(
    page: PageOf, by: str = "cluster", cluster: str = "", job: str = "", line: str = "", skip: int = 0
) -> Response:
    """A page of the bill."""
    grain = _grain(by)
    found = await _bill(page, grain, cluster, job)
    shown = view(found, grain, max(0, skip), line)
    return await page.answer("bill.html", shown, title="Bill")


@router.get("/bill.csv")
async def read_csv(page: PageOf, by: str = "cluster", cluster: str = "", job: str = "") -> Response:
    """Every interval as a row, in the order of the lines; the amounts of a line's intervals sum to it."""
    found = await _bill(page, _grain(by), cluster, job)
    name = f"bill-{page.world}.csv"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(table(found), headers=headers, media_type="text/csv; charset=utf-8")


def table(bill: Bill) -> str:
    """The bill's intervals as CSV."""
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(COLUMNS)
    writer.writerows(_cells(share) for line in bill.lines for share in line.shares)
    return written.getvalue()


def _cells(share: Share) -> tuple[str | int, ...]:
    entry = share.entry
    owner = entry.cluster_name or entry.job_name or entry.owner_id
    return (
        *(owner, entry.group, entry.logical_id, entry.instance_id, entry.instance_type, entry.account, entry.region),
        *(to_iso(share.started), to_iso(share.ended) if share.ended else ""),
        *(share.milliseconds, entry.micro_usd_per_hour, entry.price_evidence, share.micro_usd),
    )


def _grain(by: str) -> Grain:
    for grain in GRAINS:
        if grain == by:
            return grain
    raise Invalid(f"'by' must be one of {', '.join(GRAINS)}.")


async def _bill(page: Page, by: Grain, cluster: str, job: str) -> Bill:
    return await page.db.run(bills.bill, page.world, by=by, cluster=cluster or None, job=job or None)
