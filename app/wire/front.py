"""Behind the gate, before any framework: which surface answers, and in which dialect it says what it cannot do.

AWS requests go straight to their endpoint; the routing of FastAPI would cost more than some of the operations.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from app import clock
from app.core.scope import DEFAULT_WORLD, Scope
from app.failures import is_database_away, report
from app.request_log import RequestLog, RequestRecord, new_request_id
from app.usecases import worlds
from app.wire.dialects import SURFACE, Refusal, Surface, refuse
from app.wire.exchange import DEADLINE_S, MISHAP
from app.wire.google.storage_dialect import OPERATIONS as STORAGE
from app.wire.safety import App, AsgiScope, Message, Receive, Send

KNOWN_SECONDS = 1.0
"""How long a world that was there is taken to be there still; what it owns is locked, or found missing, anyway."""
MOTO_RESET = "/moto-api/reset"
_SLOW = ("clock/advance", "worlds", "snapshots", "reset", "bills", "events/stream")
UNHURRIED = (*(f"/_windtunnel/{noun}" for noun in _SLOW), MOTO_RESET)
"""What may take as long as it takes: it visits every instant of a period, every row of a world, or has no end."""
TRANSFER_S = 600.0
"""Seconds of the wall in which the bytes of an object, on their way in or out, must be there."""
_REQUEST_ID = b"x-request-id"

log = logging.getLogger("windtunnel.front")


class KnownWorlds:
    """Remembers for a second which worlds exist and their profiles, so that hot reads need no query for it."""

    def __init__(self, service: Any) -> None:
        self._service = service
        self._known: dict[str, tuple[float, str]] = {}

    async def profile(self, name: str) -> str | None:
        """The world's profile. None only when the database says that there is no such world: that it is away is for
        the surface to tell, and so is that `main` is missing."""
        now, known = clock.monotonic(), self._known
        until, profile = known.get(name, (0.0, ""))
        if until > now:
            return profile
        if name in known:
            known[name] = now + KNOWN_SECONDS, profile  # one looks again, the others need not wait for it
        try:
            async with asyncio.timeout(DEADLINE_S):
                found: str | None = await self._service.db.run(worlds.profile_of, name)
        except Exception as error:
            if not is_database_away(error):
                raise
            return profile
        if found is None:
            known.pop(name, None)
            return "" if name == DEFAULT_WORLD else None
        if len(known) > 10_000:
            known.clear()
        known[name] = now + KNOWN_SECONDS, found
        return found

    def forget(self) -> None:
        """Something may have been done to worlds: look again."""
        self._known = {}  # who is looking just now leaves what it finds in the old one


class Front:
    """ASGI middleware: AWS to `aws`, Google to `google`, pages to `console`, the rest to `app`."""

    def __init__(
        self, app: App, *, aws: App, google: App, console: App, known: KnownWorlds, on_change: Callable[[], None]
    ) -> None:
        self._app, self._aws, self._google, self._console = app, aws, google, console
        self._known, self._on_change = known, on_change

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer a request on whichever surface it is for."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        surface = scope[SURFACE]
        world = scope.get("windtunnel.world", DEFAULT_WORLD)
        needless = world == DEFAULT_WORLD and surface is not Surface.AWS  # to be told how we are, without a database
        profile = "" if needless else await self._known.profile(world)
        if profile is None:
            return await refuse(send, surface, _no_world(world))
        scope["windtunnel.profile"] = profile
        if surface is Surface.AWS:
            return await self._aws(scope, receive, send)
        if surface is Surface.STORAGE:
            scope["path"] = scope["raw_path"].decode("ascii", "replace")  # an object's name has slashes of its own
        if surface in (Surface.GOOGLE, Surface.STORAGE):
            return await self._google(scope, receive, send)
        if scope["method"] != "GET":
            send = self._after_change(send)
        app = self._console if surface is Surface.CONSOLE else self._app
        return await app(scope, receive, send)

    def _after_change(self, send: Send) -> Send:
        """Whatever was changed, worlds and faults may have been: nobody who knows the answer meets what was before."""

        async def told(message: Message) -> None:
            self._known.forget()
            self._on_change()
            await send(message)

        return told


class Account:
    """ASGI middleware: gives every answer a request id, counts it, and tells failures in the surface's dialect.

    It stands inside the framework, whose own outermost layer would tell them in its words.
    """

    def __init__(self, app: App, *, request_log: RequestLog) -> None:
        self._app, self._log = app, request_log

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Pass the request on, within its time."""
        if scope["type"] == "http":
            await self._answered(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answered(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        started = clock.monotonic()
        request_id, status = new_request_id(), 0

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if all(name != _REQUEST_ID for name, _ in message["headers"]):
                    message["headers"] = [*message["headers"], (_REQUEST_ID, request_id.encode())]
            await send(message)

        try:
            async with asyncio.timeout(_deadline_s(scope)):
                await self._app(scope, receive, watch)
        except Exception as error:
            report(log, error, {"request_id": request_id, "path": scope["path"]})
            if status:
                raise  # the answer has begun: all that is left is to break it off
            await refuse(watch, scope[SURFACE], _failure(error, request_id))
        self._log(_record(scope, request_id, status, (clock.monotonic() - started) * 1000))


def _record(scope: AsgiScope, request_id: str, status: int, took_ms: float) -> RequestRecord:
    operation = getattr(scope.get("route"), "name", "")
    who = Scope(scope.get("windtunnel.world", DEFAULT_WORLD), "", "")
    code = None if status < 400 else str(status)
    faults = scope[MISHAP].rules if scope.get(MISHAP) is not None else ()
    return RequestRecord(request_id, scope[SURFACE].value, operation, who, status, code, took_ms, faults=faults)


async def unknown_path(scope: AsgiScope, receive: Receive, send: Send) -> None:
    """The end of the routes: nothing is served at this path."""
    surface = scope[SURFACE]
    await refuse(send, surface, Refusal(404, "NotFound", _nothing_here(surface)))


def _nothing_here(surface: Surface) -> str:
    if surface is Surface.CONTROL:
        return (
            "Nothing is served at this path. The control API is /_windtunnel/…; its nouns are in openapi/control.json."
        )
    if surface is Surface.STORAGE:
        return f"Nothing is served at this path. Of Cloud Storage there are {', '.join(STORAGE)}."
    return "This surface is not in this version; docs/coverage.md lists what is."


def _no_world(name: str) -> Refusal:
    return Refusal(404, "NoSuchWorld", f"There is no world '{name}'. Create it with `windtunnel world create {name}`.")


def _deadline_s(scope: AsgiScope) -> float | None:
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    if path.startswith(UNHURRIED):
        return None
    return TRANSFER_S if scope[SURFACE] is Surface.STORAGE else DEADLINE_S


def _failure(error: Exception, request_id: str) -> Refusal:
    if is_database_away(error):
        text = f"The database did not answer in time; nothing was acknowledged, so retry. Request {request_id}."
        return Refusal(503, "ServiceUnavailable", text)
    text = f"The service failed on this request; its log names the cause under request {request_id}."
    return Refusal(500, "InternalFailure", text)
