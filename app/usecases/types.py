"""The types that capacity and prices are kept for: HyperPod's instance types and Vertex AI's machines (CT-4, CT-5)."""

from collections.abc import Sequence

from app import catalog
from app.core.errors import Invalid

DEFAULT_LOCATION = "us-central1"
"""Where Vertex AI's machines are if no region is given (chosen): the default region is one of AWS."""


def is_type(name: str) -> bool:
    """Whether either cloud has machines of the type."""
    return name in catalog.instance_types() or name in catalog.machine_types()


def unknown(name: str) -> str:
    """Why there is no such type, and what to do."""
    return f"No instance type '{name[:100]}'. Use a name such as ml.p5.48xlarge, of Vertex AI a3-highgpu-8g."


def default_region(name: str, default: str) -> str:
    """Where the type is meant to be if nothing is said."""
    return DEFAULT_LOCATION if name in catalog.goods() else default


def check_region(name: str, region: str) -> None:
    """Invalid if the region is one of the other cloud than the type."""
    is_vertex = name in catalog.goods()
    if catalog.is_location(region) != is_vertex:
        cloud, example = ("Vertex AI", DEFAULT_LOCATION) if is_vertex else ("AWS", "us-west-2")
        raise Invalid(f"'{name}' is a type of {cloud}, which has no region '{region}'. Use one such as {example}.")


def zones(region: str) -> Sequence[str]:
    """The region's zones by name, of either cloud."""
    if catalog.is_location(region):
        return catalog.vertex_region(region).zones
    return [zone.name for zone in catalog.zones(region)]
