"""The methods' messages are those of Google's own stubs (VX-20)."""

import contextlib
import importlib
import re
from typing import Any

import grpc
import pytest
from google.longrunning import operations_pb2

from app.wire.grpc.methods import method, paths
from app.wire.vertex.application import rpcs
from app.wire.vertex.rpc import LOCATIONS, OPERATIONS

VERSIONS = ("v1", "v1beta1")


class Recorder(grpc.Channel):  # type: ignore[misc]
    """Stands where a transport has its channel, and writes down what the stubs ask for."""

    def __init__(self) -> None:
        self.stubs: dict[str, tuple[Any, Any]] = {}

    def unary_unary(self, path: str, request_serializer: Any, response_deserializer: Any, *_: Any) -> Any:
        self.stubs[path] = (_owner(request_serializer), _owner(response_deserializer))
        return lambda *_: None

    def unary_stream(self, *_: Any, **__: Any) -> Any:
        return lambda *_: None

    def stream_unary(self, *_: Any, **__: Any) -> Any:
        return lambda *_: None

    def stream_stream(self, *_: Any, **__: Any) -> Any:
        return lambda *_: None

    def subscribe(self, *_: Any, **__: Any) -> None: ...
    def unsubscribe(self, *_: Any) -> None: ...
    def close(self) -> None: ...


def _owner(method: Any) -> Any:
    """The protobuf class that the SDK's method reads or writes."""
    owner = getattr(method, "__self__", None) or getattr(method, "__objclass__", None)
    return owner.pb() if hasattr(owner, "pb") else owner


@pytest.mark.parametrize("version", VERSIONS)
def test_messages_are_those_of_the_sdk(version: str) -> None:
    """VX-20: requests and answers of each RPC are what Google's stubs send and read."""
    compared = 0
    for service in {rpc.service for rpc in rpcs().values()} - {OPERATIONS, LOCATIONS}:
        recorder = Recorder()
        stem = re.sub(r"(?<!^)(?=[A-Z])", "_", service).lower()
        module = importlib.import_module(f"google.cloud.aiplatform_{version}.services.{stem}.transports")
        transport = getattr(module, f"{service}GrpcTransport")(channel=recorder)
        for name in [rpc.name for rpc in rpcs().values() if rpc.service == service]:
            with contextlib.suppress(AttributeError):  # what is recorded cannot be called
                getattr(transport, re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower())(None)
        for path, (request, answer) in recorder.stubs.items():
            found = method(path)
            assert found is not None, path
            assert found.request.DESCRIPTOR.full_name == request.DESCRIPTOR.full_name, path
            assert found.answer.DESCRIPTOR.full_name == answer.DESCRIPTOR.full_name, path
            compared += 1
    assert compared == sum(rpc.service not in (OPERATIONS, LOCATIONS) for rpc in rpcs().values())


def test_every_rpc_has_a_method() -> None:
    assert len(paths()) == len(rpcs())
    assert all(method(path) for path in paths())


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/google.cloud.aiplatform.v1.JobService",
        "/google.cloud.aiplatform.v1.JobService/Nothing",
        "/google.cloud.aiplatform.v1.PipelineService/GetCustomJob",
        "/google.cloud.aiplatform.v2.JobService/GetCustomJob",
        "/other.longrunning.Operations/GetOperation",
    ],
)
def test_what_is_no_method(path: str) -> None:
    assert method(path) is None


def test_a_delete_is_answered_with_an_operation() -> None:
    found = method("/google.cloud.aiplatform.v1.JobService/DeleteCustomJob")
    assert found is not None
    assert found.answer is operations_pb2.Operation
