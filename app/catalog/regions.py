"""Regions, their zones, and how a bill names them (`regions.toml`)."""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from types import MappingProxyType

from app.catalog.records import Region, Zone
from app.catalog.tables import origin, table

_DIRECTIONS = ("north", "south", "east", "west", "central")
_MADE_UP = "Windtunnel's rule for regions that the catalogue does not have: three zones, a to c"
_MADE_UP_ON = date(2026, 11, 30)


@cache
def regions() -> Mapping[str, Region]:
    """Every catalogued region by name; those that AWS lists for HyperPod come first."""
    document = table("regions")
    return MappingProxyType(
        {
            row["name"]: Region(
                name=row["name"],
                hyperpod=row["hyperpod"],
                usage_prefix=row["usage_prefix"],
                zones=tuple(Zone(name, id_) for name, id_ in row["zones"]),
                **origin(document, row),
            )
            for row in document["regions"]
        }
    )


@cache
def region(name: str) -> Region:
    """The region `name`; one that the catalogue does not have is made up by rule, evidence "placeholder"."""
    known = regions().get(name)
    if known is not None:
        return known
    short = _short(name)
    return Region(
        name=name,
        hyperpod=False,
        usage_prefix=short.upper(),
        zones=tuple(Zone(f"{name}{letter}", f"{short}-az{n}") for n, letter in enumerate("abc", start=1)),
        evidence="placeholder",
        source=_MADE_UP,
        date=_MADE_UP_ON,
    )


def zones(name: str) -> tuple[Zone, ...]:
    """The zones of the region `name`, never none, in the order of their names."""
    return region(name).zones


def usage_type(instance_type: str, region_name: str) -> str:
    """The usage type under which AWS bills a HyperPod instance: `USE1-Cluster:ml.p5.48xlarge`."""
    return f"{region(region_name).usage_prefix}-Cluster:{instance_type}"


def _short(name: str) -> str:
    """`xx-southeast-9` as `xxse9`: area, initials of the direction, number.

    Always three to five letters and one digit, which is the form the SageMaker model demands of a zone's id.
    """
    area, *middle, number = name.split("-") if "-" in name else (name, "1")
    words = re.findall("|".join(_DIRECTIONS), "".join(middle)) or middle
    letters = re.sub("[^a-z]", "", area.lower())[:2] + "".join(word[:1] for word in words)
    digit = re.sub(r"\D", "", number)[-1:] or "1"
    return re.sub("[^a-z]", "", letters)[:5].ljust(3, "x") + digit
