"""Our own API under `/_windtunnel`, one module a noun."""

from typing import Any

from fastapi import FastAPI

from app.wire.control import (
    bills,
    capacity,
    clock,
    document,
    events,
    faults,
    health,
    metrics,
    prices,
    quotas,
    refusals,
    worlds,
)
from app.wire.control.vocabulary import Refused

PREFIX = "/_windtunnel"
NOUNS = (health, metrics, clock, worlds, capacity, quotas, prices, faults, bills, events, document)
REFUSALS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Refused, "description": "Refused: the message says why and what to do."},
    "503": {"model": Refused, "description": "The database is away; nothing was acknowledged."},
}


def install(app: FastAPI) -> None:
    """Put every noun's routes, and the answers for what they refuse, into `app`."""
    refusals.install(app)
    for noun in NOUNS:
        app.include_router(noun.router, prefix=PREFIX, responses=REFUSALS)
