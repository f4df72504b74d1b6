"""`windtunnel up` and `exec` as a user has them: real processes, killed for real."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("app.main")

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("WINDTUNNEL_")}
PATIENCE = 60.0  # wall seconds; only a failure waits so long


class Up:
    """A running `windtunnel up --json`; its own process group ends with the test."""

    def __init__(self, data: Path, *options: str) -> None:
        self.errors = data.with_suffix(".err")
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "app.cli", "up", "--json", "--port", "0", "--data", str(data), *options],
                env=CLEAN,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout
        self.first_line = self.process.stdout.readline()
        assert self.first_line, self.errors.read_text()

    @property
    def facts(self) -> dict[str, Any]:
        return dict(json.loads(self.first_line))

    def get(self, path: str) -> tuple[int, bytes]:
        try:
            with urllib.request.urlopen(f"{self.facts['endpoint']}{path}", timeout=PATIENCE) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        assert self.process.stdout
        self.process.stdout.close()
        return code


PROCESSES = {"api", "grpc", "reconciler", "scheduler"}
"""What `up` keeps when all extras are installed."""


@pytest.fixture
def data() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="wt-"))
    made.chmod(0o711)
    yield made / "data"
    for left in _of(made):  # only what this test started can have its directory in its words
        left.kill()
    shutil.rmtree(made, ignore_errors=True)


def _of(directory: Path) -> list[psutil.Process]:
    found = []
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = each.cmdline()
            told = each.environ().get("WINDTUNNEL_DATA", "") if "app.commands.process" in words else ""
            if str(directory) in " ".join([*words, told]) and each.status() != psutil.STATUS_ZOMBIE:
                found.append(each)
    return found


def until(true: Any) -> Any:
    """What `true()` answers once it is; waits for processes, in steps of 20 ms."""
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.02)):
        if answer := true():
            return answer
        pause.wait(0.02)
    raise AssertionError("did not happen in time")


def test_up_says_where_and_ends_on_a_signal(data: Path) -> None:
    """CT-11: ready when it says so; SIGTERM ends every process within ten seconds, exit code 0; the data stays."""
    up = Up(data)
    assert up.get("/_windtunnel/ready")[0] == 200
    assert set(up.facts["processes"]) == PROCESSES
    assert up.facts["data"] == str(data)
    assert len(_of(data)) >= 5
    up.process.send_signal(signal.SIGTERM)
    assert up.process.wait(10) == 0, up.errors.read_text()
    up.process.stdout.close()  # type: ignore[union-attr]
    assert _of(data) == []
    assert (data / "postgres" / "PG_VERSION").exists()


def test_who_is_told_twice_ends_as_well(data: Path) -> None:
    """CT-11: a second signal on the way out leaves nothing behind."""
    up = Up(data)
    for _ in range(3):
        up.process.send_signal(signal.SIGTERM)
    assert up.process.wait(10) == 0, up.errors.read_text()
    up.process.stdout.close()  # type: ignore[union-attr]
    assert _of(data) == []


def test_killed_processes_come_back(data: Path) -> None:
    """`kill -9` of a child or of the database: it is started again and the service is ready again."""
    up = Up(data)
    for name in PROCESSES:
        os.kill(up.facts["processes"][name], signal.SIGKILL)
    postmaster = int((data / "postgres" / "postmaster.pid").read_text().splitlines()[0])
    os.kill(postmaster, signal.SIGKILL)
    until(lambda: _names(data) == PROCESSES and _postmaster(data) not in (None, postmaster))
    until(lambda: up.get("/_windtunnel/ready")[0] == 200)
    assert not set(up.facts["processes"].values()) & {each.pid for each in _of(data)}
    assert up.end() == 0


def test_an_executor_only_where_it_is_asked_for(data: Path) -> None:
    """VX-16: and its programs end with the service."""
    up = Up(data, "--execute-jobs", "--profile", "instant")
    assert "executor" in up.facts["processes"]
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}
    pool |= {"containerSpec": {"imageUri": "gcr.io/p/train", "command": ["sleep", "600.25"]}}
    request = urllib.request.Request(
        f"{up.facts['endpoint']}/v1/projects/p/locations/us-central1/customJobs",
        json.dumps({"displayName": "train", "jobSpec": {"workerPoolSpecs": [pool]}}).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        assert answer.status == 200

    def running() -> list[int]:
        return [one.pid for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == ["sleep", "600.25"]]

    until(lambda: running() != [])
    assert up.end() == 0
    until(lambda: running() == [])


def _names(data: Path) -> set[str]:
    found = set()
    for each in _of(data):
        with contextlib.suppress(psutil.Error):  # it may end between two looks
            words = each.cmdline()
            found |= {words[-1]} if "app.commands.process" in words else set()
    return found


def _postmaster(data: Path) -> int | None:
    try:
        lines = (data / "postgres" / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return None
    return int(lines[0]) if len(lines) >= 8 and lines[7].strip() == "ready" else None


def test_children_end_with_a_killed_supervisor(data: Path) -> None:
    """`kill -9` of the supervisor: the children follow, the database waits and is adopted by the next `up`."""
    up = Up(data)
    postmaster = _postmaster(data)
    up.end(signal.SIGKILL)
    until(lambda: _names(data) == set())
    assert _postmaster(data) == postmaster

    again = Up(data)
    assert again.get("/_windtunnel/ready")[0] == 200
    assert _postmaster(data) == postmaster
    assert again.end(signal.SIGINT) == 0
    assert _of(data) == []


def test_a_second_up_on_the_same_data_is_refused(data: Path) -> None:
    """CT-11: exit code 5, and the first goes on."""
    up = Up(data)
    second = subprocess.run(
        [sys.executable, "-m", "app.cli", "up", "--port", "0", "--data", str(data)],
        env=CLEAN,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert second.returncode == 5, second.stderr
    assert f"in use by process {up.process.pid}" in second.stderr
    assert up.get("/_windtunnel/ready")[0] == 200
    assert up.end() == 0


def test_the_banner(data: Path) -> None:
    """CT-12."""
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "up", "--port", "0", "--data", str(data), "--frozen"],
        env=CLEAN,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "Ctrl-C" in line:
            break
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    process.stdout.close()
    text = "".join(lines)
    for word in (
        "address    http://127.0.0.1:",
        str(data),
        "frozen",
        "profile fast",
        "auth       off",
        "telemetry  none",
    ):
        assert word in text, text
    assert "env --endpoint http://127.0.0.1:" in text
    assert "aws sagemaker list-clusters" in text


def execute(*command: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app.cli", "exec", "--", *command],
        env={**CLEAN, "AWS_PROFILE": "work", "WINDTUNNEL_DATA": "/nonexistent/data", **environ},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A directory for temporary ones that no other test looks into; open, for as root the server is another user."""
    with tempfile.TemporaryDirectory(prefix="wt-exec-") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


def test_exec_runs_a_command_against_a_service_of_its_own(temporary: Path) -> None:
    """CT-11, CT-13: the command's exit code; afterwards nothing runs or is left; data set for `up` is left alone."""
    script = (
        "import os, sys, urllib.request as r;"
        "print(r.urlopen(os.environ['WINDTUNNEL_ENDPOINT'] + '/_windtunnel/ready').status,"
        " os.environ['AWS_ENDPOINT_URL'], 'AWS_PROFILE' in os.environ);"
        "sys.exit(7)"
    )
    ran = execute(sys.executable, "-c", script, TMPDIR=str(temporary))
    assert ran.returncode == 7, ran.stderr
    status, endpoint, profile = ran.stdout.split()
    assert (status, profile) == ("200", "False")
    assert endpoint.startswith("http://127.0.0.1:")
    assert not list(temporary.glob("windtunnel-*"))


def test_exec_of_what_is_not_there() -> None:
    ran = execute("/nonexistent/command")
    assert ran.returncode == 1
    assert "cannot run /nonexistent/command" in ran.stderr
