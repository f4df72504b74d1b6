"""Prometheus metrics (CT-7): requests of this process, and the state of all, read when it is asked for."""

from collections.abc import Iterable, Sequence

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.failures import is_database_away
from app.store.db import Database
from app.usecases import health
from app.usecases.health import ProcessGauges, WorldGauges
from app.wire.control.vocabulary import ServiceOf

router = APIRouter(tags=["health"])
Rows = Iterable[tuple[Sequence[str], float]]


class _Read(Collector):
    """Families that were read already."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


@router.get("/metrics", summary="Prometheus metrics", response_class=Response)
async def read_metrics(service: ServiceOf) -> Response:
    """Requests are those of this process; the rest is read from the database, and is not there while that is away."""
    text = generate_latest(service.registry)
    try:
        text += await _state(service.db)
    except Exception as error:
        if not is_database_away(error):
            raise
    return Response(text, media_type=CONTENT_TYPE_LATEST)


_OF_WORLDS = {
    "clusters_due": "Clusters that wait for a pass.",
    "jobs_due": "Jobs that wait for a pass.",
    "lag_seconds": "World time that the oldest of them in a running world is behind; of _other, the longest.",
    "clusters_failing": "Clusters whose last pass failed.",
    "jobs_failing": "Jobs whose last pass failed.",
}


async def _state(database: Database) -> bytes:
    registry = CollectorRegistry()
    registry.register(_Read(families(*await database.run(health.measured))))
    return generate_latest(registry)


def families(worlds: Sequence[WorldGauges], processes: Sequence[ProcessGauges]) -> tuple[Metric, ...]:
    """The metrics of what is in the database."""
    living = [one for one in processes if not one.is_lease]
    kinds = [one.kind for one in living]
    return (
        _gauge("process_up", "Living processes of a kind.", ("kind",), (((k,), kinds.count(k)) for k in health.KINDS)),
        _gauge(
            "process_passes",
            "Passes that a living process has made.",
            ("kind", "name"),
            (((one.kind, one.name), one.passes) for one in living),
        ),
        _gauge(
            "lease_held",
            "Whether a process holds the lease.",
            ("name",),
            (((one.name,), one.held) for one in processes if one.is_lease),
        ),
        *(
            _gauge(name, about, ("world",), (((one.world,), getattr(one, name)) for one in worlds))
            for name, about in _OF_WORLDS.items()
        ),
    )


def _gauge(name: str, about: str, labels: Sequence[str], rows: Rows) -> Metric:
    family = GaugeMetricFamily(f"windtunnel_{name}", about, labels=labels)
    for values, number in rows:
        family.add_metric(values, number)
    return family
