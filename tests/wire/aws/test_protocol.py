"""HP-W1 to HP-W6: what the wire answers, whatever is sent."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import asyncpg
import botocore.loaders
import botocore.model
import botocore.parsers
import pytest

from app.core.errors import Conflict, DomainError, InUse, Invalid, LimitExceeded, NotFound
from app.core.scope import Scope
from app.wire.aws.protocol import AwsService, Context
from tests.wire.aws.calls import JSON_1_1, Wire, ask, http

SIGNED = "AWS4-HMAC-SHA256 Credential={key}/20260101/{region}/sagemaker/aws4_request, SignedHeaders=host, Signature=x"


class Fake:
    """A composed application whose handlers do as `does` says."""

    def __init__(self, does: Any = None) -> None:
        self.does = does
        self.seen: list[tuple[Context, Any]] = []


def service() -> AwsService:
    """Three small operations over a `Fake`."""
    made = AwsService("sagemaker", target_prefix="SageMaker")

    async def act(ctx: Context, req: Any) -> Any:
        ctx.service.seen.append((ctx, req))
        if isinstance(ctx.service.does, BaseException):
            raise ctx.service.does
        return ctx.service.does

    @made.operation
    async def create_cluster(ctx: Context, req: Any) -> Any:
        return await act(ctx, req)

    @made.operation
    async def list_clusters(ctx: Context, req: Any) -> Any:
        return await act(ctx, req)

    @made.operation
    async def delete_compute_quota(ctx: Context, req: Any) -> Any:
        return await act(ctx, req)

    return made


SERVICE = service()
GROUP = {
    "InstanceGroupName": "workers",
    "InstanceType": "ml.p5.48xlarge",
    "InstanceCount": 2,
    "ExecutionRole": "arn:aws:iam::111122223333:role/cluster",
    "LifeCycleConfig": {"SourceS3Uri": "s3://bucket/x", "OnCreate": "on_create.sh"},
}
CLUSTER = {"ClusterName": "demo", "InstanceGroups": [GROUP]}


def over(does: Any = None) -> tuple[Wire, Fake]:
    """An endpoint, and the application behind it."""
    fake = Fake(does)
    return Wire([SERVICE], service=fake), fake


async def test_a_name_that_the_model_lacks_fails_at_import() -> None:
    """Adding an operation is one function, and its name is checked."""

    async def discribe_cluster(ctx: Context, req: Any) -> Any: ...

    with pytest.raises(LookupError, match="discribe_cluster names no operation"):
        SERVICE.operation(discribe_cluster)


async def test_answers_are_projected_through_the_output_shape() -> None:
    """HP-W2: times as epoch seconds with milliseconds, nothing null, nothing that the shape does not name."""
    created = datetime(2026, 3, 1, 12, 0, 0, 123_999, UTC)
    summary = {
        "ClusterArn": "arn", "ClusterName": "demo", "CreationTime": created, "ClusterStatus": "Creating",
        "TrainingPlanArns": None, "secret": 1,
    }  # fmt: skip
    wire, _ = over({"ClusterSummaries": [summary], "NextToken": None, "private": "x"})
    reply = await wire.call("ListClusters", {})
    reply.assert_is_aws()
    assert reply.json == {
        "ClusterSummaries": [
            {"ClusterArn": "arn", "ClusterName": "demo", "CreationTime": 1772366400.123, "ClusterStatus": "Creating"}
        ]
    }


async def test_times_are_read_in_each_form_that_clients_send() -> None:
    """HP-W2: whole or fractional epoch seconds and ISO 8601, cut to the millisecond."""
    wire, fake = over({})
    for sent in (1772366400, 1772366400.0005, "2026-03-01T12:00:00Z", "2026-03-01T13:00:00.000900+01:00"):
        await wire.call("ListClusters", {"CreationTimeAfter": sent})
    assert [req["CreationTimeAfter"] for _, req in fake.seen] == [datetime(2026, 3, 1, 12, tzinfo=UTC)] * 4


async def test_an_operation_without_output_has_no_body() -> None:
    """HP-W1: 200 and nothing."""
    wire, _ = over()
    reply = await wire.call("DeleteComputeQuota", {"ComputeQuotaId": "abcdefghij12"})
    assert (reply.status, reply.body) == (200, b"")


@pytest.mark.parametrize(
    ("error", "operation", "body", "code"),
    [
        (InUse("taken"), "CreateCluster", CLUSTER, "ResourceInUse"),
        (LimitExceeded("quota"), "CreateCluster", CLUSTER, "ResourceLimitExceeded"),
        (Invalid("no"), "CreateCluster", CLUSTER, "ValidationException"),
        (NotFound("none"), "DeleteComputeQuota", {"ComputeQuotaId": "abcdefghij12"}, "ResourceNotFound"),
        (Conflict("busy"), "CreateCluster", CLUSTER, "ResourceInUse"),
        (NotFound("none"), "ListClusters", {}, "ValidationException"),
    ],
)
async def test_refusals_have_the_code_that_the_operation_declares(
    error: DomainError, operation: str, body: Any, code: str
) -> None:
    """HP-W3: the model's code, or `ValidationException`, and botocore reads code and text."""
    wire, _ = over(error)
    reply = await wire.call(operation, body)
    reply.assert_is_aws()
    assert (reply.status, reply.code, reply.message) == (400, code, error.message)
    raw = botocore.loaders.Loader(include_default_search_paths=True).load_service_model("sagemaker", "service-2")
    shape = botocore.model.ServiceModel(raw).operation_model(operation).output_shape
    answer = {"status_code": 400, "headers": reply.headers, "body": reply.body}
    parsed = botocore.parsers.create_parser("json").parse(answer, shape)
    assert parsed["Error"] == {"Message": error.message, "Code": code}
    assert parsed["ResponseMetadata"]["RequestId"] == reply.headers["x-amzn-requestid"]


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (ZeroDivisionError("secret detail"), 500, "InternalFailure"),
        (ConnectionRefusedError("secret detail"), 503, "ServiceUnavailable"),
        (asyncpg.AdminShutdownError("secret detail"), 503, "ServiceUnavailable"),
        (asyncpg.TooManyConnectionsError("secret detail"), 503, "ServiceUnavailable"),
        (asyncpg.QueryCanceledError("secret detail"), 503, "ServiceUnavailable"),
        (asyncpg.DiskFullError("secret detail"), 503, "ServiceUnavailable"),
        (asyncpg.InterfaceError("pool is closing"), 503, "ServiceUnavailable"),
        (asyncpg.InternalClientError("secret detail"), 503, "ServiceUnavailable"),
        (asyncpg.ProtocolError("secret detail"), 503, "ServiceUnavailable"),
        (asyncpg.UniqueViolationError("secret detail"), 500, "InternalFailure"),
    ],
)
async def test_failures_tell_nothing_of_their_cause(
    failure: Exception, status: int, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    """HP-W3: 503 for a database that is away, else 500, with the request's id and no detail.

    The log has one line of the former, and the trace of the latter.
    """
    wire, _ = over(failure)
    reply = await wire.call("ListClusters", {})
    reply.assert_is_aws()
    assert (reply.status, reply.code) == (status, code)
    assert reply.headers["x-amzn-requestid"] in reply.message
    assert "secret" not in reply.message
    (record,) = (one for one in caplog.records if one.name == "windtunnel.aws")
    assert (record.levelname, record.exc_info is None) == (("WARNING", True) if status == 503 else ("ERROR", False))


async def test_a_handler_past_its_deadline_is_unavailable() -> None:
    """Bounded everything: the deadline answers 503."""
    made = AwsService("sagemaker", target_prefix="SageMaker")

    @made.operation
    async def list_clusters(ctx: Context, req: Any) -> Any:
        await asyncio.Event().wait()

    reply = await Wire([made], deadline_s=0.0).call("ListClusters", {})
    assert (reply.status, reply.code) == (503, "ServiceUnavailable")


@pytest.mark.parametrize(
    ("authorization", "expected"),
    [
        (None, ("111122223333", "us-west-2")),
        (SIGNED.format(key="AKIDEXAMPLE", region="eu-west-1"), ("111122223333", "eu-west-1")),
        (SIGNED.format(key="123456789012", region="us-gov-west-1"), ("123456789012", "us-gov-west-1")),
        (SIGNED.format(key="1234567890123", region="nowhere"), ("111122223333", "us-west-2")),
        ("Bearer nonsense", ("111122223333", "us-west-2")),
        ("Credential=a\udcff/b/c/d/e", ("111122223333", "us-west-2")),
    ],
)
async def test_account_and_region_come_from_the_credential(
    authorization: str | None, expected: tuple[str, str]
) -> None:
    """HP-W6: region from the scope, account from a 12-digit key, else the defaults."""
    wire, fake = over({})
    headers = () if authorization is None else (("authorization", authorization),)
    await wire.call("ListClusters", {}, *headers)
    assert fake.seen[0][0].scope == Scope("main", *expected)


async def test_the_world_is_what_the_gate_found() -> None:
    """CT-0: the scope carries the world of the path."""
    wire, fake = over({})
    scope = http("POST", "/w/blue/", ("x-amz-target", "SageMaker.ListClusters")) | {"windtunnel.world": "blue"}
    await ask(wire.endpoint, scope, [b"{}"])
    assert fake.seen[0][0].scope.world == "blue"


async def test_unknown_members_are_ignored_and_named() -> None:
    """HP-W4: in a header and in the request log, one line, whatever they are called."""
    wire, fake = over({})
    reply = await wire.call("CreateCluster", {**CLUSTER, "Zork": 1, "a\r\nb: c": 2, "InstanceGroups": [
        {**GROUP, "Foo": 1}]})  # fmt: skip
    assert reply.status == 200
    assert reply.headers["x-windtunnel-ignored"] == r"instanceGroups.1.member.Foo, Zork, a\r\nb: c"
    assert wire.records[0].ignored == ("instanceGroups.1.member.Foo", "Zork", "a\r\nb: c")
    assert fake.seen[0][1] == CLUSTER


async def test_the_request_log_has_what_happened() -> None:
    """CT-7: operation, scope, status, code; never a body or a key."""
    wire, _ = over(InUse("taken"))
    await wire.call("CreateCluster", CLUSTER, ("authorization", SIGNED.format(key="123456789012", region="eu-west-1")))
    await wire.call("Nonsense", {})
    first, second = wire.records
    assert (first.api, first.operation, first.status, first.code) == (
        "sagemaker",
        "CreateCluster",
        400,
        "ResourceInUse",
    )
    assert first.scope == Scope("main", "123456789012", "eu-west-1")
    assert (second.operation, second.code) == ("", "UnknownOperationException")


@pytest.mark.parametrize(
    ("target", "status", "code"),
    [
        ("SageMaker.Nonsense", 400, "UnknownOperationException"),
        ("DynamoDB_20120810.ListTables", 400, "UnknownOperationException"),
        ("", 400, "UnknownOperationException"),
        ("SageMaker.CreateTrainingJob", 501, "NotImplemented"),
    ],
)
async def test_targets_that_are_not_served(target: str, status: int, code: str) -> None:
    """HP-W5: unknown, or known and not emulated, which is never a made-up success."""
    wire, _ = over({})
    reply = await ask(wire.endpoint, http("POST", "/", ("x-amz-target", target)), [b"{}"])
    reply.assert_is_aws()
    assert (reply.status, reply.code) == (status, code)
    assert target.partition(".")[2] in reply.message


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "OPTIONS"])
async def test_only_post_is_served(method: str) -> None:
    """HP-W1: 405 in dialect, with `Allow`."""
    wire, _ = over({})
    reply = await ask(wire.endpoint, http(method), [])
    reply.assert_is_aws()
    assert (reply.status, reply.headers["allow"]) == (405, "POST")


async def test_a_client_that_leaves_gets_no_answer() -> None:
    """A body that breaks off is not a request."""
    wire, fake = over({})
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await wire.endpoint(http("POST", "/", ("x-amz-target", "SageMaker.ListClusters")), receive, send)
    assert (sent, fake.seen, wire.records) == ([], [], [])


def test_content_type_may_be_absent_or_json() -> None:
    """HP-W6: curl works without ceremony."""
    for content_type in (None, JSON_1_1, "application/json", "application/x-amz-json-1.0; charset=utf-8"):
        wire, _ = over({})
        named = [("x-amz-target", "SageMaker.ListClusters")]
        named += [] if content_type is None else [("content-type", content_type)]
        reply = asyncio.run(ask(wire.endpoint, http("POST", "/any/path", *named), [b"{}"]))
        assert reply.status == 200
