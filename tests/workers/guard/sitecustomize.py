"""Runs first in a guarded child: writes down and forbids every connection but to loopback or a Unix socket."""

import os
import sys

_LOG = os.environ["SOCKET_GUARD_LOG"]
_LOCAL = ("127.", "::1", "localhost")


def _note(text: str) -> None:
    with open(_LOG, "a") as log:  # noqa: PTH123 - as early and as plain as can be
        log.write(text + "\n")


def _guard(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.connect":
        address = arguments[1]
        if isinstance(address, tuple) and not str(address[0]).startswith(_LOCAL):
            _note(f"connect {address[0]}:{address[1]}")
            raise PermissionError(f"no connection to {address[0]} from a guarded process")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname") and not str(arguments[0]).startswith(_LOCAL):
        _note(f"resolve {arguments[0]}")
        raise PermissionError(f"no look-up of {arguments[0]} from a guarded process")


_note("guarded")
sys.addaudithook(_guard)
