"""How cost grows with size: nodes of one cluster, many clusters, pages of nodes; and what each process weighs.

    python -m benchmarks.scale

Time is measured from outside, at the running service, under the `instant` profile. The exponent is the slope of
log(seconds) over log(nodes): 1 is linear.
"""

import json
import math
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import boto3
import psutil
from botocore.config import Config

from benchmarks.processes import mebibytes, server
from benchmarks.versus_moto import free_port, post

ROLE = "arn:aws:iam::111122223333:role/hyperpod"
SIZES = (100, 300, 1000, 3000, 10_000)


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
    """The largest resident memory of each process, looked at ten times a second."""

    def __init__(self, process: psutil.Process) -> None:
        super().__init__(daemon=True)
        self._process, self.running, self.highest = process, True, dict[str, float]()

    def run(self) -> None:
        while self.running:
            for name, weight in mebibytes(self._process).items():
                self.highest[name] = max(weight, self.highest.get(name, 0.0))
            time.sleep(0.1)


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
    windtunnel = str(Path(sys.executable).with_name("windtunnel"))
    with tempfile.TemporaryDirectory(prefix="windtunnel-scale-") as scratch:
        Path(scratch).chmod(0o755)
        port = free_port()
        base = f"http://127.0.0.1:{port}"
        command = [windtunnel, "up", "--profile", "instant", "--port", str(port), "--data", f"{scratch}/data"]
        with server(command, f"{base}/_windtunnel/ready") as (process, _):
            peak = Peak(process)
            peak.start()
            run(base, peak)


def run(base: str, peak: Peak) -> None:
    sagemaker = boto3.client(
        "sagemaker",
        endpoint_url=base,
        region_name="us-west-2",
        aws_access_key_id="111122223333",
        aws_secret_access_key="x",
        config=Config(retries={"total_max_attempts": 1}),
    )
    seconds = {}
    for size in SIZES:
        sagemaker.create_cluster(**eks(f"of-{size}", size, min(50, size // 100)))
        seconds[size] = until_target(sagemaker, f"of-{size}")
        print(f"{size:6} nodes reach their targets in {seconds[size]:6.2f} s, {size / seconds[size]:7.0f} nodes/s")
    first, last = SIZES[0], SIZES[-1]
    print(f"exponent from {first} to {last} nodes: {_slope(seconds):.2f} (least squares)")
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
    done = post(f"{base}/_windtunnel/clock/advance", {"by": 8 * 3600})
    print("advance 8 h over 18,400 nodes:", json.dumps(done["counts"]))
    peak.running = False
    peak.join()
    print("peak memory, MiB:", ", ".join(f"{name} {weight:.0f}" for name, weight in sorted(peak.highest.items())))


def _slope(seconds: dict[int, float]) -> float:
    xs, ys = [math.log(size) for size in seconds], [math.log(value) for value in seconds.values()]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / sum((x - mean_x) ** 2 for x in xs)


if __name__ == "__main__":
    main()
