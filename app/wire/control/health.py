"""Whether the service lives, is ready, and what it is (CT-7)."""

import platform
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from app import __version__
from app.failures import is_database_away
from app.store.dsn import displayed
from app.usecases import health
from app.wire.control.clock import clock_of
from app.wire.control.vocabulary import ServiceOf, WorldOf

router = APIRouter(tags=["health"])


class Alive(BaseModel):
    status: str


class Readiness(BaseModel):
    """`missing` names what the service waits for."""

    ready: bool
    missing: list[str]


class Requests(BaseModel):
    requests: list[dict[str, Any]]


@router.get("/health", summary="Whether this process lives")
async def read_health() -> Alive:
    return Alive(status="alive")


@router.get("/ready", summary="Whether schema, seed and workers are there", responses={503: {"model": Readiness}})
async def read_ready(service: ServiceOf) -> JSONResponse:
    try:
        missing = await service.db.run(health.missing)
    except Exception as error:
        if not is_database_away(error):
            raise
        missing = ["the database does not answer"]
    return JSONResponse({"ready": not missing, "missing": missing}, 503 if missing else 200)


@router.get("/status", summary="Address, database, clocks, processes, versions, what fails")
async def read_status(service: ServiceOf, world: WorldOf, request: Request) -> dict[str, Any]:
    settings = service.settings
    found = await service.db.run(health.facts)
    clocks = [clock_of(each) for each in found["worlds"]]
    return {
        "address": settings.base_url if settings.port else f"http://{request.headers['host']}",
        "grpc": {"port": settings.grpc_port, "tls_port": settings.grpc_port + 1} if settings.grpc_port else None,
        "database": displayed(settings.database_url or ""),
        "data": str(settings.data) if settings.data else None,
        "clock": next((each for each in clocks if each["world"] == world), None),
        "profile": settings.profile,
        "auth": settings.auth,
        "control_token": settings.control_token is not None,
        "versions": {
            "windtunnel": __version__,
            "botocore": version("botocore"),
            "postgres": found["postgres"],
            "python": platform.python_version(),
        },
        "worlds": clocks,
        "failing": found["failing"],
        "processes": found["processes"],
        "leases": found["leases"],
    }


@router.get("/requests", summary="The last requests of this process, the newest first")
async def read_requests(
    service: ServiceOf, world: WorldOf, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> Requests:
    """Of this world. Neither bodies nor keys are kept."""
    records = [record for record in service.request_log.newest() if record.scope.world == world]
    return Requests(
        requests=[
            {
                "request_id": record.request_id,
                "api": record.api,
                "operation": record.operation,
                "account": record.scope.account or None,
                "region": record.scope.region or None,
                "status": record.status,
                "code": record.code,
                "duration_ms": round(record.duration_ms, 3),
                "ignored": list(record.ignored),
                "faults": list(record.faults),
            }
            for record in records[:limit]
        ]
    )
