"""Instance types and accelerator models (`instance_types.toml`, `gpus.toml`)."""

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from types import MappingProxyType

from app.catalog.records import Gpu, InstanceType
from app.catalog.tables import origin, table

_NAME = re.compile(r"ml\.[a-z0-9-]+\.(?:(?P<times>\d+)xlarge|(?P<word>medium|large|xlarge))", re.ASCII)
_VCPU = {"medium": 1, "large": 2, "xlarge": 4}
_GUESSED = "Guessed from the size in the name: the type is not in this version's catalogue"
_GUESSED_ON = date(2026, 11, 30)


@cache
def instance_types() -> Mapping[str, InstanceType]:
    """Every catalogued type by name, in the order of the SageMaker model."""
    document = table("instance_types")
    models = gpus()
    return MappingProxyType(
        {
            row["name"]: InstanceType(
                name=row["name"],
                arch=row["arch"],
                vcpu=row["vcpu"],
                memory_mib=row["memory_mib"],
                gpu=models[row["accelerator"]] if row["accelerator"] else None,
                accelerators=row["accelerators"],
                efa=row["efa"],
                **origin(document, row),
            )
            for row in document["types"]
        }
    )


def instance_type(name: str) -> InstanceType:
    """The type `name` (`ml.p5.48xlarge`).

    A type that a newer SageMaker model has and the catalogue has not gets a guess without accelerators,
    evidence "placeholder", so that it can be used. LookupError if `name` is no instance type's name at all.
    """
    return instance_types().get(name) or _guess(name)


def _guess(name: str) -> InstanceType:
    match = _NAME.fullmatch(name)
    if match is None:
        raise LookupError(
            f"{name!r} is not the name of an instance type: it must look like ml.p5.48xlarge. "
            "Take one of the SageMaker model's ClusterInstanceType values."
        )
    vcpu = _VCPU[match["word"]] if match["word"] else 4 * int(match["times"])
    return InstanceType(
        name=name,
        arch="x86_64",
        vcpu=vcpu,
        memory_mib=vcpu * 4096,
        gpu=None,
        accelerators=0,
        efa=0,
        evidence="placeholder",
        source=_GUESSED,
        date=_GUESSED_ON,
    )


@cache
def gpus() -> Mapping[str, Gpu]:
    """Every accelerator model by its key (`h100-80gb`)."""
    document = table("gpus")
    return MappingProxyType(
        {
            name: Gpu(
                name=name,
                vendor=row["vendor"],
                product=row["product"],
                memory_gb=row["memory_gb"],
                memory_mib=row["memory_mib"],
                aliases=tuple(row["aliases"]),
                **origin(document, row),
            )
            for name, row in document["models"].items()
        }
    )


def gpu(name: str) -> Gpu:
    """The model that either cloud calls `name`: `H100` is `NVIDIA_H100_80GB`. LookupError if none."""
    found = _gpus_by_alias().get(_plain(name))
    if found is None:
        raise LookupError(f"No accelerator is called {name!r}. Known models: {', '.join(gpus())}.")
    return found


@cache
def _gpus_by_alias() -> Mapping[str, Gpu]:
    return {_plain(alias): model for model in gpus().values() for alias in (model.name, model.product, *model.aliases)}


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()
