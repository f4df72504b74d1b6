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
from app.catalog.records import Evidence, Fee, Gpu, InstanceType, Price, Quota, Region, UltraServer, Zone
from app.catalog.regions import region, regions, usage_type, zones

__all__ = [
    "Evidence",
    "Fee",
    "Gpu",
    "InstanceType",
    "Price",
    "Prices",
    "Quota",
    "Region",
    "UltraServer",
    "Zone",
    "extensions",
    "gpu",
    "gpus",
    "image_releases",
    "instance_type",
    "instance_types",
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
    "zones",
]
