"""Vertex AI with every RPC registered."""

import importlib

from app.service import Service
from app.wire.vertex.endpoint import VertexEndpoint
from app.wire.vertex.rpc import RPCS, Rpc

TOPICS = ("custom_jobs", "documents", "locations", "operations", "pipelines", "tuning_jobs")
PREFIXES = ("/v1/", "/v1beta1/", "/ui/")
"""The paths that are Vertex AI's."""


def rpcs() -> dict[str, Rpc]:
    """Every emulated RPC by its name."""
    for topic in TOPICS:
        importlib.import_module(f"app.wire.vertex.{topic}")
    return RPCS


def application(service: Service) -> VertexEndpoint:
    """The API over REST, as an ASGI application."""
    rpcs()
    return VertexEndpoint(service)
