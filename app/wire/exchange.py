"""One HTTP request and its answer, as every vendor's endpoint handles them: body, id, time, and what befalls them."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from app.clock import sleep
from app.core.mishaps import Mishap
from app.core.scope import Scope

AsgiScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

DEADLINE_S = 10.0
NO_STATUS = 0
"""What the log shows of a request that got no answer."""
HANG_UP = "windtunnel.hang_up"
"""Where an ASGI scope keeps what closes its connection; a server that has none gets the refusal sent."""
MISHAP = "windtunnel.mishap"
"""Where an ASGI scope keeps what befalls the answer."""
Befall = Callable[[Scope, str, str, str], Awaitable[Mishap | None]]
"""What befalls a request: (scope, API, operation, the cluster that it names or nothing)."""


async def nothing_befalls(scope: Scope, api: str, operation: str, cluster: str) -> Mishap | None:
    """A world without faults."""
    return None


async def whole_body(receive: Receive) -> bytes | None:
    """The whole body, which `app.wire.safety` has bounded, or None when the client went away."""
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body", False):
        whole: bytes = message.get("body", b"")
        return whole
    parts: list[bytes] = []
    while message["type"] == "http.request":
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)
        message = await receive()
    return None


async def suffer(mishap: Mishap, scope: AsgiScope, receive: Receive) -> bool:
    """Let the answer be as late as it is to be; True when the connection has been closed instead."""
    await sleep(mishap.late_ms / 1000)
    if not mishap.drops or HANG_UP not in scope:
        return False
    scope[HANG_UP]()
    while (await receive())["type"] != "http.disconnect":
        pass
    return True
