"""Calls of RPCs past REST, as gRPC makes them: any text may come as a name (VX-20)."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from app.main import running
from app.service import compose
from app.settings import Settings
from app.wire.google.errors import Code, GoogleError
from app.wire.vertex.application import rpcs
from app.wire.vertex.rpc import Call

PARENT = "projects/p1/locations/us-central1"


@pytest.fixture
def call(dsn: str) -> Any:
    """A function that calls an RPC in world `main`."""

    async def ask(rpc: str, value: Mapping[str, Any]) -> dict[str, Any]:
        service = compose(Settings(database_url=dsn, frozen=True), "calls")
        async with running(service):
            return await Call(service, rpcs()[rpc], "main").answer(value)

    return lambda rpc, value: asyncio.run(ask(rpc, value))


@pytest.mark.parametrize(
    ("rpc", "value"),
    [
        ("CreateCustomJob", {"parent": "projects/p1", "customJob": {}}),
        ("CreateCustomJob", {"parent": f"{PARENT}/customJobs/1", "customJob": {}}),
        ("CreateCustomJob", {"customJob": {}}),
        ("ListCustomJobs", {"parent": f"{PARENT}/customJobs"}),
        ("GetCustomJob", {"name": PARENT}),
        ("GetCustomJob", {"name": f"{PARENT}/hyperparameterTuningJobs/1"}),
        ("GetCustomJob", {"name": "1"}),
        ("GetCustomJob", {"name": ""}),
        ("GetOperation", {"name": PARENT}),
        ("GetOperation", {"name": f"{PARENT}/customJobs/1"}),
        ("GetOperation", {"name": f"{PARENT}/operations"}),
        ("ListOperations", {"name": "projects/p1"}),
        ("GetLocation", {"name": "projects/p1"}),
        ("ListLocations", {"name": PARENT}),
        ("UpdateContext", {"context": {"name": PARENT}}),
        ("UpdateContext", {}),
    ],
)
def test_a_name_of_another_kind_is_refused(call: Any, rpc: str, value: Any) -> None:
    """VX-18."""
    with pytest.raises(GoogleError) as raised:
        call(rpc, value)
    assert raised.value.code is Code.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("rpc", "value"),
    [
        ("ListCustomJobs", {"parent": PARENT, "pageSize": 5}),
        ("ListOperations", {"name": PARENT}),
        ("ListOperations", {"name": f"{PARENT}/customJobs/1"}),
        ("ListLocations", {"name": "projects/p1", "pageSize": 1}),
        ("GetLocation", {"name": PARENT}),
    ],
)
def test_a_right_name(call: Any, rpc: str, value: Any) -> None:
    """VX-18."""
    assert isinstance(call(rpc, value), dict)
