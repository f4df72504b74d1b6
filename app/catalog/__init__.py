"""Data that a non-programmer can review: instance types, accelerators, prices, regions, quotas, with sources.

The figures stand in the TOML files beside; the modules read them when first asked and use nothing but the
standard library. `docs/catalogue.md` tells how to read, override and add.
"""

from app.catalog.hardware import gpu, gpus, instance_type, instance_types
from app.catalog.prices import Prices, placeholder, price, published, read_price_file
from app.catalog.quotas import on_demand_quota, quotas, spot_quota
from app.catalog.records import Evidence, Gpu, InstanceType, Price, Quota, Region, Zone
from app.catalog.regions import region, regions, usage_type, zones

__all__ = [
    "Evidence",
    "Gpu",
    "InstanceType",
    "Price",
    "Prices",
    "Quota",
    "Region",
    "Zone",
    "gpu",
    "gpus",
    "instance_type",
    "instance_types",
    "on_demand_quota",
    "placeholder",
    "price",
    "published",
    "quotas",
    "read_price_file",
    "region",
    "regions",
    "spot_quota",
    "usage_type",
    "zones",
]
