"""Faults of requests in Cloud Storage's dialect (CT-3): what befalls a request is asked before it is answered, and its
answer may be late, or never come."""

from fastapi import HTTPException, Request

from app.core.effects import DROP
from app.core.faults import Rule
from app.core.mishaps import Mishap
from app.core.scope import Scope
from app.wire.exchange import MISHAP, AsgiScope, Receive, Send, suffer
from app.wire.google.errors import Code
from app.wire.google.mishaps import code_of
from app.wire.google.storage_dialect import API
from app.wire.google.storage_messages import project_of
from app.wire.google.storage_requests import ServiceOf, WorldOf
from app.wire.safety import App, Message

_THROTTLED = "The rate of requests is too high. Reduce it, and try again with exponential back-off."


async def befall(request: Request, service: ServiceOf, world: WorldOf) -> None:
    """Let happen to the request what a fault rule says, before it is done, or note it for when it is."""
    settings = service.settings
    project = project_of(request.query_params.get("project")) or settings.default_account
    who = Scope(world, project, settings.default_region)
    mishap = await service.mishaps.befall(who, API, request.scope["route"].name, "")
    request.scope[MISHAP] = mishap
    if mishap is not None and mishap.instead is not None:
        raise _error_of(mishap.instead)


def _error_of(rule: Rule) -> HTTPException:
    if rule.effect == DROP:
        return HTTPException(503, "A fault rule drops this request; this server cannot close the connection.")
    if rule.effect == "api-throttle":
        return HTTPException(code_of(rule.code, Code.RESOURCE_EXHAUSTED).http, rule.message or _THROTTLED)
    code = code_of(rule.code, Code.INTERNAL)
    return HTTPException(code.http, rule.message or f"A fault rule ({rule.rule_id}) answers this request.")


class Suffering:
    """ASGI middleware: an answer is as late as its request's mishap makes it, or the connection closes instead."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def told(message: Message) -> None:
            mishap: Mishap | None = scope.get(MISHAP)
            if mishap is not None and message["type"] == "http.response.start":
                await suffer(mishap, scope, receive)
            await send(message)

        await self._app(scope, receive, told)
