"""Machine types, accelerators and regions of Vertex AI (`vertex_machines.toml` and its neighbours)."""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from types import MappingProxyType

from app.catalog.hardware import gpus
from app.catalog.records import Accelerator, MachineType, VertexRegion
from app.catalog.tables import Row, origin, table

_LOCATION = re.compile(r"[a-z]+(-[a-z]+)+\d{1,2}", re.ASCII)
_MADE_UP = "Windtunnel's rule for regions that the catalogue does not have: three zones, a to c, and every accelerator"
_MADE_UP_ON = date(2026, 11, 30)


@cache
def accelerators() -> Mapping[str, Accelerator]:
    """Every value of AcceleratorType by name."""
    document = table("vertex_accelerators")
    models = gpus()
    return MappingProxyType(
        {
            row["name"]: Accelerator(
                name=row["name"],
                number=row["number"],
                gpu=models[row["gpu"]] if row["gpu"] else None,
                quota=row["quota"],
                flex_start=row["flex_start"],
                **origin(document, row),
            )
            for row in document["accelerators"]
        }
    )


@cache
def machine_types() -> Mapping[str, MachineType]:
    """Every machine type that custom training takes, by name."""
    document = table("vertex_machines")
    attachments = {
        name: MappingProxyType({accelerator: tuple(counts) for accelerator, counts in rows.items()})
        for name, rows in document["attachments"].items()
    }
    return MappingProxyType({row["name"]: _machine_type(document, row, attachments) for row in document["types"]})


def _machine_type(document: Row, row: Row, attachments: Mapping[str, Mapping[str, tuple[int, ...]]]) -> MachineType:
    return MachineType(
        name=row["name"],
        family=row["family"],
        vcpus=row["vcpus"],
        memory_gb=float(row["memory_gb"]),
        accelerator=row.get("accelerator"),
        accelerators=row.get("accelerators", 0),
        attachable=attachments[row["attach"]] if "attach" in row else MappingProxyType({}),
        cpu_quota=document["families"][row["family"]]["cpu_quota"] or None,
        on_demand=row.get("on_demand", True),
        reservation=row.get("reservation", False),
        **origin(document, row),
    )


@cache
def vertex_regions() -> Mapping[str, VertexRegion]:
    """Every catalogued region of Vertex AI by name."""
    document = table("vertex_regions")
    return MappingProxyType(
        {
            row["name"]: VertexRegion(
                name=row["name"],
                place=row["place"],
                zones=tuple(f"{row['name']}-{letter}" for letter in row["zones"]),
                training=row["training"],
                accelerators=frozenset(row["accelerators"]) if "accelerators" in row else None,
                **origin(document, row),
            )
            for row in document["regions"]
        }
    )


def vertex_region(name: str) -> VertexRegion:
    """The region `name`; one that the catalogue does not have is made up by rule, evidence "placeholder"."""
    return vertex_regions().get(name) or VertexRegion(
        name=name,
        place="",
        zones=tuple(f"{name}-{letter}" for letter in "abc"),
        training=True,
        accelerators=None,
        evidence="placeholder",
        source=_MADE_UP,
        date=_MADE_UP_ON,
    )


def is_location(name: str) -> bool:
    """Whether the name is of Google's form, `us-central1`, and not of AWS's, `us-west-2`."""
    return _LOCATION.fullmatch(name) is not None
