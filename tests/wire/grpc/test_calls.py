"""Vertex AI over gRPC, through Google's own stubs, unmodified (VX-20)."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.api_core import exceptions
from google.cloud import aiplatform_v1 as v1
from google.cloud import aiplatform_v1beta1 as v1beta1
from grpc_status import rpc_status
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.host.grpc_server import THREADS
from app.wire.grpc.methods import paths
from tests.kit import TestWorld, custom_job
from tests.wire.grpc.conftest import Served

PARENT = "projects/p1/locations/us-central1"
CREATE = "/google.cloud.aiplatform.v1.JobService/CreateCustomJob"


def client(channel: Any, package: Any = v1, service: str = "JobService") -> Any:
    kind = getattr(package, f"{service}Client")
    return kind(transport=kind.get_transport_class("grpc")(channel=channel))


def in_world(name: str) -> list[tuple[str, str]]:
    return [("x-windtunnel-world", name)]


@pytest.fixture
def jobs(served: Served) -> Iterator[Any]:
    """The JobService over the insecure port."""
    with served.insecure() as channel:
        yield client(channel)


def test_a_job_over_the_insecure_port(jobs: Any, world: TestWorld) -> None:
    """VX-20: create, get, list, cancel and delete with its operation; REST sees the same job."""
    metadata = in_world(world.name)
    made = jobs.create_custom_job(parent=PARENT, custom_job=custom_job("demo"), metadata=metadata)
    assert made.state == v1.JobState.JOB_STATE_PENDING
    assert world.vertex.get_custom_job(name=made.name) == made
    jobs.cancel_custom_job(name=made.name, metadata=metadata)
    world.advance(minutes=5)
    ended = jobs.get_custom_job(name=made.name, metadata=metadata)
    assert (ended.state, ended.error.code) == (v1.JobState.JOB_STATE_CANCELLED, 1)
    assert list(jobs.list_custom_jobs(parent=PARENT, metadata=metadata)) == [ended]
    jobs.delete_custom_job(name=made.name, metadata=metadata).result(timeout=30)
    with pytest.raises(exceptions.NotFound):
        jobs.get_custom_job(name=made.name, metadata=metadata)


def test_pages(jobs: Any, world: TestWorld) -> None:
    metadata = in_world(world.name)
    names = [
        jobs.create_custom_job(parent=PARENT, custom_job=custom_job(f"job-{number}"), metadata=metadata).name
        for number in range(5)
    ]
    request = v1.ListCustomJobsRequest(parent=PARENT, page_size=2, filter='display_name:"job-*"')
    assert [each.name for each in jobs.list_custom_jobs(request, metadata=metadata)] == names[::-1]


def test_a_world_by_authority_over_tls(served: Served, world: TestWorld) -> None:
    """VX-20, CT-0: `NAME.w.localhost` is the world; the certificate is good for it."""
    with served.secure(f"{world.name}.w.localhost") as channel:
        made = client(channel).create_custom_job(parent=PARENT, custom_job=custom_job("tls"))
    assert [each.name for each in world.vertex.list_custom_jobs(parent=PARENT)] == [made.name]


def test_v1beta1(served: Served, world: TestWorld) -> None:
    with served.insecure(f"{world.name}.localhost") as channel:
        beta = client(channel, v1beta1)
        job = v1beta1.CustomJob(v1beta1.CustomJob.pb(v1beta1.CustomJob()).FromString(_bytes(custom_job("beta"))))
        made = beta.create_custom_job(parent=PARENT, custom_job=job)
        assert beta.get_custom_job(name=made.name).display_name == "beta"
        world.advance(minutes=10)
        beta.delete_custom_job(name=made.name).result(timeout=30)


def _bytes(job: Any) -> bytes:
    message = job if isinstance(job, v1.CustomJob) else v1.CustomJob(job)
    return bytes(v1.CustomJob.serialize(message))


def test_the_key_is_the_owners_alone(served: Served) -> None:
    assert served.certificate.key.stat().st_mode & 0o777 == 0o600


def test_the_high_level_sdk_over_tls(served: Served, world: TestWorld) -> None:
    """VX-20: `aiplatform` without a word about the transport, with the variables that `windtunnel env` prints."""
    script = f"""
from google.auth.credentials import AnonymousCredentials
from google.cloud import aiplatform
aiplatform.init(project="p1", location="us-central1", api_endpoint="{world.name}.w.localhost:{served.port + 1}",
                credentials=AnonymousCredentials(), staging_bucket="gs://b")
job = aiplatform.CustomJob(display_name="high", worker_pool_specs=[{{
    "machine_spec": {{"machine_type": "n1-standard-4"}}, "replica_count": 1,
    "container_spec": {{"image_uri": "gcr.io/p/t"}}}}])
job.submit()
print(job.resource_name)
print([each.display_name for each in aiplatform.CustomJob.list()])
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(served.certificate.roots), "PATH": "/usr/bin:/bin", "HOME": "/"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    name, listed = ran.stdout.strip().split("\n")[-2:]
    assert world.vertex.get_custom_job(name=name).display_name == "high"
    assert listed == "['high']"


