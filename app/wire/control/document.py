"""The OpenAPI document of the control API: what is served, and what `openapi/control.json` is a copy of."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from app import __version__

router = APIRouter(tags=["health"])
PATH = "/openapi.json"
_TITLE = "Windtunnel control"
_SUMMARY = "Worlds, clocks, capacity, faults, prices, quotas and bills of a Windtunnel."
_SERVERS: list[dict[str, Any]] = [
    {"url": "http://127.0.0.1:4600", "description": "World main."},
    {
        "url": "http://127.0.0.1:4600/w/{world}",
        "description": "Any world.",
        "variables": {"world": {"default": "main"}},
    },
]
_FRAMEWORKS_OWN = ("HTTPValidationError", "ValidationError")


@router.get(PATH, summary="This document", include_in_schema=False)
async def read_document(request: Request) -> dict[str, Any]:
    return document(request.app.routes)


def document(routes: list[BaseRoute]) -> dict[str, Any]:
    """The document of `routes`. What a request breaks is told with 400, not with the framework's 422."""
    made = get_openapi(title=_TITLE, version=__version__, summary=_SUMMARY, routes=routes, servers=_SERVERS)
    for methods in made["paths"].values():
        for operation in methods.values():
            operation["responses"].pop("422", None)
            operation["operationId"] = operation["operationId"].partition("__windtunnel")[0]
    for name in _FRAMEWORKS_OWN:
        made["components"]["schemas"].pop(name, None)
    return made
