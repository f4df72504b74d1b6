"""Faults of requests, as boto3 meets them (CT-3)."""

from collections.abc import Callable
from typing import Any

import boto3
import botocore.endpoint
import botocore.retries.bucket
import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError

from tests.kit import Running, TestWorld, slurm, workers

MODES = ("legacy", "standard", "adaptive")
CLUSTER = slurm(workers(2))
Open = Callable[..., Any]


@pytest.fixture
def patient(world: TestWorld, monkeypatch: pytest.MonkeyPatch) -> Open:
    """A boto3 client that tries thrice, and does not sleep between: what it decides is its own."""
    monkeypatch.setattr(botocore.endpoint.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(botocore.retries.bucket.TokenBucket, "acquire", lambda self, amount=1, block=True: True)

    def open_(mode: str = "standard", service: str = "sagemaker", **config: Any) -> Any:
        options = {"retries": {"mode": mode, "total_max_attempts": 3}} | config
        client = boto3.client(
            service,
            endpoint_url=world.endpoint,
            region_name="us-west-2",
            aws_access_key_id="111122223333",
            aws_secret_access_key="test",
            config=Config(**options),
        )
        world.clients.append(client)
        return client

    return open_


def attempts(answer: dict[str, Any]) -> int:
    return 1 + int(answer["ResponseMetadata"]["RetryAttempts"])


def hits(world: TestWorld) -> list[tuple[str, str]]:
    return [(hit["effect"], hit["operation"]) for hit in world.control("GET", "faults/hits")["hits"]]


OVERCOME: dict[str, dict[str, Any]] = {
    "throttled": {"effect": "api-throttle"},
    "throttled in the words of others": {"effect": "api-throttle", "code": "RequestLimitExceeded"},
    "too many requests": {"effect": "api-throttle", "code": "TooManyRequestsException"},
    "500": {"effect": "api-error"},
    "503": {"effect": "api-error", "code": "ServiceUnavailable"},
    "dropped": {"effect": "api-drop"},
    "dropped after": {"effect": "api-drop", "code": "after"},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OVERCOME)
def test_two_failures_are_overcome(world: TestWorld, patient: Open, mode: str, name: str) -> None:
    """CT-3: each retry mode of boto3 takes them for what they are."""
    world.control("POST", "faults", json=OVERCOME[name] | {"times": 2, "operation": "ListClusters"})
    answer = patient(mode).list_clusters()
    assert (answer["ClusterSummaries"], attempts(answer)) == ([], 3)
    assert hits(world) == [(OVERCOME[name]["effect"], "ListClusters")] * 2


@pytest.mark.parametrize("mode", MODES)
def test_a_rule_that_stays_wins(world: TestWorld, patient: Open, mode: str) -> None:
    """CT-3: botocore parses the error: code, text, status, request id."""
    world.fault("api-throttle")
    with pytest.raises(ClientError) as refusal:
        patient(mode).list_clusters()
    told = refusal.value.response
    assert told["Error"] == {"Code": "ThrottlingException", "Message": "Rate exceeded"}
    assert told["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert told["ResponseMetadata"]["RequestId"]
    assert len(hits(world)) == 3


@pytest.mark.parametrize("when", ["before", "after"])
def test_drops_that_stay(world: TestWorld, patient: Open, when: str) -> None:
    world.fault("api-drop", code=when, operation="CreateCluster")
    with pytest.raises(ConnectionClosedError):
        patient(retries={"total_max_attempts": 1}).create_cluster(**CLUSTER)
    there = [each["ClusterName"] for each in world.sagemaker.list_clusters()["ClusterSummaries"]]
    assert there == ([] if when == "before" else ["demo"])


@pytest.mark.parametrize("mode", MODES)
def test_a_retry_of_what_was_done_meets_it(world: TestWorld, patient: Open, mode: str) -> None:
    """CT-3: the first CreateCluster was committed, so the SDK's own retry finds the name taken."""
    world.fault("api-drop", code="after", operation="CreateCluster", times=1)
    with pytest.raises(ClientError) as refusal:
        patient(mode).create_cluster(**CLUSTER)
    assert refusal.value.response["Error"]["Code"] == "ResourceInUse"
    assert attempts(refusal.value.response) == 2
    world.advance(hours=1)
    assert world.describe()["ClusterStatus"] == "InService"


def test_a_client_token_makes_a_dropped_answer_harmless(world: TestWorld, patient: Open) -> None:
    """HP-31, CT-3: the retry has the same token, so it has the same answer and no second effect."""
    world.sagemaker.create_cluster(**CLUSTER)
    world.advance(hours=1)
    world.fault("api-drop", code="after", operation="BatchAddClusterNodes", times=2)
    wanted = {"ClusterName": "demo", "NodesToAdd": [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 3}]}
    answer = patient().batch_add_cluster_nodes(**wanted, ClientToken="once")
    assert attempts(answer) == 3
    again = world.sagemaker.batch_add_cluster_nodes(**wanted, ClientToken="once")
    assert again["Successful"] == answer["Successful"]
    assert len(answer["Successful"]) == 3
    assert world.group("workers")["TargetCount"] == 5
    world.advance(hours=7, minutes=59)
    late = patient().batch_add_cluster_nodes(**wanted, ClientToken="once")["Successful"]
    assert [each["NodeLogicalId"] for each in late] == [each["NodeLogicalId"] for each in answer["Successful"]]
    world.advance(minutes=2)
    patient().batch_add_cluster_nodes(**wanted, ClientToken="once")
    assert world.group("workers")["TargetCount"] == 8


def test_a_late_answer_is_timed_out_but_done(world: TestWorld, patient: Open) -> None:
    """CT-3: what was asked is done at once; only the answer is late."""
    world.fault("api-latency", seconds=0.2, operation="CreateCluster")
    with pytest.raises(ReadTimeoutError):
        patient(retries={"total_max_attempts": 1}, read_timeout=0.05).create_cluster(**CLUSTER)
    assert world.describe()["ClusterName"] == "demo"


def test_a_late_answer_is_an_answer(world: TestWorld, patient: Open) -> None:
    """CT-3: a refusal too, and latency does not use up what ends a request."""
    world.fault("api-latency", seconds=0.01)
    world.fault("api-error", code="AccessDeniedException", times=1)
    with pytest.raises(ClientError) as refusal:
        patient().list_clusters()
    assert refusal.value.response["Error"]["Code"] == "AccessDeniedException"
    assert attempts(patient().list_clusters()) == 1
    assert [effect for effect, _ in hits(world)] == ["api-latency", "api-latency", "api-error"]


ERRORS: dict[str, tuple[dict[str, Any], tuple[str, str, int]]] = {
    "modelled": ({"code": "ResourceNotFound", "message": "Gone."}, ("ResourceNotFound", "Gone.", 400)),
    "of any name": ({"code": "MadeUp", "message": "Zap ☇"}, ("MadeUp", "Zap ☇", 400)),
    "without a text": ({"code": "MadeUp"}, ("MadeUp", "A fault rule (f-1) answers this request.", 400)),
    "nothing said": (
        {},
        (
            "InternalFailure",
            "The request processing has failed because of an unknown error, exception or failure.",
            500,
        ),
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_answered_as_they_are_given(world: TestWorld, name: str) -> None:
    """CT-3."""
    given, expected = ERRORS[name]
    world.fault("api-error", operation="DescribeCluster", **given)
    with pytest.raises(ClientError) as refusal:
        world.describe()
    told = refusal.value.response
    error = told["Error"]
    assert (error["Code"], error["Message"], told["ResponseMetadata"]["HTTPStatusCode"]) == expected


def test_a_modelled_error_is_its_own_exception(world: TestWorld) -> None:
    world.fault("api-error", code="ResourceLimitExceeded", message="Too many.")
    with pytest.raises(world.sagemaker.exceptions.ResourceLimitExceeded, match="Too many"):
        world.sagemaker.create_cluster(**CLUSTER)


def test_a_request_that_cannot_be_read_is_not_struck(world: TestWorld) -> None:
    """CT-3: struck is what would have reached its handler."""
    world.fault("api-error", times=1)
    with pytest.raises(ClientError) as refusal:
        world.sagemaker.describe_cluster(ClusterName="no good!")
    assert refusal.value.response["Error"]["Code"] == "ValidationException"
    assert hits(world) == []


WHOM: dict[str, dict[str, Any]] = {
    "account": {"account": "444455556666"},
    "region": {"region": "eu-west-1"},
    "operation": {"operation": "DescribeCluster"},
    "api": {"api": "ce"},
    "cluster": {"cluster": "other"},
    "not yet": {"after": "2026-01-01T01:00:00Z"},
    "no longer": {"before": "2026-01-01T00:00:00Z"},
    "never": {"probability": 0},
}


@pytest.mark.parametrize("name", WHOM)
def test_whom_a_rule_does_not_strike(world: TestWorld, name: str) -> None:
    """CT-3."""
    world.fault("api-error", **WHOM[name])
    assert world.sagemaker.list_clusters()["ClusterSummaries"] == []
    assert hits(world) == []


def test_whom_a_rule_strikes(world: TestWorld) -> None:
    """CT-3: a cluster under its name and its ARN, whichever of them rule and request use; an account; a window."""
    arn = world.sagemaker.create_cluster(**CLUSTER)["ClusterArn"]
    world.sagemaker.create_cluster(**(CLUSTER | {"ClusterName": "other"}))
    for of_rule in ("demo", arn):
        world.control("PUT", "faults", json={"rules": [{"effect": "api-error", "cluster": of_rule}]})
        for of_request in ("demo", arn):
            with pytest.raises(ClientError):
                world.sagemaker.describe_cluster(ClusterName=of_request)
        with pytest.raises(ClientError):
            world.sagemaker.list_tags(ResourceArn=arn)
        assert world.describe("other")["ClusterName"] == "other"
        assert world.sagemaker.list_clusters()["ClusterSummaries"]
    rules = [{"effect": "api-error", "account": "444455556666", "after": "2026-01-01T01:00:00Z"}]
    world.control("PUT", "faults", json={"rules": rules})
    theirs = world.client(account="444455556666")
    theirs.list_clusters()
    world.advance(hours=1)
    with pytest.raises(ClientError):
        theirs.list_clusters()
    world.sagemaker.list_clusters()


def test_cost_explorer_is_struck_too(world: TestWorld, patient: Open) -> None:
    """CT-3, CT-6."""
    world.fault("api-throttle", api="ce", times=2)
    period = {"Start": "2026-01-01", "End": "2026-01-02"}
    answer = patient(service="ce").get_cost_and_usage(TimePeriod=period, Granularity="DAILY", Metrics=["UnblendedCost"])
    assert attempts(answer) == 3
    assert hits(world) == [("api-throttle", "GetCostAndUsage")] * 2


def test_the_control_api_is_never_struck(world: TestWorld) -> None:
    """CT-3: or nobody could take the rule away."""
    world.fault("api-drop")
    assert world.control("DELETE", "faults") == {"removed": 1}
    assert world.sagemaker.list_clusters()["ClusterSummaries"] == []


def test_how_often(world: TestWorld) -> None:
    """CT-3: each n-th request; chance draws afresh for each, from the seed alone."""

    def pattern(one: TestWorld, requests: int) -> str:
        told = ""
        for _ in range(requests):
            try:
                one.sagemaker.list_clusters()
                told += "."
            except ClientError:
                told += "x"
        return told

    world.fault("api-error", every=3, times=2)
    assert pattern(world, 10) == "..x..x...."
    world.control("PUT", "faults", json={"rules": [{"effect": "api-error", "probability": 0.5}]})
    first = pattern(world, 30)
    assert 5 < first.count("x") < 25
    world.control("POST", "reset", json={"seed": {"faults": [{"effect": "api-error"}]}})
    world.control("PUT", "faults", json={"rules": [{"effect": "api-error", "probability": 0.5}]})
    world.control("POST", "worlds", json={"name": f"{world.name}-fork", "fork_of": world.name})
    fork = TestWorld(world.base, f"{world.name}-fork")
    assert pattern(world, 30) == first == pattern(fork, 30)
    assert len(fork.control("GET", "faults/hits")["hits"]) == first.count("x")
    fork.close()


def test_a_rule_of_a_new_world_acts_at_once(service: Running) -> None:
    """CT-3: the first request after whatever made the rule."""
    for _ in range(20):
        world = service.world()
        assert world.sagemaker.list_clusters()["ClusterSummaries"] == []
        world.control("POST", "reset", json={"seed": {"faults": [{"effect": "api-error"}]}})
        with pytest.raises(ClientError):
            world.sagemaker.list_clusters()
        world.control("DELETE", "faults")
        world.sagemaker.list_clusters()


def test_a_drop_is_a_connection_closed_without_a_byte(world: TestWorld) -> None:
    """CT-3: and it is in the list of requests, without a status."""
    world.fault("api-drop")
    headers = {"x-amz-target": "SageMaker.ListClusters", "content-type": "application/x-amz-json-1.1"}
    with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
        httpx.post(f"{world.endpoint}/", content=b"{}", headers=headers)
    requests = world.control("GET", "requests")["requests"]
    ours = next(each for each in requests if each["operation"] == "ListClusters")
    assert (ours["status"], ours["code"]) == (0, "Dropped")
