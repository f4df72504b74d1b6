"""Releases of the AMI that HyperPod manages (`images.toml`)."""

from collections.abc import Sequence
from functools import cache

from app.catalog.tables import table


@cache
def image_releases() -> Sequence[str]:
    """The versions that every world has, oldest first."""
    return tuple(row["version"] for row in table("images")["releases"])
