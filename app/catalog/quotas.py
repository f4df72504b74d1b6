"""HyperPod's account quotas by the names of Service Quotas (`quotas.toml`). By default none limits."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from types import MappingProxyType

from app.catalog.records import Quota
from app.catalog.tables import Row, origin, table

_PATTERN = "The quota's name by AWS's pattern for every type; code and value are unknown"
_PATTERN_ON = date(2026, 11, 30)


@cache
def quotas() -> Mapping[str, Quota]:
    """The quotas that are not of one type, by our key (`instances-per-cluster`)."""
    document = table("quotas")
    return MappingProxyType(
        {
            row["key"]: Quota(
                key=row["key"],
                name=row["name"],
                code=row.get("code"),
                unit=row["unit"],
                applied=row["applied"],
                limit=None,
                recorded=row.get("recorded"),
                **origin(document, row),
            )
            for row in document["quotas"]
        }
    )


def on_demand_quota(instance_type: str) -> Quota:
    """The quota `ml.p5.48xlarge for cluster usage`, over all clusters; its key is `ml.p5.48xlarge`."""
    return _type_quota("on_demand", instance_type, instance_type, f"{instance_type} for cluster usage")


def spot_quota(instance_type: str) -> Quota:
    """The quota `ml.p5.48xlarge for cluster spot instance usage`; its key is `ml.p5.48xlarge/spot`."""
    return _type_quota(
        "spot", f"{instance_type}/spot", instance_type, f"{instance_type} for cluster spot instance usage"
    )


def reserved_quota(instance_type: str) -> Quota:
    """The quota of a type's instances in training plans; its key is `ml.p5.48xlarge/reserved`."""
    name = f"Number of {instance_type} instances in reserved capacity across training plans per Region"
    return _type_quota("reserved", f"{instance_type}/reserved", instance_type, name)


def _type_quota(kind: str, key: str, instance_type: str, name: str) -> Quota:
    row = _known(kind).get(instance_type, {})
    known: Row = (
        origin(table("quotas"), row) if row else {"evidence": "placeholder", "source": _PATTERN, "date": _PATTERN_ON}
    )
    return Quota(
        key=key,
        name=name,
        code=row.get("code"),
        unit="instances",
        applied="total",
        limit=None,
        recorded=row.get("recorded"),
        **known,
    )


@cache
def _known(kind: str) -> Mapping[str, Row]:
    return {row["type"]: row for row in table("quotas")[kind]}