@pytest.mark.parametrize(
    ("request_of", "kind"),
    [
        (lambda c, m: c.get_custom_job(name=f"{PARENT}/customJobs/1", metadata=m), exceptions.NotFound),
        (lambda c, m: c.get_custom_job(name="nonsense", metadata=m), exceptions.InvalidArgument),
        (
            lambda c, m: c.create_custom_job(parent=PARENT, custom_job=v1.CustomJob(), metadata=m),
            exceptions.InvalidArgument,
        ),
        (lambda c, m: c.get_custom_job(name=f"{PARENT}/trainingPipelines/1", metadata=m), exceptions.InvalidArgument),
        (lambda c, m: c.create_batch_prediction_job(parent=PARENT, metadata=m), exceptions.MethodNotImplemented),
    ],
)
def test_errors_are_the_sdks_classes(jobs: Any, world: TestWorld, request_of: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        request_of(jobs, in_world(world.name))


def test_details_come_along(jobs: Any, world: TestWorld) -> None:
    """VX-19: a bad request names its fields."""
    with pytest.raises(exceptions.InvalidArgument) as caught:
        jobs.create_custom_job(parent=PARENT, custom_job=v1.CustomJob(display_name="x"), metadata=in_world(world.name))
    violations = [each.field for detail in caught.value.details for each in detail.field_violations]
    assert "custom_job.job_spec" in " ".join(violations) or violations


def test_quota(jobs: Any, world: TestWorld) -> None:
    """VX-1 over gRPC: above the quota it is ResourceExhausted, and the metric is named."""
    metric = "custom_model_training_cpus"
    world.control("POST", "quotas", json={"project": "p1", "region": "us-central1", "name": metric, "value": 2})
    with pytest.raises(exceptions.ResourceExhausted, match=metric):
        jobs.create_custom_job(parent=PARENT, custom_job=custom_job("big"), metadata=in_world(world.name))


def test_late_answers_that_nobody_waits_for_hold_up_no_other(served: Served, world: TestWorld) -> None:
    """CT-3: as many as are handled at once, each a minute late and given up at once."""
    world.fault("api-latency", seconds=60, operation="ListCustomJobs", times=THREADS)
    request = v1.ListCustomJobsRequest.pb()(parent=PARENT).SerializeToString()
    with served.insecure() as channel:
        ask = channel.unary_unary("/google.cloud.aiplatform.v1.JobService/ListCustomJobs")
        late = [ask.future(request, timeout=2, metadata=in_world(world.name)) for _ in range(THREADS)]
        assert {one.code() for one in late} == {grpc.StatusCode.DEADLINE_EXCEEDED}
        ask(request, timeout=20, metadata=in_world(world.name))


def test_faults_befall_calls(jobs: Any, world: TestWorld) -> None:
    """CT-3: errors, throttling and drops over gRPC; a drop after the commit has done what was asked."""
    metadata = in_world(world.name)

    def create() -> Any:
        return jobs.create_custom_job(parent=PARENT, custom_job=custom_job("demo"), metadata=metadata)

    for facts, kind in (
        ({"effect": "api-error", "code": "PERMISSION_DENIED"}, exceptions.PermissionDenied),
        ({"effect": "api-throttle"}, exceptions.ResourceExhausted),
        ({"effect": "api-drop", "code": "before"}, exceptions.ServiceUnavailable),
    ):
        world.fault(operation="CreateCustomJob", times=1, **facts)
        with pytest.raises(kind):
            create()
    assert not list(jobs.list_custom_jobs(parent=PARENT, metadata=metadata))
    world.fault("api-drop", code="after", operation="CreateCustomJob", times=1)
    with pytest.raises(exceptions.ServiceUnavailable):
        create()
    assert len(list(jobs.list_custom_jobs(parent=PARENT, metadata=metadata))) == 1


@pytest.mark.parametrize(
    ("options", "metadata", "code"),
    [
        ({}, in_world("no-such-world"), grpc.StatusCode.NOT_FOUND),
        ({}, in_world("../main"), grpc.StatusCode.NOT_FOUND),
        ({"grpc.default_authority": "evil.example"}, [], grpc.StatusCode.PERMISSION_DENIED),
        ({"grpc.default_authority": "localhost.evil.example:80"}, [], grpc.StatusCode.PERMISSION_DENIED),
    ],
)
def test_worlds_and_authorities_that_are_none(
    served: Served, options: dict[str, str], metadata: list[tuple[str, str]], code: grpc.StatusCode
) -> None:
    """CT-0, CT-14: names of ours alone."""
    with served.insecure(**options) as channel, pytest.raises(grpc.RpcError) as caught:
        call = channel.unary_unary("/google.cloud.aiplatform.v1.JobService/ListCustomJobs")
        call(v1.ListCustomJobsRequest.serialize(v1.ListCustomJobsRequest(parent=PARENT)), metadata=metadata)
    assert caught.value.code() == code


def test_too_large_a_message(served: Served) -> None:
    """CT-14: a megabyte at most."""
    with served.insecure() as channel, pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(CREATE)(bytes(1024 * 1024 + 1))
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_mutated_requests(served: Served, data: st.DataObject) -> None:
    """RL-13: whatever bytes come, the status is one that blames the request, and no details leak."""
    good = _bytes(custom_job("demo"))
    raw = bytearray(good)
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = data.draw(st.sampled_from(paths()))
    with served.insecure() as channel:
        try:
            channel.unary_unary(path)(bytes(raw), metadata=in_world("no-such-world"))
        except grpc.RpcError as error:
            assert error.code() in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND), error  # type: ignore[attr-defined]
            assert "Traceback" not in error.details()  # type: ignore[attr-defined]
            status = rpc_status.from_call(error)
            assert status is None or status.code in (3, 5)
