"""What training plans offer and cost (`plans.toml`)."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from app.catalog.prices import price
from app.catalog.records import Fee, UltraServer
from app.catalog.tables import Row, origin, table


@cache
def plan_sizes() -> tuple[int, ...]:
    """How many instances a plan can have, UltraServers aside."""
    return tuple(table("plans")["sizes"])


@cache
def reservable() -> tuple[str, ...]:
    """The instance types that plans offer, in the model's order."""
    return tuple(row["type"] for row in table("plans")["types"])


@cache
def ultra_servers() -> Mapping[str, UltraServer]:
    """Every UltraServer that plans offer, by name."""
    document = table("plans")
    return MappingProxyType(
        {
            row["name"]: UltraServer(row["name"], row["type"], row["instances"], **origin(document, row))
            for row in document["ultra_servers"]
        }
    )


def upfront_fee(instance_type: str, region: str) -> Fee:
    """The fee of one instance for a day; LookupError if plans do not offer the type.

    A placeholder is the on-demand price of the region for 24 hours.
    """
    document = table("plans")
    row = _fees().get(instance_type)
    if row is None:
        raise LookupError(f"Training plans do not offer {instance_type!r}.")
    amount = row.get("micro_usd_per_day")
    if amount is None:
        amount = 24 * price(instance_type, region).micro_usd_per_hour
    return Fee(amount, **origin(document, row))


@cache
def _fees() -> Mapping[str, Row]:
    return {row["type"]: row for row in table("plans")["types"]}
