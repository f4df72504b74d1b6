"""RL-13, RL-20: whatever is sent, the answer is well formed and in dialect."""

import resource
from typing import Any

import orjson
import pytest

from app.wire.aws.protocol import AwsService, Context
from tests.wire.aws.calls import Wire, ask, http
from tests.wire.aws.mutations import HOSTILE, malformed
from tests.wire.aws.samples import emulated_names, sample, silent_service

SERVICE = silent_service(emulated_names())
CLUSTER = sample(SERVICE.operations["CreateCluster"].model.input)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"null", b"\xff", b"{} {}", b"[" * 10_000])
async def test_bodies_that_are_no_input(body: bytes) -> None:
    """HP-W5: `SerializationException`."""
    wire = Wire([SERVICE])
    reply = await wire.call("ListClusters", body)
    reply.assert_is_aws()
    assert (reply.status, reply.code) == (400, "SerializationException")


@pytest.mark.parametrize("value", HOSTILE)
async def test_hostile_strings_stay_data(value: str) -> None:
    """RL-20: told back at most, in JSON; never a header, never a second line."""
    wire = Wire([SERVICE])
    reply = await wire.call("CreateCluster", {**CLUSTER, "ClusterName": value, value: 1})
    reply.assert_is_aws()
    assert reply.status == 400
    assert "x-evil" not in reply.headers
    assert len(reply.body) < 4_000
    assert not any(mark in reply.headers.get("x-windtunnel-ignored", "") for mark in "\r\n\0")


@pytest.mark.parametrize("seed", [1, 2, 3, 5, 13])
async def test_malformed_requests_are_refused_in_dialect(seed: int) -> None:
    """RL-13: 1,000 mutated requests: well-formed 4xx, no 5xx, no traceback, no growth."""
    wire = Wire([SERVICE])
    statuses: dict[int, int] = {}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for each in malformed(SERVICE, 1000, seed):
        headers = (("content-type", each.content_type), ("x-amz-target", each.target))
        half = len(each.body) // 2
        reply = await ask(wire.endpoint, http(each.method, "/", *headers), [each.body[:half], each.body[half:]])
        reply.assert_is_aws()
        assert reply.status in (200, 400, 405), (each, reply)
        statuses[reply.status] = statuses.get(reply.status, 0) + 1
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{statuses}, grown by {grown_mb:.0f} MB")
    assert statuses[400] > 600
    assert grown_mb < 50


async def test_recurring_shapes_do_not_overflow() -> None:
    """RL-13: Cost Explorer's `Expression` holds itself; nesting past any use is refused."""
    cost = AwsService("ce", target_prefix="AWSInsightsIndexService")

    @cost.operation
    async def get_cost_and_usage(ctx: Context, req: Any) -> Any:
        return {}

    wire = Wire([cost])
    whole = {"TimePeriod": {"Start": "2026-01-01", "End": "2026-02-01"}, "Granularity": "DAILY", "Metrics": ["x"]}
    fine = {"Not": {"And": [{"Dimensions": {"Key": "SERVICE", "Values": ["x"]}}]}}
    reply = await wire.call("GetCostAndUsage", {**whole, "Filter": fine}, prefix="AWSInsightsIndexService")
    assert reply.status == 200
    for opening, closing in ((b'{"Not":', b"}"), (b'{"And":[', b"]}")):
        deep = opening * 480 + b"{}" + closing * 480
        raw = orjson.dumps({**whole, "Filter": None}).replace(b"null", deep)
        reply = await wire.call("GetCostAndUsage", raw, prefix="AWSInsightsIndexService")
        reply.assert_is_aws()
        assert (reply.status, reply.code) == (400, "SerializationException")
        assert "Nesting is too deep" in reply.message
