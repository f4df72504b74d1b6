"""AWS JSON 1.1 on one ASGI endpoint: target to operation, body to input, answer or error to bytes (HP-W1 to HP-W6).

The path does not matter, so there is no routing: `X-Amz-Target` picks service and operation. A handler never
sees HTTP; the wire never sees state.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from app.clock import monotonic
from app.core.errors import DomainError
from app.core.mishaps import Mishap
from app.core.scope import DEFAULT_WORLD, Scope
from app.failures import report
from app.request_log import RequestRecord, new_request_id, one_line
from app.wire.aws import errors
from app.wire.aws.canonical import Signed
from app.wire.aws.dialect import PLAIN, Dialect
from app.wire.aws.errors import Answer, AwsError
from app.wire.aws.mishaps import cluster_of, error_of
from app.wire.aws.problems import Problems, serialization_text, validation_text
from app.wire.aws.registry import AwsService, Context, Operation
from app.wire.aws.signature import Caller
from app.wire.exchange import (
    DEADLINE_S,
    NO_STATUS,
    AsgiScope,
    Befall,
    Receive,
    Send,
    nothing_befalls,
    suffer,
    whole_body,
)

__all__ = ["AwsEndpoint", "AwsError", "AwsService", "Context"]

COVERAGE_PAGE = "docs/coverage.md"
_IGNORED_HEADER = b"x-windtunnel-ignored"
_CONTENT_TYPES = ("application/x-amz-json-1.1", "application/x-amz-json-1.0", "application/json")

log = logging.getLogger("windtunnel.aws")


class Authentication(Protocol):
    """How a caller is known: `signature.Trusting` or `signature.Verifying`."""

    def caller(self, request: Signed, service: str, account: str | None = None) -> Caller:
        """Who asks, for `account` if the access key is none; AwsError when that is refused."""


@dataclass(slots=True)
class _Call:
    """What is known so far of one request, for its answer and for the log."""

    request_id: str
    scope: Scope
    dialect: Dialect = PLAIN
    operation: str = ""
    api: str = "aws"
    mishap: Mishap | None = None
    ignored: list[str] = field(default_factory=list)


class AwsEndpoint:
    """An ASGI application that serves `services`. `service` is what handlers find as `ctx.service`.

    `dialects` are by the profile of the world, which `scope["windtunnel.profile"]` tells.
    """

    def __init__(
        self,
        services: Iterable[AwsService],
        *,
        service: Any,
        authentication: Authentication,
        on_request: Callable[[RequestRecord], None],
        befall: Befall = nothing_befalls,
        deadline_s: float = DEADLINE_S,
        dialects: Mapping[str, Dialect] | None = None,
    ) -> None:
        self._services = {each.target_prefix: each for each in services}
        self._service = service
        self._authentication = authentication
        self._on_request = on_request
        self._befall = befall
        self._deadline_s = deadline_s
        self._dialects = dialects or {}

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request, whatever it is, in AWS's dialect."""
        started = monotonic()
        world = scope.get("windtunnel.world", DEFAULT_WORLD)
        dialect = self._dialects.get(scope.get("windtunnel.profile", ""), PLAIN)
        call = _Call(new_request_id(), Scope(world, "", ""), dialect)
        body = await whole_body(receive)
        if body is None:
            return  # the client is gone
        try:
            answer = await self._answer(call, _received(scope, body))
        except AwsError as error:
            allow = ((b"allow", b"POST"),) if error.status == 405 else ()
            answer = errors.refusal(error, *allow)
        except Exception as error:  # the last line of defence: whatever it is, the client gets the dialect
            facts = {"request_id": call.request_id, "operation": call.operation}
            report(log, error, facts)
            answer = errors.refusal(errors.of_failure(error, call.request_id))
        if call.mishap is not None and await suffer(call.mishap, scope, receive):
            answer = Answer(NO_STATUS, "Dropped", b"")
        else:
            await respond(send, answer, call.request_id, call.ignored)
        took_ms = (monotonic() - started) * 1000
        self._on_request(
            RequestRecord(
                call.request_id,
                call.api,
                call.operation,
                call.scope,
                answer.status,
                answer.code,
                took_ms,
                tuple(call.ignored),
                call.mishap.rules if call.mishap is not None else (),
            )
        )

    async def _answer(self, call: _Call, request: Signed) -> Answer:
        service, operation = self._find(call, request)
        dialect = call.dialect
        caller = self._authentication.caller(request, service.model.signing_name, dialect.account)
        call.scope = Scope(call.scope.world, caller.account, caller.region)
        value = read_input(operation, request, call.ignored, dialect)
        call.mishap = await self._befall(call.scope, service.name, operation.name, cluster_of(value))
        if call.mishap is not None and call.mishap.instead is not None:
            raise error_of(call.mishap.instead)
        context = dialect.context(Context(self._service, call.scope, call.request_id))
        try:
            async with asyncio.timeout(self._deadline_s):
                result = await operation.handler(context, value)
        except DomainError as error:
            raise dialect.refusal(error) or errors.of_domain(error, operation.model.errors) from error
        if operation.write is None:
            return Answer(200, None, b"")
        return Answer(200, None, orjson.dumps(operation.write(dialect.tell(operation.name, result or {}))))

    def _find(self, call: _Call, request: Signed) -> tuple[AwsService, Operation]:
        if request.method != "POST":
            raise AwsError("MethodNotAllowed", "AWS JSON operations are POST requests.", 405)
        target = request.header("x-amz-target") or ""
        prefix, _, name = target.partition(".")
        service = self._services.get(prefix)
        if service is None or name not in service.model.operation_names:
            known = ", ".join(f"{known}.<Operation>" for known in self._services)
            raise AwsError(
                "UnknownOperationException",
                f"X-Amz-Target '{one_line(target)}' names no operation; it must be one of: {known}.",
            )
        call.api, call.operation = service.name, name
        if name not in service.operations:
            raise AwsError(
                "NotImplemented",
                f"{name} is an operation of {service.model.title} that is not emulated; "
                f"{COVERAGE_PAGE} lists those that are.",
                501,
            )
        return service, service.operations[name]


