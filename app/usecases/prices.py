"""What an instance or a machine costs: the user's price for the world, or the catalogue's with its evidence (CT-5)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from app import catalog
from app.core.errors import Invalid, NotFound
from app.store import prices
from app.store.db import Tx
from app.store.ledger import Rate
from app.usecases import types

EVERY_REGION = "*"
USER_SOURCE = "Set for this world"
_WEAKEST_FIRST = ("placeholder", "general-knowledge", "recorded", "published-other-region", "published", "user")


class Quote(NamedTuple):
    """A price with its origin; `date` is the day of the source, None for the user's own."""

    instance_type: str
    region: str
    micro_usd_per_hour: int
    evidence: str
    source: str
    date: str | None


async def rates(tx: Tx, world: str, region: str, instance_types: Iterable[str]) -> dict[str, Rate]:
    """Micro-dollars per hour, and where each price comes from."""
    own = await prices.overrides(tx, world)
    return {name: _rate(name, region, own) for name in instance_types}


def total(rates: Mapping[str, Rate], goods: Mapping[str, int]) -> Rate:
    """What so many of each cost together; the evidence is that of the weakest. There must be one at least."""
    parts = [rates[name] for name in goods]
    amount = sum(rates[name].micro_usd_per_hour * times for name, times in goods.items())
    return Rate(amount, min((part.evidence for part in parts), key=_WEAKEST_FIRST.index))


async def quotes(tx: Tx, world: str, region: str, instance_type: str | None) -> list[Quote]:
    """The price of one type, or of each, in the region."""
    own = await prices.overrides(tx, world)
    if instance_type is not None:
        if not _has_price(instance_type):
            raise NotFound(types.unknown(instance_type))
        types.check_region(instance_type, region)
        return [_quote(instance_type, region, own)]
    names: Iterable[str] = catalog.goods() if catalog.is_location(region) else catalog.instance_types()
    return [_quote(name, region, own) for name in names]


def _quote(name: str, region: str, own: dict[tuple[str, str], int]) -> Quote:
    rate = _rate(name, region, own)
    if rate.evidence == "user":
        return Quote(name, region, *rate, USER_SOURCE, None)
    found = _catalogued(name, region)
    return Quote(name, region, *rate, found.source, found.date.isoformat())


def _rate(name: str, region: str, own: dict[tuple[str, str], int]) -> Rate:
    for key in ((name, region), (name, EVERY_REGION)):
        if key in own:
            return Rate(own[key], "user")
    found = _catalogued(name, region)
    return Rate(found.micro_usd_per_hour, found.evidence)


def _catalogued(name: str, region: str) -> catalog.Price:
    return catalog.vertex_price(name, region) if name in catalog.goods() else catalog.price(name, region)


def _has_price(name: str) -> bool:
    return name in catalog.instance_types() or name in catalog.goods()


async def set_price(tx: Tx, world: str, instance_type: str, region: str, micro_usd_per_hour: int) -> None:
    """From the next billable interval on, the type costs this much in the region (`*` for all)."""
    if not _has_price(instance_type):
        raise Invalid(types.unknown(instance_type))
    if region != EVERY_REGION:
        types.check_region(instance_type, region)
    await prices.put(tx, world, instance_type, region, micro_usd_per_hour)
