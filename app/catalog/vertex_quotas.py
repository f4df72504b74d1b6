"""Quotas of Vertex AI custom training by Google's names (`vertex_quotas.toml`). By default none limits."""

from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache

from app.catalog.records import Quota
from app.catalog.tables import Row, origin, table
from app.catalog.vertex import accelerators

METRIC = "aiplatform.googleapis.com/custom_model_training_"
PREEMPTIBLE = "preemptible_"
_EVERY_REGION = "*"
_PATTERN: Row = {
    "evidence": "placeholder",
    "source": "The quota's name by Google's pattern; its default is unknown",
    "date": date(2026, 11, 30),
}


def vertex_quotas(region: str) -> Mapping[str, Quota]:
    """Every quota of custom training by its name; `recorded` is what a new project has in the region, None: unknown."""
    return {name: _quota(name, kind, region) for name, kind in _names().items()}


@cache
def _names() -> Mapping[str, str]:
    """Each name with the kind that its default is listed under, "" for the preemptible, whose defaults are unknown."""
    kinds = list(_kinds())
    return {METRIC + kind: kind for kind in kinds} | {METRIC + PREEMPTIBLE + kind: "" for kind in kinds}


def _kinds() -> Iterator[str]:
    families = table("vertex_machines")["families"].values()
    yield from dict.fromkeys(family["cpu_quota"] for family in families if family["cpu_quota"])
    yield from (one.quota for one in accelerators().values())


def _quota(name: str, kind: str, region: str) -> Quota:
    row = _known().get(kind, {"documented": {}})
    recorded = row["documented"].get(region, row["documented"].get(_EVERY_REGION))
    known = _PATTERN if recorded is None else origin(table("vertex_quotas"), row)
    unit = "vCPUs" if name.endswith("cpus") else "accelerators"
    return Quota(name, name, None, unit, "total", limit=None, recorded=recorded, **known)


@cache
def _known() -> Mapping[str, Row]:
    return {row["kind"]: row for row in table("vertex_quotas")["quotas"]}
