"""API, reconciler and scheduler as real processes: ready when all have made a pass, and silent towards the outside."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.settings import Settings
from tests.kit import Running, eks, group, slurm, workers
from tests.workers.processes import GUARD, Api, Process


@pytest.fixture
def whole(settings: Settings, tmp_path: Path) -> Iterator[tuple[Api, Path, list[Process]]]:
    """Three guarded processes."""
    log = tmp_path / "connections.log"
    api = Api(settings, log)
    workers_ = [Process(kind, settings, log) for kind in ("reconciler", "scheduler")]
    try:
        api.start()
        api.wait("health")
        yield api, log, workers_
    finally:
        for one in workers_:
            one.stop()
        api.stop()


def test_ready_with_both_workers_and_no_connection_outwards(whole: tuple[Api, Path, list[Process]]) -> None:
    """CT-7, RL-26: 503 until both workers have made a pass; whatever URL a request holds, nobody is called."""
    api, log, workers_ = whole
    answer = httpx.get(f"{api.base}/_windtunnel/ready")
    assert answer.status_code in (200, 503)  # a worker of another test may have been seen in the last five seconds
    for one in workers_:
        one.start()
    api.wait("ready")
    running = Running(api.base)
    world = running.world(frozen=False, rate=100.0)
    hostile = {"SourceS3Uri": "https://192.0.2.1/lifecycle", "OnCreate": "on_create.sh"}
    world.sagemaker.create_cluster(**slurm(workers(2, LifeCycleConfig=hostile)))
    outside = {"SourceS3Uri": "s3://outside.example/x", "OnCreate": "x.sh"}
    world.sagemaker.create_cluster(**eks(group("g", 1, LifeCycleConfig=outside), name="second"))
    world.advance(60)
    assert world.group("workers")["CurrentCount"] == 2
    world.bill()
    world.events()
    running.close()
    noted = log.read_text().splitlines()
    assert noted == ["guarded"] * 3  # each process ran under the guard, and none of them went out


def test_the_guard_sees(tmp_path: Path) -> None:
    """RL-26: else its silence would say nothing."""
    log = tmp_path / "log"
    script = "import socket\ntry: socket.socket().connect(('192.0.2.1', 9))\nexcept PermissionError: print('refused')"
    environment = {**os.environ, "PYTHONPATH": str(GUARD), "SOCKET_GUARD_LOG": str(log)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"
    assert log.read_text().splitlines() == ["guarded", "connect 192.0.2.1:9"]
