"""Around every answer of the console: a request id, a deadline, the log, and headers that let nothing foreign in."""

import asyncio
import logging

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import clock
from app.console import rendering
from app.core.scope import Scope as Tenant
from app.failures import is_database_away, report
from app.request_log import RequestLog, RequestRecord, new_request_id

DEADLINE_S = 10.0
UNHURRIED = ("/changes",)
"""The ends of paths of what may take as long as it takes."""
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
"""RL-27. A browser that may not tell where a form was would send `Origin: null` with it: so `same-origin`."""
log = logging.getLogger("windtunnel.console")


class Gate:
    """ASGI middleware inside the framework, whose own outermost layer would tell failures in its words."""

    def __init__(self, app: ASGIApp, *, request_log: RequestLog) -> None:
        self._app, self._log = app, request_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, within its time."""
        if scope["type"] == "http":
            await self._answered(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, request_id, status = clock.monotonic(), new_request_id(), 0

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _guarded(message["headers"], request_id)
            await send(message)

        app = _NUL if b"%00" in scope.get("query_string", b"") or "\0" in scope["path"] else self._app
        try:
            async with asyncio.timeout(None if scope["path"].endswith(UNHURRIED) else DEADLINE_S):
                await app(scope, receive, watch)
        except Exception as error:
            report(log, error, {"request_id": request_id, "path": scope["path"]})
            if status:
                raise  # the answer has begun: all that is left is to break it off
            await _failure(error, request_id)(scope, receive, watch)
        self._log(_record(scope, request_id, status, (clock.monotonic() - started) * 1000))


def _record(scope: Scope, request_id: str, status: int, took_ms: float) -> RequestRecord:
    operation = getattr(scope.get("route"), "name", "")
    who = Tenant(scope.get("path_params", {}).get("world", ""), "", "")
    return RequestRecord(request_id, "console", operation, who, status, None if status < 400 else str(status), took_ms)


def _guarded(headers: list[tuple[bytes, bytes]], request_id: str) -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in headers if name.lower() != b"x-request-id"]
    guards = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    fresh = [] if any(name.lower() == b"cache-control" for name, _ in kept) else [(b"cache-control", b"no-store")]
    return [*kept, *guards, *fresh, (b"x-request-id", request_id.encode())]


def _failure(error: Exception, request_id: str) -> HTMLResponse:
    if is_database_away(error):
        return _told(503, "The database did not answer in time. Nothing was lost; try again.", request_id)
    return _told(500, "The service failed on this request; its log names the cause.", request_id)


def _told(status: int, text: str, request_id: str) -> HTMLResponse:
    page = rendering.whole("bare.html", title=f"Error {status}", text=text, request_id=request_id)
    return HTMLResponse(page, status)


_NUL = _told(400, "No part of an address may hold the character NUL.", "")
