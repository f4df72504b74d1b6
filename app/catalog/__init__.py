"""Data that a non-programmer can review: instance types, accelerators, prices, regions, quotas, with sources.

The figures stand in the TOML files beside; the modules read them when first asked and use nothing but the
standard library. `docs/catalogue.md` tells how to read, override and add.
"""

from app.catalog.extensions import extensions
from app.catalog.hardware import gpu, gpus, instance_type, instance_types
from app.catalog.images import image_releases
from app.catalog.plans import plan_sizes, reservable, ultra_servers, upfront_fee
from app.catalog.prices import Prices, placeholder, price, published, read_price_file
from app.catalog.quotas import on_demand_quota, quotas, reserved_quota, spot_quota
from app.catalog.records import (
    Accelerator,
    Evidence,
    Fee,
    Gpu,
    InstanceType,
    MachineType,
    Price,
    Quota,
    Region,
    UltraServer,
    VertexRegion,
    Zone,
)
from app.catalog.regions import region, regions, usage_type, zones
from app.catalog.vertex import accelerators, is_location, machine_types, vertex_region, vertex_regions
from app.catalog.vertex_prices import Good, disk_price, goods, vertex_price
from app.catalog.vertex_quotas import vertex_quotas

__all__ = [
    "Accelerator",
    "Evidence",
    "Fee",
    "Good",
    "Gpu",
    "InstanceType",
    "MachineType",
    "Price",
    "Prices",
    "Quota",
    "Region",
    "UltraServer",
    "VertexRegion",
    "Zone",
    "accelerators",
    "disk_price",
    "extensions",
    "goods",
    "gpu",
    "gpus",
    "image_releases",
    "instance_type",
    "instance_types",
    "is_location",
    "machine_types",
    "on_demand_quota",
    "placeholder",
    "plan_sizes",
    "price",
    "published",
    "quotas",
    "read_price_file",
    "region",
    "regions",
    "reservable",
    "reserved_quota",
    "spot_quota",
    "ultra_servers",
    "upfront_fee",
    "usage_type",
    "vertex_price",
    "vertex_quotas",
    "vertex_region",
    "vertex_regions",
    "zones",
]