def read_input(operation: Operation, request: Signed, ignored: list[str], dialect: Dialect = PLAIN) -> dict[str, Any]:
    """The request's body as the operation's input; AwsError that names all its problems. Fills `ignored`."""
    content_type = request.header("content-type")
    if content_type is not None and content_type.partition(";")[0].strip().lower() not in _CONTENT_TYPES:
        shown = one_line(content_type)
        raise _unreadable(f"Content-Type must be {_CONTENT_TYPES[0]}, but is '{shown}'.")
    try:
        raw = orjson.loads(request.body)
    except orjson.JSONDecodeError as error:
        raise _unreadable(f"The body is not JSON: {error}.") from None
    found = Problems(dialect.unchecked)
    value = operation.read(dialect.hear(operation.name, raw), "", found)
    ignored.extend(found.ignored)
    if found.mistyped:
        raise _unreadable(serialization_text(found.mistyped))
    if found.broken:
        raise AwsError(errors.INVALID, validation_text(found.broken))
    result: dict[str, Any] = value
    return result


async def respond(send: Send, answer: Answer, request_id: str, ignored: Iterable[str] = ()) -> None:
    """Send `answer` with the headers of every AWS answer; `ignored` members are named in a header of ours."""
    headers = answer.all_headers(request_id)
    if ignored:
        headers.append((_IGNORED_HEADER, ", ".join(map(one_line, ignored)).encode()[:1024]))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


def _unreadable(message: str) -> AwsError:
    return AwsError("SerializationException", message)


def _received(scope: AsgiScope, body: bytes) -> Signed:
    headers = tuple(
        (name.decode("ascii", "replace").lower(), value.decode("utf-8", "surrogateescape"))
        for name, value in scope["headers"]
    )
    path = (scope.get("raw_path") or scope["path"].encode()).decode("utf-8", "surrogateescape")
    query = scope.get("query_string", b"").decode("utf-8", "surrogateescape")
    return Signed(scope["method"], path, query, headers, body)
