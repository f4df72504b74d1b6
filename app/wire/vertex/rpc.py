"""Which RPCs of Vertex AI are emulated: one function each, which REST and gRPC both call (VX-18, VX-20)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from app.core.errors import DomainError
from app.core.mishaps import Mishap
from app.core.scope import Scope
from app.service import Service
from app.wire.exchange import DEADLINE_S
from app.wire.google.errors import Code, GoogleError, of_domain
from app.wire.google.mishaps import error_of
from app.wire.google.proto import Message, camel
from app.wire.google.reading import read
from app.wire.vertex.names import Name, parse

API = "vertex"
"""How fault rules and the log of requests call this API."""
PACKAGES = {"v1": "google.cloud.aiplatform.v1", "v1beta1": "google.cloud.aiplatform.v1beta1"}
JOBS, PIPELINES, METADATA = "JobService", "PipelineService", "MetadataService"
OPERATIONS, LOCATIONS, RESOURCES = "Operations", "Locations", "PersistentResourceService"
TENSORBOARDS = "TensorboardService"


@dataclass(frozen=True, slots=True)
class Context:
    """What a handler may use: the service, whose state to touch, the resource that is named, and the API's version."""

    service: Service
    scope: Scope
    name: Name
    version: str

    def type_url(self, message: str) -> str:
        """The URL of a message in this version, as an Any names it."""
        return f"type.googleapis.com/{PACKAGES[self.version]}.{message}"


Handler = Callable[[Context, Any], Awaitable[dict[str, Any]]]
H = TypeVar("H", bound=Handler)


@dataclass(frozen=True, slots=True)
class Rpc:
    """An emulated RPC. `path` is that of REST behind the location, ids as `*`; `body` is the field that its body is.

    `answer` is the message of the answer, None for Empty
    and for an Operation, which hold no enums.
    """

    service: str
    name: str
    method: str
    path: str
    body: str
    request: type[Message]
    answer: type[Message] | None
    handler: Handler

    @property
    def target(self) -> tuple[str, ...]:
        """The field that names the resource or its parent; an update names it in its body."""
        return (self.body, "name") if self.method == "PATCH" else (next(iter(self.request.model_fields)),)


RPCS: dict[str, Rpc] = {}
"""By name, as `CreateCustomJob`."""


def rpc(
    service: str,
    route: str,
    request: type[Message],
    answer: type[Message] | None = None,
    *,
    body: str = "",
) -> Callable[[H], H]:
    """Make a function the RPC that it is named after; `route` is its method and path, as `GET customJobs/*`."""
    method, _, path = route.partition(" ")

    def register(handler: H) -> H:
        name = camel(f"_{handler.__name__}")
        if name in RPCS:
            raise LookupError(f"{name} is registered twice")
        RPCS[name] = Rpc(service, name, method, path, body, request, answer, handler)
        return handler

    return register


@dataclass(slots=True)
class Call:
    """One call of an RPC in a world; what is known of it by and by is for its answer and for the log."""

    service: Service
    rpc: Rpc
    world: str
    version: str = "v1"
    scope: Scope | None = None
    mishap: Mishap | None = None

    async def answer(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request in JSON, canonical; GoogleError says no. What befalls the answer is in `mishap`."""
        request = read(self.rpc.request, value, package=PACKAGES[self.version], version=self.version)
        field = ".".join(self.rpc.target)
        name = parse(_reached(request, self.rpc.target), field)
        self.scope = name.scope(self.world)
        _check(self.rpc, name, field)
        self.mishap = await self.service.mishaps.befall(self.scope, API, self.rpc.name, "", self._job(request, name))
        if self.mishap is not None and self.mishap.instead is not None:
            raise error_of(self.mishap.instead, self.scope)
        try:
            async with asyncio.timeout(DEADLINE_S):
                return await self.rpc.handler(Context(self.service, self.scope, name, self.version), request)
        except DomainError as error:
            raise of_domain(error) from error

    def _job(self, request: Message, name: Name) -> str:
        """The job that is named, or the name of the one to make, or nothing."""
        if name.collections[:1] == ("customJobs",) and len(name.path) > 1:
            return name.path[1]
        made = getattr(request, self.rpc.body, None) if self.rpc.service == JOBS else None
        return getattr(made, "display_name", None) or ""


def _reached(request: Message, path: tuple[str, ...]) -> str:
    value: Any = request
    for part in path:
        value = getattr(value, part, None)
    return value or ""


def _check(rpc: Rpc, name: Name, field: str) -> None:
    """gRPC brings any text as a name; REST has chosen the RPC by it."""
    path = rpc.path.partition(":")[0].split("/")
    wanted = tuple(path if path[-1] == "*" else path[:-1])
    if rpc.service == LOCATIONS:
        wanted = ()
        fits = not name.path and bool(name.location) == rpc.path.endswith("*")
    elif rpc.service == OPERATIONS:  # they are of many parents
        fits = bool(name.location) and len(name.path) % 2 == 0 and (not wanted or name.collections[-1:] == wanted[:1])
    else:
        fits = bool(name.location) and len(name.path) == len(wanted) and name.collections == wanted[::2]
    if not fits:
        shown = "/".join(("projects/*/locations/*", *wanted))
        raise GoogleError(Code.INVALID_ARGUMENT, f"The request's '{field}' must be of the form {shown} for {rpc.name}.")
