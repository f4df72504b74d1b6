"""What an instance costs: the user's price for the world, or the catalogue's with its evidence (CT-5)."""

from collections.abc import Iterable
from typing import NamedTuple

from app import catalog
from app.core.errors import Invalid, NotFound
from app.store import prices
from app.store.db import Tx
from app.store.ledger import Rate

EVERY_REGION = "*"
USER_SOURCE = "Set for this world"


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


async def quotes(tx: Tx, world: str, region: str, instance_type: str | None) -> list[Quote]:
    """The price of one type, or of each, in the region."""
    own = await prices.overrides(tx, world)
    if instance_type is not None and instance_type not in catalog.instance_types():
        raise NotFound(f"No instance type '{instance_type}'. Use a name such as ml.p5.48xlarge.")
    names = catalog.instance_types() if instance_type is None else (instance_type,)
    return [_quote(name, region, own) for name in names]


def _quote(name: str, region: str, own: dict[tuple[str, str], int]) -> Quote:
    rate = _rate(name, region, own)
    if rate.evidence == "user":
        return Quote(name, region, *rate, USER_SOURCE, None)
    found = catalog.price(name, region)
    return Quote(name, region, *rate, found.source, found.date.isoformat())


def _rate(name: str, region: str, own: dict[tuple[str, str], int]) -> Rate:
    for key in ((name, region), (name, EVERY_REGION)):
        if key in own:
            return Rate(own[key], "user")
    found = catalog.price(name, region)
    return Rate(found.micro_usd_per_hour, found.evidence)


async def set_price(tx: Tx, world: str, instance_type: str, region: str, micro_usd_per_hour: int) -> None:
    """From the next billable interval on, the type costs this much in the region (`*` for all)."""
    if instance_type not in catalog.instance_types():
        raise Invalid(f"No instance type '{instance_type}'. Use a name such as ml.p5.48xlarge.")
    await prices.put(tx, world, instance_type, region, micro_usd_per_hour)
