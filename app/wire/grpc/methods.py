"""Which gRPC methods there are, and the protobuf messages of each. Google's package has them; it is slow to import."""

import importlib
from dataclasses import dataclass
from functools import cache
from typing import Any

from google.cloud.location import locations_pb2
from google.longrunning import operations_pb2
from google.protobuf import empty_pb2

from app.wire.vertex.application import rpcs
from app.wire.vertex.rpc import LOCATIONS, OPERATIONS, PACKAGES, Rpc

_MIXINS: dict[str, tuple[str, Any]] = {
    OPERATIONS: ("google.longrunning.Operations", operations_pb2),
    LOCATIONS: ("google.cloud.location.Locations", locations_pb2),
}
"""Services that many APIs of Google's share: their full names, and where their messages are."""
_MIXED_IN: dict[str, Any] = {
    "GetOperation": operations_pb2.Operation,
    "WaitOperation": operations_pb2.Operation,
    "ListOperations": operations_pb2.ListOperationsResponse,
    "GetLocation": locations_pb2.Location,
    "ListLocations": locations_pb2.ListLocationsResponse,
}


@dataclass(frozen=True, slots=True)
class Method:
    """An RPC in one version of the API, and the classes of its request and its answer."""

    rpc: Rpc
    version: str
    request: Any
    answer: Any


@cache
def method(path: str) -> Method | None:
    """The method that `/google.cloud.aiplatform.v1.JobService/GetCustomJob` names; None: it is not emulated."""
    service, _, name = path.removeprefix("/").partition("/")
    rpc = rpcs().get(name)
    if rpc is None:
        return None
    if rpc.service in _MIXINS:
        full_name, messages = _MIXINS[rpc.service]
        answer = _MIXED_IN.get(name, empty_pb2.Empty)
        return Method(rpc, "v1", getattr(messages, f"{name}Request"), answer) if service == full_name else None
    package, _, short = service.rpartition(".")
    version = next((each for each, known in PACKAGES.items() if known == package), None)
    if version is None or short != rpc.service:
        return None
    types = importlib.import_module(f"google.cloud.aiplatform_{version}.types")
    return Method(rpc, version, getattr(types, f"{name}Request").pb(), _answer(rpc, types))


def paths() -> list[str]:
    """Every method of the API's first version, and of the services that it shares with others."""
    return [f"/{_full_name(rpc)}/{name}" for name, rpc in rpcs().items()]


def _full_name(rpc: Rpc) -> str:
    return _MIXINS[rpc.service][0] if rpc.service in _MIXINS else f"{PACKAGES['v1']}.{rpc.service}"


def _answer(rpc: Rpc, types: Any) -> Any:
    """What is deleted, or takes long to make, is answered with an operation; a cancel with nothing."""
    if rpc.answer is not None:
        return getattr(types, rpc.answer.__name__).pb()
    return empty_pb2.Empty if rpc.name.startswith("Cancel") else operations_pb2.Operation
