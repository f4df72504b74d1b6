"""How cost grows with size: nodes of one cluster, many clusters, pages of nodes; and what each process weighs.

    python -m benchmarks.scale

Time is measured from outside, at the running service, under the `instant` profile. The exponent is the slope of
log(seconds) over log(nodes): 1 is linear.
"""

import contextlib
import json
import math
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Self

import boto3
import psutil
from botocore.config import Config

from benchmarks.processes import mebibytes, server
from benchmarks.versus_moto import free_port, post

ROLE = "arn:aws:iam::111122223333:role/hyperpod"
SIZES = (100, 300, 1000, 3000, 10_000)
ADVANCED, HOURS = 5000, 8


def eks(name: str, nodes: int, groups: int) -> dict[str, Any]:
    return {
        "ClusterName": name,
        "NodeProvisioningMode": "Continuous",
        "Orchestrator": {"Eks": {"ClusterArn": f"arn:aws:eks:us-west-2:111122223333:cluster/{name}"}},
        "VpcConfig": {"SecurityGroupIds": ["sg-12345678"], "Subnets": ["subnet-12345678"]},
        "InstanceGroups": [
            {
                "InstanceGroupName": f"group-{number}",
                "InstanceType": "ml.p5.48xlarge",
                "InstanceCount": nodes // groups,
                "ExecutionRole": ROLE,
                "LifeCycleConfig": {"SourceS3Uri": "s3://amzn-s3-demo-bucket/x", "OnCreate": "on_create.sh"},
            }
            for number in range(groups)
        ],
    }


class Peak(threading.Thread):
    """The largest resident memory of each process, looked at ten times a second for as long as the block lasts."""

    def __init__(self, process: psutil.Process) -> None:
        super().__init__(daemon=True)
        self._process, self._over, self.highest = process, threading.Event(), dict[str, float]()

    def run(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):  # the service has ended by itself
            while not self._over.wait(0.1):
                for name, weight in mebibytes(self._process).items():
                    self.highest[name] = max(weight, self.highest.get(name, 0.0))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


def until_target(sagemaker: Any, name: str) -> float:
    began = time.perf_counter()
    while True:
        groups = sagemaker.describe_cluster(ClusterName=name)["InstanceGroups"]
        if all(group["CurrentCount"] == group["TargetCount"] for group in groups):
            return time.perf_counter() - began
        time.sleep(0.02)


def page_times(sagemaker: Any, name: str) -> list[float]:
    """Milliseconds of each page of a hundred nodes."""
    times, token = [], None
    while True:
        began = time.perf_counter()
        page = sagemaker.list_cluster_nodes(ClusterName=name, **({"NextToken": token} if token else {}))
        times.append((time.perf_counter() - began) * 1000)
        token = page.get("NextToken")
        if token is None:
            return times


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    windtunnel = str(Path(sys.executable).with_name("windtunnel"))
    with tempfile.TemporaryDirectory(prefix="windtunnel-scale-") as scratch:
        Path(scratch).chmod(0o755)
        port = free_port()
        base = f"http://127.0.0.1:{port}"
        command = [windtunnel, "up", "--profile", "instant", "--port", str(port), "--data", f"{scratch}/data"]
        with server(command, f"{base}/_windtunnel/ready") as (process, _):
            with Peak(process) as peak:
                run(base)
            weights = ", ".join(f"{name} {weight:.0f}" for name, weight in sorted(peak.highest.items()))
            print("peak memory, MiB:", weights)


def client(base: str) -> Any:
    return boto3.client(
        "sagemaker",
        endpoint_url=base,
        region_name="us-west-2",
        aws_access_key_id="111122223333",
        aws_secret_access_key="x",
        config=Config(retries={"total_max_attempts": 1}),
    )


def run(base: str) -> None:
    sagemaker = client(base)
    seconds = {}
    for size in SIZES:
        sagemaker.create_cluster(**eks(f"of-{size}", size, min(50, size // 100)))
        seconds[size] = until_target(sagemaker, f"of-{size}")
        print(f"{size:6} nodes reach their targets in {seconds[size]:6.2f} s, {size / seconds[size]:7.0f} nodes/s")
    first, last = SIZES[0], SIZES[-1]
    print(f"exponent from {first} to {last} nodes: {slope(seconds):.2f} (least squares)")
    times = page_times(sagemaker, f"of-{last}")
    third = len(times) // 3
    print(
        f"ListClusterNodes of {last}: {len(times)} pages, median of the first third "
        f"{sorted(times[:third])[third // 2]:.1f} ms, of the last third {sorted(times[-third:])[third // 2]:.1f} ms"
    )
    began = time.perf_counter()
    for number in range(200):
        sagemaker.create_cluster(**eks(f"one-of-200-{number}", 20, 1))
    made = time.perf_counter() - began
    for number in range(200):
        until_target(sagemaker, f"one-of-200-{number}")
    took = time.perf_counter() - began
    print(f"200 clusters of 20 nodes: created in {made:.2f} s, all at their targets after {took:.2f} s")
    advance(base, sagemaker)


def advance(base: str, sagemaker: Any) -> None:
    """Eight hours with something to do: a cluster comes to be, and each hour some of its nodes break and recover."""
    others = sum(SIZES) + 200 * 20
    post(f"{base}/_windtunnel/clock", {"frozen": True})
    for hour in range(1, HOURS):
        rule = {"effect": "node-hardware", "code": "Xid-73", "cluster": "advanced", "seconds": hour * 3600}
        post(f"{base}/_windtunnel/faults", {**rule, "probability": 0.01})
    sagemaker.create_cluster(**eks("advanced", ADVANCED, 50))
    began = time.perf_counter()
    done = post(f"{base}/_windtunnel/clock/advance", {"by": HOURS * 3600})
    took = time.perf_counter() - began
    print(
        f"advance {HOURS} h in {took:.2f} s: {ADVANCED} nodes are made and each hour 1 % of them break, "
        f"beside {others} others; {json.dumps(done['counts'])}"
    )


def slope(seconds: dict[int, float]) -> float:
    """Of log(seconds) over log(size), by least squares."""
    xs, ys = [math.log(size) for size in seconds], [math.log(value) for value in seconds.values()]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / sum((x - mean_x) ** 2 for x in xs)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # who read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
