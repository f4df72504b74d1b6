"""What a HyperPod instance costs (`prices.toml`), and the user's own price file in the same form (CT-5)."""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from types import MappingProxyType

from app.catalog.hardware import instance_type
from app.catalog.records import Price
from app.catalog.tables import Row, origin, table

Prices = Mapping[tuple[str, str], Price]
"""Prices by (instance type, region). The region `*` of a user's price is every region without a row."""

_MIB_PER_GIB = 1024
_HIGHEST = 10**12  # a million dollars an hour: far above any instance, far below what a bill's arithmetic can hold
_REGION = re.compile(r"\*|[a-z]{2,4}(-[a-z]+)+-\d+", re.ASCII)
_ROW_FIELDS = {"type", "region", "micro_usd_per_hour", "source", "date"}


@cache
def published() -> Prices:
    """Every price that AWS prints for HyperPod and that the catalogue has."""
    document = table("prices")
    return MappingProxyType(
        {
            (row["type"], row["region"]): Price(row["micro_usd_per_hour"], **origin(document, row))
            for row in document["prices"]
        }
    )


def price(name: str, region: str, overrides: Prices = MappingProxyType({})) -> Price:
    """The price of the type `name` in `region`; its evidence says how far to trust it.

    In this order: the user's (`overrides`), AWS's for the region, AWS's for another region (us-east-1 before
    the others, by name), the placeholder rule. LookupError if `name` is no instance type's name.
    """
    own = overrides.get((name, region)) or overrides.get((name, "*"))
    return own or published().get((name, region)) or _elsewhere(name) or placeholder(name)


def _elsewhere(name: str) -> Price | None:
    region = _region_of_price().get(name)
    if region is None:
        return None
    found = published()[name, region]
    source = f"Price of {region}, none being catalogued for the region asked for. {found.source}"
    return Price(found.micro_usd_per_hour, "published-other-region", source, found.date)


@cache
def _region_of_price() -> Mapping[str, str]:
    """For each type with a price, the region whose price stands in for the others."""
    preferred = sorted(published(), key=lambda key: (key[1] != "us-east-1", key[1]), reverse=True)
    return dict(preferred)


def placeholder(name: str) -> Price:
    """The stated rule's figure for the type `name`, by vCPUs, memory and accelerator memory, rounded down."""
    rule = table("prices")["placeholder"]
    kind = instance_type(name)
    memory = kind.memory_mib * rule["memory_gib"] + kind.accelerator_memory_mib * rule["accelerator_gib"]
    return Price(kind.vcpu * rule["vcpu"] + memory // _MIB_PER_GIB, "placeholder", rule["source"], rule["date"])


def read_price_file(text: str, today: date) -> Prices:
    """A user's price file: TOML with `prices = [{ type, region, micro_usd_per_hour, source?, date? }]`.

    `today` dates the rows without a date. ValueError, naming the row, if the text is no such file.
    """
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"The price file is not TOML: {error}.") from error
    rows = document.get("prices")
    if set(document) != {"prices"} or not isinstance(rows, list):
        raise ValueError("The price file must hold one list, `prices = [ ... ]`, and nothing else.")
    read: dict[tuple[str, str], Price] = {}
    for number, row in enumerate(rows, start=1):
        key, value = _read_row(number, row, today)
        if key in read:
            raise ValueError(f"Price {number} repeats {key[0]} in {key[1]}: keep one row of the two.")
        read[key] = value
    return MappingProxyType(read)


def _read_row(number: int, row: object, today: date) -> tuple[tuple[str, str], Price]:
    if not isinstance(row, dict):
        raise ValueError(f"Price {number} must be a table such as {{ type = ..., region = ... }}.")
    unknown = sorted(set(row) - _ROW_FIELDS)
    if unknown:
        fields = ", ".join(sorted(_ROW_FIELDS))
        raise ValueError(f"Price {number} has the unknown field {unknown[0]!r}; a price has {fields}.")
    amount = row.get("micro_usd_per_hour")
    if type(amount) is not int or not 0 <= amount <= _HIGHEST:
        raise ValueError(
            f"Price {number}: micro_usd_per_hour must be a whole number of micro-dollars from 0 to {_HIGHEST}, "
            "as 66_048_000 for 66.048 USD an hour."
        )
    key = _text(number, row, "type", None), _text(number, row, "region", "*")
    if not _REGION.fullmatch(key[1]):
        raise ValueError(f"Price {number}: {key[1]!r} is no region; it must look like us-east-1, or be * for all.")
    try:
        instance_type(key[0])
    except LookupError as error:
        raise ValueError(f"Price {number}: {error.args[0]}") from error
    dated = row.get("date", today)
    if type(dated) is not date:
        raise ValueError(f"Price {number}: date must be a day, as 2026-10-04 without quotes.")
    return key, Price(amount, "user", _text(number, row, "source", "The user's price file"), dated)


def _text(number: int, row: Row, field: str, default: str | None) -> str:
    value = row.get(field, default)
    if not isinstance(value, str) or not value:
        raise ValueError(f"Price {number} needs {field} as a text in quotes.")
    return value
