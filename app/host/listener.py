"""The listening socket. The supervisor holds it, so the port is ours before the API runs and while it restarts."""

import errno
import socket

from app.settings import Settings

BACKLOG = 2048


class PortInUse(Exception):
    """Something else listens there. Exit code 4."""


def listen(settings: Settings) -> socket.socket:
    """A socket that listens on the settings' address (port 0: a free one). Raises PortInUse."""
    if settings.listen_fd is not None:
        return socket.socket(fileno=settings.listen_fd)
    family, kind, protocol, _, address = socket.getaddrinfo(
        settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise PortInUse(_complaint(settings, error)) from error
    listener.setblocking(False)
    return listener


def _complaint(settings: Settings, error: OSError) -> str:
    place = f"{settings.host}:{settings.port}"
    if error.errno == errno.EADDRINUSE:
        return (
            f"{place} is taken by another program, perhaps another `windtunnel up`: "
            f"stop it, or choose another with --port {settings.port + 1}"
        )
    return f"cannot listen on {place}: {error.strerror}; choose another with --host and --port"
