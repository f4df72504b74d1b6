"""Windtunnel and moto_server side by side in one run: start-up, reads, creates, memory; ratios at the end.

    python -m benchmarks.versus_moto [--seconds 3] [--moto PATH/TO/moto_server]

Without --moto it makes a virtual environment of its own and installs moto there. The clock of our world is frozen and
the groups are as large as moto's, so that a create costs what it costs; ours is a durable transaction, moto's is not.
"""

import argparse
import asyncio
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.load import Connection, Figures, measure
from benchmarks.processes import mebibytes, server

MOTO = "moto[server]>=5.2,<6"
SEEDED, NODES, PAGE = 50, 4, 10
OPERATIONS = ("DescribeCluster", "ListClusters", "ListClusterNodes", "CreateCluster")


def request(name: str) -> dict[str, Any]:
    group = {
        "InstanceGroupName": "workers",
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": NODES,
        "ExecutionRole": "arn:aws:iam::123456789012:role/hyperpod",
        "ThreadsPerCore": 1,
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-lifecycle/x", "OnCreate": "on_create.sh"},
    }
    return {"ClusterName": name, "InstanceGroups": [group]}


def body_of(operation: str, run: str) -> Any:
    return {
        "DescribeCluster": lambda n: {"ClusterName": f"seed-{n % SEEDED}"},
        "ListClusters": lambda n: {"MaxResults": PAGE},
        "ListClusterNodes": lambda n: {"ClusterName": f"seed-{n % SEEDED}", "MaxResults": PAGE},
        "CreateCluster": lambda n: request(f"made-{run}-{n}"),
    }[operation]


async def seed(endpoint: str) -> None:
    connection = Connection(endpoint)
    for number in range(SEEDED):
        status, answer = await connection.call("CreateCluster", request(f"seed-{number}"))
        assert status == 200, answer
    connection.close()


async def load(endpoint: str, seconds: float) -> list[Figures]:
    return [
        await measure(
            endpoint,
            operation,
            body_of(operation, f"{concurrency}"),
            concurrency=concurrency,
            seconds=seconds,
            most=4000 if operation == "CreateCluster" else 10**9,
        )
        for operation in OPERATIONS
        for concurrency in (1, 8, 32)
    ]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def post(url: str, body: dict[str, Any]) -> Any:
    asked = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=120) as answer:
        return json.load(answer)


def ours(seconds: float, directory: Path) -> tuple[dict[str, float], list[Figures], dict[str, float]]:
    """Start-up in seconds (median of 5), load, memory."""
    windtunnel = str(Path(sys.executable).with_name("windtunnel"))
    with a_service(windtunnel, directory, "/_windtunnel/ready") as (base, process, first):
        asyncio.run(seed(base))
        post(f"{base}/_windtunnel/clock/advance", {"by": 3600})
        figures = asyncio.run(load(base, seconds))
        memory = mebibytes(process)
    starts = {"first start, ready": first}
    for name, path in (("ready on an existing database", "ready"), ("API answers on an existing database", "health")):
        times = []
        for _ in range(5):
            with a_service(windtunnel, directory, f"/_windtunnel/{path}") as (_, _, took):
                times.append(took)
        starts[name] = statistics.median(times)
    return starts, figures, memory


@contextmanager
def a_service(windtunnel: str, directory: Path, path: str) -> Iterator[tuple[str, Any, float]]:
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    command = [windtunnel, "up", "--frozen", "--port", str(port), "--data", str(directory)]
    with server(command, base + path) as (process, took):
        yield base, process, took


def theirs(seconds: float, moto: str) -> tuple[float, list[Figures], float]:
    times = []
    for _ in range(5):
        port = free_port()
        with server([moto, "-H", "127.0.0.1", "-p", str(port)], f"http://127.0.0.1:{port}/moto-api/") as (_, took):
            times.append(took)
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    with server([moto, "-H", "127.0.0.1", "-p", str(port)], f"{base}/moto-api/") as (process, _):
        asyncio.run(seed(base))
        figures = asyncio.run(load(base, seconds))
        memory = sum(mebibytes(process).values())
    return statistics.median(times), figures, memory


def install_moto(directory: Path) -> str:
    venv.create(directory, with_pip=True)
    subprocess.run([directory / "bin" / "pip", "install", "-q", MOTO], check=True)
    return str(directory / "bin" / "moto_server")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--moto")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="windtunnel-bench-") as scratch:
        Path(scratch).chmod(0o755)
        moto = chosen.moto or install_moto(Path(scratch) / "moto")
        moto_start, moto_figures, moto_memory = theirs(chosen.seconds, moto)
        starts, figures, memory = ours(chosen.seconds, Path(scratch) / "data")
    report(starts, figures, memory, moto_start, moto_figures, moto_memory)


def report(
    starts: dict[str, float],
    figures: list[Figures],
    memory: dict[str, float],
    moto_start: float,
    moto_figures: list[Figures],
    moto_memory: float,
) -> None:
    print(f"{'':18} {'':>4} {'windtunnel':>32} {'moto_server':>32} {'ratio':>6}")
    print(
        f"{'operation':18} {'conc':>4} {'req/s':>10} {'p50 ms':>10} {'p99 ms':>10}"
        + f" {'req/s':>10} {'p50 ms':>10} {'p99 ms':>10}"
    )
    for mine, other in zip(figures, moto_figures, strict=True):
        print(
            f"{mine.operation:18} {mine.concurrency:4} {mine.per_second:10.0f} {mine.p50:10.2f} {mine.p99:10.2f}"
            f" {other.per_second:10.0f} {other.p50:10.2f} {other.p99:10.2f} {mine.per_second / other.per_second:6.1f}"
            + (f"  failures {mine.failures}/{other.failures}" if mine.failures or other.failures else "")
        )
    print(
        f"\nstart-up: moto_server {moto_start:.2f} s; windtunnel "
        + ", ".join(f"{k} {v:.2f} s" for k, v in starts.items())
    )
    print(
        f"memory after the load: moto_server {moto_memory:.0f} MiB; windtunnel "
        + ", ".join(f"{k} {v:.0f} MiB" for k, v in memory.items())
    )


if __name__ == "__main__":
    main()
