"""Vertex AI over REST as an ASGI application: query and body to a request, answer or error to bytes (VX-19)."""

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import orjson

from app import clock
from app.core.mishaps import Mishap
from app.core.scope import DEFAULT_WORLD, Scope
from app.failures import report
from app.request_log import RequestRecord, new_request_id, one_line
from app.service import Service
from app.wire.exchange import NO_STATUS, AsgiScope, Receive, Send, suffer, whole_body
from app.wire.google.errors import Code, GoogleError, Violation, envelope, of_failure
from app.wire.google.parameters import STANDARD, unbound, wants_numbers
from app.wire.google.proto import camel, numbered
from app.wire.google.reading import NO_MESSAGE, parsed, refusal
from app.wire.vertex.routing import Route, route
from app.wire.vertex.rpc import API, Call

CONTENT_TYPE = b"application/json; charset=UTF-8"
_JSON_TYPES = ("application/json", "text/json", "")

log = logging.getLogger("windtunnel.vertex")


class VertexEndpoint:
    """Serves what `app.wire.vertex.rpc` has registered. Every answer, whatever it is, is in Google's dialect."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        started = clock.monotonic()
        exchange = _Exchange(self._service, scope)
        body = await whole_body(receive)
        if body is None:
            return  # the client is gone
        status, code, answer = await exchange.answered(body)
        if exchange.mishap is not None and await suffer(exchange.mishap, scope, receive):
            status, code = NO_STATUS, "Dropped"
        else:
            await _respond(send, status, answer, exchange.request_id)
        self._service.request_log(exchange.record(status, code, (clock.monotonic() - started) * 1000))


class _Exchange:
    """One request on its way."""

    def __init__(self, service: Service, scope: AsgiScope) -> None:
        self.request_id = new_request_id()
        self.call: Call | None = None
        self._service = service
        self._world: str = scope.get("windtunnel.world", DEFAULT_WORLD)
        self._method: str = scope["method"]
        self._path: str = scope["path"].removeprefix(scope.get("root_path", ""))
        self._query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        self._type = next((value for name, value in scope["headers"] if name == b"content-type"), b"").decode("latin-1")

    @property
    def mishap(self) -> Mishap | None:
        return self.call.mishap if self.call else None

    async def answered(self, body: bytes) -> tuple[int, str | None, bytes]:
        """Status, canonical code of an error, and body."""
        try:
            return 200, None, await self._answer(body)
        except GoogleError as error:
            return error.http, error.code.name, envelope(error)
        except Exception as error:  # the last line of defence: whatever it is, the client gets the dialect
            report(log, error, {"request_id": self.request_id, "path": one_line(self._path)})
            failure = of_failure(error, self.request_id)
            return failure.http, failure.code.name, envelope(failure)

    async def _answer(self, body: bytes) -> bytes:
        found = route(self._method, self._path)
        self.call = Call(self._service, found.rpc, self._world, found.version)
        standard = {name: value for name, value in self._query if name in STANDARD}
        ints = wants_numbers(standard)
        if body and self._type.partition(";")[0].strip().lower() not in _JSON_TYPES:
            text = f"Send the body as application/json, not as '{one_line(self._type)}'."
            raise GoogleError(Code.INVALID_ARGUMENT, text, http=415)
        answer = await self.call.answer(self._request(found, body))
        if ints and found.rpc.answer is not None:
            answer = numbered(found.rpc.answer, answer)
        return orjson.dumps(answer, option=orjson.OPT_INDENT_2)

    def _request(self, found: Route, body: bytes) -> dict[str, Any]:
        """The RPC's request, of path, query and body."""
        rpc = found.rpc
        fields = {camel(name): name for name in rpc.request.model_fields if name not in (rpc.target[0], rpc.body)}
        names = fields | {name: name for name in fields.values()}
        asked = [(name, value) for name, value in self._query if name not in STANDARD]
        if unknown := [name for name, _ in asked if name not in names]:
            raise refusal([unbound(name) for name in unknown])
        value: dict[str, Any] = {names[name]: text for name, text in asked}
        if rpc.body == "*":
            value |= _members(parsed(body))
        elif rpc.body:
            value[rpc.body] = parsed(body)
        elif body.strip() not in (b"", b"{}"):
            told = f"{rpc.name} takes no body. Leave it out."
            raise refusal([Violation("", told)])
        if len(rpc.target) == 1:
            return value | {rpc.target[0]: found.name}
        return value | {rpc.body: {**_members(value[rpc.body]), "name": found.name}}

    def record(self, status: int, code: str | None, took_ms: float) -> RequestRecord:
        scope = self.call.scope if self.call and self.call.scope else Scope(self._world, "", "")
        operation = self.call.rpc.name if self.call else ""
        faults = self.mishap.rules if self.mishap is not None else ()
        return RequestRecord(self.request_id, API, operation, scope, status, code, took_ms, faults=faults)


def _members(body: Any) -> Mapping[str, Any]:
    """The fields of a body that is the request itself."""
    if not isinstance(body, Mapping):
        raise refusal([Violation("", NO_MESSAGE)])
    return body


async def _respond(send: Send, status: int, body: bytes, request_id: str) -> None:
    headers = [
        (b"content-type", CONTENT_TYPE),
        (b"content-length", str(len(body)).encode()),
        (b"x-request-id", request_id.encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
