"""What tests hold in their hands: a running service, a world of its own for each test, and builders of requests."""

import itertools
import os
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from threading import Thread
from typing import Any

import boto3
import httpx
import pytest
import uvicorn
from botocore.config import Config

from app.host.exports import variables
from app.host.protocol import BoundedProtocol
from app.main import create_app
from app.settings import Settings
from tests.census import watch

ROLE = "arn:aws:iam::111122223333:role/iam-role-for-cluster"
START = "2026-01-01T00:00:00Z"
_session = boto3.session.Session()
_numbers = itertools.count(1)
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Loopback speaks plain HTTP; reading the authorities that httpx trusts by default costs 70 ms of CPU a client."""


def aws_client(
    endpoint: str, service: str = "sagemaker", account: str = "111122223333", region: str = "us-west-2"
) -> Any:
    """A real boto3 client; the access key is the account."""
    client = _session.client(
        service,
        endpoint_url=endpoint,
        region_name=region,
        aws_access_key_id=account,
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}, read_timeout=120, max_pool_connections=64),
    )
    return watch(client) if service == "sagemaker" else client


@dataclass
class TestWorld:
    """A world with a frozen clock: nothing moves but by `advance`."""

    __test__ = False

    base: str
    name: str
    http: httpx.Client = field(init=False)
    clients: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.endpoint, timeout=300, verify=PLAIN)

    @property
    def endpoint(self) -> str:
        return f"{self.base}/w/{self.name}"

    @cached_property
    def sagemaker(self) -> Any:
        return self.client()

    @cached_property
    def vertex(self) -> Any:
        """Google's own client of the JobService, over REST and without credentials."""
        from google.cloud import aiplatform_v1

        return self.google(aiplatform_v1.JobServiceClient)

    @cached_property
    def storage(self) -> Any:
        """Google's own client of Cloud Storage, in project `p1` and without credentials."""
        from google.auth.credentials import AnonymousCredentials
        from google.cloud import storage

        options = {"api_endpoint": self.endpoint}
        self.clients.append(storage.Client("p1", AnonymousCredentials(), client_options=options))
        return self.clients[-1]

    def google(self, kind: Any, transport: str = "rest") -> Any:
        """A client of Google's of that kind."""
        from google.auth.credentials import AnonymousCredentials

        options = {"api_endpoint": self.endpoint}
        made = kind(transport=transport, credentials=AnonymousCredentials(), client_options=options)
        self.clients.append(made.transport)
        return made

    def gcloud(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run gcloud against this world, as `windtunnel env` points it here, with settings of its own."""
        program = shutil.which("gcloud")
        if program is None:
            pytest.skip("gcloud is not installed")
        with tempfile.TemporaryDirectory(prefix="wt-gcloud-") as folder:
            told = variables(Settings(), self.endpoint, None)
            return subprocess.run(
                [program, *arguments],
                env={**os.environ, **told, "CLOUDSDK_CONFIG": folder, "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "1"},
                capture_output=True,
                text=True,
                timeout=120,
            )

    def client(self, **kwargs: Any) -> Any:
        self.clients.append(aws_client(self.endpoint, **kwargs))
        return self.clients[-1]

    def close(self) -> None:
        """Give the sockets back; the world itself stays in the database."""
        for client in self.clients:
            client.close()
        self.http.close()

    def control(self, method: str, path: str, **kwargs: Any) -> Any:
        """Call our own API; the JSON answer."""
        answer = self.http.request(method, f"{self.endpoint}/_windtunnel/{path}", **kwargs)
        assert answer.is_success, answer.text
        return answer.json()

    def advance(self, seconds: float = 0, *, minutes: float = 0, hours: float = 0) -> dict[str, Any]:
        by = seconds + 60 * minutes + 3600 * hours
        done = self.control("POST", "clock/advance", json={"by": by})
        assert done["settled"], done
        return done

    def now(self) -> str:
        return self.control("GET", "clock")["now"]

    def capacity(self, instance_type: str, total: int | None, **kwargs: Any) -> None:
        self.control("POST", "capacity", json={"instance_type": instance_type, "total": total, **kwargs})

    def fault(self, effect: str, **kwargs: Any) -> str:
        return self.control("POST", "faults", json={"effect": effect, **kwargs})["id"]

    def bill(self, **params: Any) -> dict[str, Any]:
        return self.control("GET", "bills", params=params)

    def export(self) -> bytes:
        answer = self.http.get(f"{self.base}/_windtunnel/worlds/{self.name}/export")
        assert answer.status_code == 200, answer.text
        return answer.content

    def describe(self, name: str = "demo") -> dict[str, Any]:
        return self.sagemaker.describe_cluster(ClusterName=name)

    def group(self, group: str, name: str = "demo") -> dict[str, Any]:
        return next(g for g in self.describe(name)["InstanceGroups"] if g["InstanceGroupName"] == group)

    def nodes(self, name: str = "demo", **kwargs: Any) -> list[dict[str, Any]]:
        pages = self.sagemaker.get_paginator("list_cluster_nodes").paginate(ClusterName=name, **kwargs)
        return [node for page in pages for node in page["ClusterNodeSummaries"]]

    def events(self, name: str = "demo", **kwargs: Any) -> list[dict[str, Any]]:
        """Oldest first."""
        pages = self.sagemaker.get_paginator("list_cluster_events").paginate(
            ClusterName=name, SortOrder="Ascending", **kwargs
        )
        return [event for page in pages for event in page["Events"]]


@dataclass
class Running:
    """A service that answers on loopback."""

    base: str
    worlds: list[TestWorld] = field(default_factory=list)
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.base, timeout=300, verify=PLAIN)

    def world(self, **facts: Any) -> TestWorld:
        name = f"t-{next(_numbers)}"
        body = {"name": name, "frozen": True, "start": START, "seed": 7} | facts
        answer = self.http.post("/_windtunnel/worlds", json=body)
        assert answer.is_success, answer.text
        self.worlds.append(TestWorld(self.base, name))
        return self.worlds[-1]

    def close(self) -> None:
        for world in self.worlds:
            world.close()
        self.http.close()


@contextmanager
def serving(settings: Settings) -> Iterator[Running]:
    """The application on a free port of loopback, in a thread of this process."""
    config = uvicorn.Config(
        create_app(settings), http=BoundedProtocol, port=0, log_config=None, lifespan="on", ws="none"
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
        assert thread.is_alive(), "the application did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    running = Running(f"http://127.0.0.1:{port}")
    # The last surface to be loaded, in a thread: what is loaded while pytest turns warnings into errors anew, between
    # two phases of a test, may break by one.
    httpx.get(f"{running.base}/console/-/login", verify=PLAIN, timeout=120)
    try:
        yield running
    finally:
        running.close()
        server.should_exit = True
        thread.join(10)


def group(name: str, count: int = 1, **facts: Any) -> dict[str, Any]:
    """An instance group of a request; keyword arguments are members of the specification."""
    return {
        "InstanceGroupName": name,
        "InstanceType": "ml.c5.xlarge",
        "InstanceCount": count,
        "ExecutionRole": ROLE,
        "LifeCycleConfig": {"SourceS3Uri": "s3://amzn-s3-demo-bucket/lifecycle", "OnCreate": "on_create.sh"},
    } | facts


def controller(**facts: Any) -> dict[str, Any]:
    return group("controller", **({"SlurmConfig": {"NodeType": "Controller"}} | facts))


def login(count: int = 1, **facts: Any) -> dict[str, Any]:
    return group("login", count, **({"SlurmConfig": {"NodeType": "Login"}} | facts))


def workers(count: int, name: str = "workers", **facts: Any) -> dict[str, Any]:
    defaults = {
        "InstanceType": "ml.p5.48xlarge",
        "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]},
    }
    return group(name, count, **(defaults | facts))


def slurm(*groups: dict[str, Any], name: str = "demo", **facts: Any) -> dict[str, Any]:
    """A CreateCluster request for Slurm with continuous provisioning; a controller is added in front."""
    return {
        "ClusterName": name,
        "NodeProvisioningMode": "Continuous",
        "InstanceGroups": [controller(), *groups],
    } | facts


def eks(*groups: dict[str, Any], name: str = "demo", **facts: Any) -> dict[str, Any]:
    """A CreateCluster request for EKS with continuous provisioning."""
    return {
        "ClusterName": name,
        "NodeProvisioningMode": "Continuous",
        "Orchestrator": {"Eks": {"ClusterArn": f"arn:aws:eks:us-west-2:111122223333:cluster/{name}"}},
        "VpcConfig": {"SecurityGroupIds": ["sg-12345678"], "Subnets": ["subnet-12345678"]},
        "InstanceGroups": list(groups),
    } | facts


def classic(*groups: dict[str, Any], name: str = "demo", **facts: Any) -> dict[str, Any]:
    """A CreateCluster request without continuous provisioning."""
    return {"ClusterName": name, "InstanceGroups": list(groups)} | facts


def custom_job(name: str = "demo", *pools: dict[str, Any], **facts: Any) -> dict[str, Any]:
    """A CustomJob of a request, in snake case; without pools it has one CPU machine. Further members by keyword."""
    return {"display_name": name, "job_spec": {"worker_pool_specs": list(pools) or [worker_pool()]}} | facts


def worker_pool(machine_type: str = "n1-standard-4", replicas: int = 1, **machine: Any) -> dict[str, Any]:
    """A worker pool of containers; keyword arguments are members of the machine's specification."""
    return {
        "machine_spec": {"machine_type": machine_type} | machine,
        "replica_count": replicas,
        "container_spec": {"image_uri": "gcr.io/demo/train"},
    }
