"""One call: protobuf to the canonical JSON that every RPC reads, its answer back to protobuf, errors to statuses."""

import asyncio
import contextlib
import logging
from typing import Any

import grpc
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from app import clock
from app.core.mishaps import Mishap
from app.core.scope import Scope
from app.failures import report
from app.request_log import RequestRecord, new_request_id, one_line
from app.service import Service
from app.wire.exchange import NO_STATUS
from app.wire.google.errors import Code, GoogleError, of_failure
from app.wire.grpc.methods import Method, method
from app.wire.grpc.statuses import status_of
from app.wire.grpc.worlds import world_of
from app.wire.vertex.rpc import API, Call

log = logging.getLogger("windtunnel.grpc")


class Servicer(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Serves every method that there is. Its calls wait in gRPC's threads; the work is done on `loop`.

    gRPC's own asyncio server does not tell the authority of a call, which names a world.
    """

    def __init__(self, service: Service, loop: asyncio.AbstractEventLoop) -> None:
        self._service, self._loop = service, loop

    def service(self, details: Any) -> Any:
        """How to handle a call of the method that `details` names."""
        found = method(details.method)

        def behave(raw: bytes, context: Any) -> bytes:
            return self._answered(_Exchange(self._service, details.method, found), raw, context)

        return grpc.unary_unary_rpc_method_handler(behave)

    def _answered(self, exchange: "_Exchange", raw: bytes, context: Any) -> bytes:
        started = clock.monotonic()

        def end() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is gone already
                self._loop.call_soon_threadsafe(exchange.over.set)

        context.add_callback(end)
        work = exchange.answered(raw, _authority(context), context.invocation_metadata() or ())
        answer, error = asyncio.run_coroutine_threadsafe(work, self._loop).result()
        took_ms = (clock.monotonic() - started) * 1000
        self._loop.call_soon_threadsafe(self._service.request_log, exchange.record(error, took_ms))
        if error is not None:
            context.abort_with_status(status_of(error))
        return answer


class _Exchange:
    """One call on its way."""

    def __init__(self, service: Service, path: str, found: Method | None) -> None:
        self.request_id = new_request_id()
        self.over = asyncio.Event()
        """Nobody waits for the answer any more; what was asked is done all the same."""
        self._service, self._path, self._method = service, path, found
        self._call: Call | None = None

    async def answered(self, raw: bytes, authority: str, metadata: Any) -> tuple[bytes, GoogleError | None]:
        """The answer's bytes, or what was wrong; late or lost if a fault rule says so."""
        try:
            answer = await self._answer(raw, authority, metadata)
            error = None
        except GoogleError as refused:
            answer, error = b"", refused
        except Exception as failure:  # the last line of defence: whatever it is, the client gets a status
            report(log, failure, {"request_id": self.request_id, "path": one_line(self._path)})
            answer, error = b"", of_failure(failure, self.request_id)
        mishap = self._mishap
        if mishap is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(mishap.late_ms / 1000):
                    await self.over.wait()
            if mishap.drops:
                error = GoogleError(Code.UNAVAILABLE, "Socket closed")
        return answer, error

    async def _answer(self, raw: bytes, authority: str, metadata: Any) -> bytes:
        world = world_of(authority, metadata, self._service.settings.allowed_hosts)
        if self._method is None:
            raise GoogleError(
                Code.UNIMPLEMENTED, f"{one_line(self._path)} is not emulated; docs/coverage.md lists what is."
            )
        self._call = Call(self._service, self._method.rpc, world, self._method.version)
        told = await self._call.answer(_request(self._method, raw))
        encoded: bytes = json_format.ParseDict(told, self._method.answer()).SerializeToString()
        return encoded

    @property
    def _mishap(self) -> Mishap | None:
        return self._call.mishap if self._call else None

    def record(self, error: GoogleError | None, took_ms: float) -> RequestRecord:
        scope = self._call.scope if self._call and self._call.scope else Scope("", "", "")
        operation = self._method.rpc.name if self._method else ""
        dropped = self._mishap is not None and self._mishap.drops
        code = "Dropped" if dropped else error.code.name if error else None
        status = NO_STATUS if dropped else error.http if error else 200
        faults = self._mishap.rules if self._mishap is not None else ()
        return RequestRecord(self.request_id, API, operation, scope, status, code, took_ms, faults=faults)


def _request(found: Method, raw: bytes) -> dict[str, Any]:
    try:
        message = found.request.FromString(raw)
    except DecodeError as error:
        told = f"The request is no {found.request.DESCRIPTOR.full_name} in protobuf's wire form."
        raise GoogleError(Code.INVALID_ARGUMENT, told) from error
    try:
        told_in_json: dict[str, Any] = json_format.MessageToDict(message)
    except (json_format.SerializeToJsonError, ValueError) as error:
        text = f"The request holds what JSON cannot tell: {one_line(str(error))}"
        raise GoogleError(Code.INVALID_ARGUMENT, text) from error
    return told_in_json


def _authority(context: Any) -> str:
    """gRPC knows the authority and has no public way to it; a test calls by every name that there is."""
    host = context._rpc_event.call_details.host
    return host.decode("latin-1") if isinstance(host, bytes) else str(host)
