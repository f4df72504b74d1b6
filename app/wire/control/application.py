"""The control API as an application: the one place where the framework is set up."""

from typing import Any

from fastapi import FastAPI

from app.service import Service
from app.wire.control import (
    alarms,
    attachments,
    bills,
    budgets,
    capacity,
    clock,
    decisions,
    document,
    events,
    faults,
    fleets,
    health,
    hosts,
    images,
    imports,
    jobs,
    lag,
    logs,
    metrics,
    moto,
    prices,
    quotas,
    refusals,
    slurm,
    snapshots,
    streams,
    webhooks,
    workloads,
    worlds,
)
from app.wire.control.vocabulary import Refused
from app.wire.front import Account, unknown_path

PREFIX = "/_windtunnel"
NOUNS = (
    health,
    metrics,
    clock,
    worlds,
    lag,
    imports,
    snapshots,
    slurm,
    capacity,
    quotas,
    prices,
    faults,
    images,
    alarms,
    bills,
    budgets,
    fleets,
    hosts,
    workloads,
    decisions,
    jobs,
    logs,
    events,
    webhooks,
    attachments,
    document,
)
REFUSALS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Refused, "description": "Refused: the message says why and what to do."},
    "503": {"model": Refused, "description": "The database is away; nothing was acknowledged."},
}


def application(service: Service) -> FastAPI:
    """Every noun's routes, and the answers for what they refuse. Its pages would load scripts from elsewhere."""
    app = FastAPI(openapi_url=None)
    app.state.service = service
    app.state.hub = streams.Hub(service)
    refusals.install(app)
    for noun in NOUNS:
        app.include_router(noun.router, prefix=PREFIX, responses=REFUSALS)
    app.include_router(moto.router)
    app.router.redirect_slashes = False
    app.router.default = unknown_path
    app.add_middleware(Account, request_log=service.request_log)
    return app
