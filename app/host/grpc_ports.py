"""gRPC's two ports: an insecure one, and the next, which speaks TLS (VX-20)."""

import contextlib
import dataclasses
import importlib.util
import logging
import socket
from collections.abc import Iterator

from app.host.listener import PortInUse
from app.settings import Settings

NEEDED = ("grpc", "google.cloud.aiplatform_v1", "trustme")
INSTALL = "pip install 'windtunnel[vertex]'"
_TRIES = 20
log = logging.getLogger(__name__)


def is_installed() -> bool:
    """The packages that gRPC takes are there; to look costs nothing, to import them does."""
    try:
        return all(importlib.util.find_spec(name) for name in NEEDED)
    except ModuleNotFoundError:  # the parent package is missing
        return False


def with_ports(settings: Settings, http_port: int) -> Settings:
    """The settings with gRPC's port decided; 0: it is not served, and the log says why unless that was asked.

    Raises PortInUse when the port was asked for and is taken.
    """
    if settings.grpc_port == 0:
        return settings
    wanted = settings.grpc_port
    if not is_installed():
        log.info("gRPC is not served: its packages are not installed (%s)", INSTALL)
        return dataclasses.replace(settings, grpc_port=0)
    if wanted is None and settings.port == 0:
        return dataclasses.replace(settings, grpc_port=_free_pair(settings))
    port = http_port + 1 if wanted is None else wanted
    if all(_is_free(settings, each) for each in (port, port + 1)):
        return dataclasses.replace(settings, grpc_port=port)
    if wanted is not None:
        raise PortInUse(f"gRPC takes {settings.host}:{port} and the next, and one is taken: choose with --grpc-port")
    log.warning("gRPC is not served: port %d or %d is taken; choose another with --grpc-port", port, port + 1)
    return dataclasses.replace(settings, grpc_port=0)


def _free_pair(settings: Settings) -> int:
    for _ in range(_TRIES):
        with _bound(settings, 0) as listener:
            port: int = listener.getsockname()[1]
        if port < 65535 and _is_free(settings, port + 1):
            return port
    raise PortInUse(f"no two ports in a row are free on {settings.host}: choose with --grpc-port")


def _is_free(settings: Settings, port: int) -> bool:
    if port > 65535:
        return False
    try:
        with _bound(settings, port):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def _bound(settings: Settings, port: int) -> Iterator[socket.socket]:
    family, kind, protocol, _, address = socket.getaddrinfo(
        settings.host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        yield listener
