"""How the cost of training jobs grows with how many there are: their creation, and the way to their end.

    python -m benchmarks.jobs

Time is measured from outside, at the running service, under the `instant` profile: jobs of 16 machines each, created
by eight clients over REST and waited for until all have succeeded; then once more behind a quota that has room for ten
jobs at a time. For comparison HyperPod nodes come to be in the same run. The exponent is the slope of log(seconds) over
log(jobs): 1 is linear.
"""

import contextlib
import http.client
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.processes import server
from benchmarks.scale import Peak, client, eks, slope, until_target
from benchmarks.versus_moto import free_port, post

SIZES = (100, 300, 1000)
WORKERS, CLIENTS, NODES = 16, 8, 3000
LOCATION, MACHINE = "us-central1", "n1-standard-4"
QUOTA, PER_JOB = "aiplatform.googleapis.com/custom_model_training_cpus", 4 * WORKERS
AT_ONCE = 10
RUN = "WINDTUNNEL_RUN_SECONDS"
OVER = "state%3D%22JOB_STATE_SUCCEEDED%22"
PATIENCE = 900.0


class Project:
    """A project's custom jobs, over REST."""

    def __init__(self, base: str, name: str) -> None:
        self._address = base.removeprefix("http://")
        self._path = f"/v1/projects/{name}/locations/{LOCATION}/customJobs"

    def create(self, count: int) -> float:
        """Seconds until all are there."""
        began = time.perf_counter()
        with ThreadPoolExecutor(CLIENTS) as clients:
            list(clients.map(self._create_some, [count // CLIENTS + (n < count % CLIENTS) for n in range(CLIENTS)]))
        return time.perf_counter() - began

    def _create_some(self, count: int) -> None:
        pool = {
            "machineSpec": {"machineType": MACHINE},
            "replicaCount": str(WORKERS - 1),
            "containerSpec": {"imageUri": "gcr.io/project/train", "env": [{"name": RUN, "value": "0"}]},
        }
        spec = {"workerPoolSpecs": [{**pool, "replicaCount": "1"}, pool]}
        with contextlib.closing(http.client.HTTPConnection(self._address, timeout=60)) as connection:
            for _ in range(count):
                self._ask(connection, "POST", self._path, {"displayName": "train", "jobSpec": spec})

    def until_over(self, count: int) -> float:
        """Seconds until so many have succeeded."""
        began = time.perf_counter()
        with contextlib.closing(http.client.HTTPConnection(self._address, timeout=60)) as connection:
            while self._succeeded(connection) < count:
                if time.perf_counter() - began > PATIENCE:
                    raise RuntimeError(f"{count} jobs have not all succeeded in {PATIENCE:g} s")
                time.sleep(0.25)
        return time.perf_counter() - began

    def _succeeded(self, connection: http.client.HTTPConnection) -> int:
        count, token = 0, ""
        while True:
            query = f"?pageSize=1000&readMask=name&filter={OVER}&pageToken={token}"
            page = self._ask(connection, "GET", self._path + query)
            count += len(page.get("customJobs", ()))
            token = page.get("nextPageToken", "")
            if not token:
                return count

    def _ask(self, connection: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> Any:
        head = {"Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), head)
        answer = connection.getresponse()
        told = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {told}")
        return told


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    windtunnel = str(Path(sys.executable).with_name("windtunnel"))
    with tempfile.TemporaryDirectory(prefix="windtunnel-jobs-") as scratch:
        Path(scratch).chmod(0o755)
        port = free_port()
        base = f"http://127.0.0.1:{port}"
        command = [windtunnel, "up", "--profile", "instant", "--port", str(port), "--data", f"{scratch}/data"]
        command += ["--grpc-port", "0"]
        with server(command, f"{base}/_windtunnel/ready") as (process, _):
            with Peak(process) as peak:
                run(base)
            weights = ", ".join(f"{name} {weight:.0f}" for name, weight in sorted(peak.highest.items()))
            print("peak memory, MiB:", weights)


def run(base: str) -> None:
    sagemaker = client(base)
    sagemaker.create_cluster(**eks("beside", NODES, 30))
    nodes_a_second = NODES / until_target(sagemaker, "beside")
    print(f"for comparison: {NODES} HyperPod nodes reach their targets, {nodes_a_second:.0f} nodes/s")
    print(f"jobs of {WORKERS} machines, without a quota:")
    of_size(base, "free", nodes_a_second)
    print(f"behind a quota for {AT_ONCE} jobs at a time:")
    of_size(base, "queue", nodes_a_second, limit=AT_ONCE * PER_JOB)


def of_size(base: str, name: str, nodes_a_second: float, limit: int | None = None) -> None:
    made, whole = {}, {}
    for size in SIZES:
        project = f"{name}-{size}"
        if limit is not None:
            quota = {"name": QUOTA, "value": limit, "project": project, "region": LOCATION}
            post(f"{base}/_windtunnel/quotas", quota)
        jobs = Project(base, project)
        made[size] = jobs.create(size)
        whole[size] = made[size] + jobs.until_over(size)
        rate = size * WORKERS / whole[size]
        print(
            f"{size:6} jobs are created in {made[size]:6.2f} s, and have succeeded after {whole[size]:6.2f} s: "
            f"{size / whole[size]:5.1f} jobs/s, {rate:5.0f} workers/s ({rate / nodes_a_second:.2f} of the nodes/s)"
        )
    print(f"exponent from {SIZES[0]} to {SIZES[-1]} jobs: {slope(made):.2f} created, {slope(whole):.2f} to their end")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # who read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
