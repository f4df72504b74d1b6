"""How many machines there are, what an hour of them costs, and how much an account may have (CT-4, CT-5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from app import catalog
from app.console.deeds import Deed, command_line, httpx_lines
from app.console.forms import FormOf
from app.console.page import PageOf
from app.console.reading import count_or_unlimited, instant, millionths
from app.core.errors import Invalid
from app.core.scope import Scope
from app.core.times import WorldTime, to_iso
from app.store.db import Tx
from app.usecases import capacity, prices, quotas, types
from app.usecases.capacity import Overview
from app.usecases.prices import Quote
from app.usecases.quotas import Limit

router = APIRouter()
MOST = 2**31 - 1
MOST_USD = 1_000_000
MOST_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Row:
    """A pool of machines; `total` None: unlimited."""

    region: str
    zone: str
    instance_type: str
    total: int | None
    used: int


@dataclass(frozen=True, slots=True)
class CapacityView:
    """What limits something or is used, what will change, and what may be limited."""

    rows: list[Row]
    changes: list[dict[str, object]]
    types: Sequence[str]


def capacity_view(found: Overview, names: Sequence[str]) -> CapacityView:
    rows = [Row(pool.region, pool.zone, pool.instance_type, pool.total, pool.used) for pool in found.pools]
    rows += [Row(region, "", name, None, used) for region, name, used in found.unlimited]
    rows.sort(key=lambda row: (row.region, row.instance_type, row.zone))
    return CapacityView(rows, [change._asdict() for change in found.changes], names)


@dataclass(frozen=True, slots=True)
class PriceView:
    """Prices of a region whose names hold `query`; `more` are not shown."""

    region: str
    regions: Sequence[str]
    query: str
    quotes: list[Quote]
    more: int


def price_view(quotes: Sequence[Quote], region: str, regions: Sequence[str], query: str) -> PriceView:
    """The user's own first, then by name."""
    fitting = [quote for quote in quotes if query.lower() in quote.instance_type.lower()]
    fitting.sort(key=lambda quote: (quote.evidence != "user", quote.instance_type))
    return PriceView(region, regions, query, fitting[:MOST_SHOWN], len(fitting[MOST_SHOWN:]))


@dataclass(frozen=True, slots=True)
class QuotaView:
    """The quotas of an account in a region."""

    account: str
    region: str
    regions: Sequence[str]
    limits: list[Limit]


@router.get("/capacity")
async def show(page: PageOf) -> Response:
    """Machines by type."""
    found = await page.db.run(capacity.overview, page.world)
    names = [*catalog.instance_types(), *catalog.machine_types()]
    return await page.answer("capacity.html", capacity_view(found, names), title="Capacity")


@router.get("/capacity/prices")
async def show_prices(page: PageOf) -> Response:
    """What an hour costs, and how well that is known."""
    region = _region(page.given.get("region") or page.settings.default_region)
    found = await page.db.run(prices.quotes, page.world, region, None)
    shown = price_view(found, region, _regions(), page.given.get("q", "").strip())
    return await page.answer("prices.html", shown, title="Prices")


@router.get("/capacity/quotas")
async def show_quotas(page: PageOf) -> Response:
    """What an account may have."""
    scope = page.scope
    _region(scope.region)
    found = await page.db.run(quotas.listed, scope)
    return await page.answer("quotas.html", QuotaView(scope.account, scope.region, _regions(), found), title="Quotas")


def _regions() -> list[str]:
    return [*catalog.regions(), *catalog.vertex_regions()]


def _region(name: str) -> str:
    if name not in _regions():
        raise Invalid(f"There is no region '{name[:40]}'. Use one such as us-west-2 or us-central1.")
    return name


def _account(name: str) -> str:
    if not (len(name) == 12 and name.isascii() and name.isdecimal()):
        raise Invalid("'account' must be twelve digits.")
    return name


@router.post("/do/capacity/set")
async def set_total(page: PageOf, form: FormOf) -> Response:
    """Have so many machines of a type, now or from an instant on."""
    name, total = form.text("instance_type", 64), count_or_unlimited(form, "total", MOST)
    zone, at = form.optional("zone", 40), instant(form, "at")
    region = form.optional("region", 40) or types.default_region(name, page.settings.default_region)
    body = {"instance_type": name, "region": region, "zone": zone, "at": to_iso(at) if at else None}
    words = ["capacity", "set", name, "unlimited" if total is None else str(total), "--region", region]
    words += ["--zone", zone] if zone else []
    words += ["--at", to_iso(at)] if at else []
    deed = Deed(
        f"Have {'any number of' if total is None else f'{total:,}'} {name}",
        command_line(page.world, *words),
        httpx_lines(page.endpoint, "POST", "capacity", _given(body) | {"total": total}),
    )
    work = page.db.run(capacity.set_total, page.world, region, zone, name, total, at)
    return await page.perform(deed, work, _from)


def _given(body: dict[str, str | None]) -> dict[str, str | int | None]:
    return {name: value for name, value in body.items() if value is not None}


def _from(at: WorldTime) -> str:
    return f"It holds from {to_iso(at)} on. Who waits for machines is asked again when the clock moves."


@router.post("/do/price/set")
async def set_price(page: PageOf, form: FormOf) -> Response:
    """Let a type cost so much an hour from the next billable interval on."""
    name, region = form.text("instance_type", 64), form.text("region", 40)
    form.text("usd")
    price = millionths(form, "usd", MOST_USD) or 0
    usd = f"{price // 1_000_000}.{price % 1_000_000:06d}"
    deed = Deed(
        f"Let {name} cost {usd} USD an hour in {region}",
        command_line(page.world, "price", "set", name, usd, "--region", region),
        httpx_lines(
            page.endpoint,
            "POST",
            "prices",
            {"instance_type": name, "region": region, "micro_usd_per_hour": price},
        ),
    )
    work = page.db.run(prices.set_price, page.world, name, region, price)
    return await page.perform(deed, work, "It holds for what begins to be billed from now on.")


@router.post("/do/quota/set")
async def set_quota(page: PageOf, form: FormOf) -> Response:
    """Let an account have so many, or any number."""
    name, value = form.text("name", 200), count_or_unlimited(form, "value", MOST)
    account, region = _account(form.text("account")), _region(form.text("region", 40))
    said = "unlimited" if value is None else str(value)
    deed = Deed(
        f"Set the quota {name} to {said}",
        command_line(page.world, "quota", "set", name, said, "--region", region, "--account", account),
        httpx_lines(
            page.endpoint, "POST", "quotas", {"name": name, "value": value, "region": region, "account": account}
        ),
    )
    work = page.db.run(_set_quota, Scope(page.world, account, region), name, value)
    told = "Nothing limits it any more." if value is None else "More than that is refused from now on."
    return await page.perform(deed, work, told)


async def _set_quota(tx: Tx, scope: Scope, name: str, value: int | None) -> Limit:
    return await quotas.set_quota(tx, scope, name, value)
