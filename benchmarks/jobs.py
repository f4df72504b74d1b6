"""How long custom jobs take: created one by one over REST, run to their ends by one advance, read.

    python -m benchmarks.jobs [JOBS] [WORKERS]

Time is measured from outside, at the running service, under the `instant` profile: a thousand jobs of sixteen workers
unless told otherwise.
"""

import json
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.processes import mebibytes, server
from benchmarks.versus_moto import free_port, post

JOBS, WORKERS = 1000, 16
PARENT = "projects/benchmarks/locations/us-central1"


def custom_job(name: str, workers: int) -> dict[str, Any]:
    machine = {"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": "gcr.io/p/train"}}
    pools = [{**machine, "replicaCount": "1"}, {**machine, "replicaCount": str(workers - 1)}]
    return {"displayName": name, "jobSpec": {"workerPoolSpecs": pools[: 1 if workers == 1 else 2]}}


def main(jobs: int, workers: int) -> None:
    windtunnel = str(Path(sys.executable).with_name("windtunnel"))
    with tempfile.TemporaryDirectory(prefix="windtunnel-jobs-") as scratch:
        Path(scratch).chmod(0o755)
        base = f"http://127.0.0.1:{free_port()}"
        port = base.rpartition(":")[2]
        command = [windtunnel, "up", "--profile", "instant", "--frozen", "--port", port, "--data", f"{scratch}/data"]
        with server(command, f"{base}/_windtunnel/ready") as (process, _):
            run(base, jobs, workers)
            weights = ", ".join(f"{name} {weight:.0f}" for name, weight in sorted(mebibytes(process).items()))
            print("memory, MiB:", weights)


def run(base: str, jobs: int, workers: int) -> None:
    began = time.perf_counter()
    names = [post(f"{base}/v1/{PARENT}/customJobs", custom_job(f"job-{n}", workers))["name"] for n in range(jobs)]
    made = time.perf_counter() - began
    print(f"{jobs} jobs of {workers} workers: created in {made:.2f} s, {jobs / made:.0f}/s")
    began = time.perf_counter()
    done = post(f"{base}/_windtunnel/clock/advance", {"by": 3600})
    took = time.perf_counter() - began
    print(
        f"advanced to their ends in {took:.2f} s, {jobs * workers / took:.0f} workers/s; {json.dumps(done['counts'])}"
    )
    began = time.perf_counter()
    states = {read(f"{base}/v1/{name}")["state"] for name in names[:200]}
    print(f"read 200 of them in {time.perf_counter() - began:.2f} s: {', '.join(states)}")
    began = time.perf_counter()
    bill = read(f"{base}/_windtunnel/bills?by=job")
    print(f"a bill of {len(bill['lines'])} jobs in {time.perf_counter() - began:.2f} s")


def read(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=120) as answer:
        return json.load(answer)


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*given, *(JOBS, WORKERS)[len(given) :])
