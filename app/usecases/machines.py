"""What the catalogue knows of Vertex AI's machines, as the values that core thinks with (VX-22)."""

from difflib import get_close_matches
from functools import cache

from app import catalog
from app.core.errors import Invalid
from app.core.machines import Accelerator, Machine, Place


@cache
def machine(name: str) -> Machine:
    """The machine type `name`; Invalid, in the service's words, if custom training has no such type."""
    found = catalog.machine_types().get(name)
    if found is None:
        near = get_close_matches(name[:100], catalog.machine_types(), n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "Use a type such as n1-standard-4 or a3-highgpu-8g."
        raise Invalid(f"Machine type {name[:100]} is not supported. {hint}")
    return Machine(
        name=found.name,
        vcpus=found.vcpus,
        memory_gb=found.memory_gb,
        cpu_quota=found.cpu_quota,
        built_in=_accelerator(found.accelerator) if found.accelerator else None,
        built_in_count=found.accelerators,
        attachable={name: (_accelerator(name), counts) for name, counts in found.attachable.items()},
        on_demand=found.on_demand,
        reservation=found.reservation,
    )


def place(region: str) -> Place:
    """The region; one that the catalogue does not have offers everything."""
    found = catalog.vertex_region(region)
    return Place(found.name, found.training, found.accelerators)


@cache
def _accelerator(name: str) -> Accelerator:
    found = catalog.accelerators()[name]
    return Accelerator(found.name, found.gpu.name if found.gpu else None, found.quota, found.flex_start)
