"""sagemaker-core's Cluster class, whose waits need no change for a clock that a test moves."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.drivers import HERE, environment
from tests.kit import TestWorld


@pytest.fixture
def program(core_python: Path, world: TestWorld) -> Iterator["subprocess.Popen[str]"]:
    """`cluster_class.py`, running in the environment that has sagemaker-core."""
    started = subprocess.Popen(
        [core_python, HERE / "cluster_class.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(world) | {"HOME": str(core_python.parent)},
        text=True,
    )
    yield started
    started.kill()
    started.communicate()


def test_a_clusters_life(program: "subprocess.Popen[str]", world: TestWorld) -> None:
    """HP-W1 to HP-W7: create, wait_for_status, nodes, update, get_all, delete and wait_for_delete."""

    def hear() -> dict[str, Any]:
        assert program.stdout
        drawn = []
        for line in program.stdout:
            if line.startswith("{"):
                return json.loads(line)
            drawn.append(line)
        assert program.stderr
        raise AssertionError("".join(drawn) + program.stderr.read())

    def go_on() -> None:
        assert program.stdin
        program.stdin.write("\n")
        program.stdin.flush()

    created = hear()
    assert (created["step"], created["status"]) == ("created", "Creating")
    world.advance(minutes=10)  # the class waits meanwhile
    assert hear() == {"step": "in service", "status": "InService"}
    world.advance(minutes=10)
    go_on()
    assert hear() == {"step": "nodes", "nodes": [["controller", "Running"], *[["workers", "Running"]] * 2]}
    assert hear() == {"step": "deleted nodes", "same": True}
    world.advance(minutes=10)
    go_on()
    while world.group("workers")["TargetCount"] != 4:
        assert program.poll() is None
    world.advance(minutes=10)
    go_on()
    assert hear() == {"step": "updated", "counts": {"controller": 1, "workers": 4}}
    assert hear() == {"step": "listed", "names": ["demo"]}
    assert hear() == {"step": "deleting", "status": "Deleting"}
    world.advance(minutes=20)
    assert hear() == {"step": "gone", "code": "ResourceNotFound"}
