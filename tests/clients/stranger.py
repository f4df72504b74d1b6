"""Somebody who uses the test kit: an environment with pytest, boto3 and moto, and of ours the kit's wheel alone."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.clients.drivers import INSTALLED, PATIENCE, ROOT

PYTHON = INSTALLED / "stranger" / "bin" / "python"
KIT = ROOT / "clients" / "python"


def build(folder: Path) -> Path:
    """The kit's wheel, built as `make build` does."""
    words = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, KIT]
    subprocess.run(words, check=True, capture_output=True, timeout=PATIENCE)
    (wheel,) = folder.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Stranger:
    """A folder to work in, with the kit beside it and a `windtunnel` that notes each start."""

    home: Path
    packages: Path
    endpoint: str | None = None

    @property
    def started(self) -> list[int]:
        """The process of each service that was started."""
        notes = self.home / "started"
        return [int(line) for line in notes.read_text().split()] if notes.exists() else []

    @property
    def left(self) -> list[str]:
        """What lies about where temporary files are: run folders, data."""
        return sorted(path.name for path in self.temporary.glob("windtunnel-*"))

    @property
    def temporary(self) -> Path:
        return self.home / "tmp"

    def prepare(self) -> "Stranger":
        """Make the folders and the command."""
        self.temporary.mkdir()
        self.temporary.chmod(0o755)
        script = self.home / "windtunnel"
        script.write_text(
            f'#!/bin/sh\necho $$ >>"{self.home}/started"\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m app.cli "$@"\n'
        )
        script.chmod(0o755)
        return self

    def write(self, name: str, text: str) -> Path:
        path = self.home / name
        path.write_text(text)
        return path

    def environment(self) -> dict[str, str]:
        ours = ("WINDTUNNEL_", "AWS_", "PYTHON", "PYTEST_", "COV_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        told = {"WINDTUNNEL_ENDPOINT": self.endpoint} if self.endpoint else {}
        return (
            kept
            | told
            | {
                "PATH": f"{self.home}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(self.packages),
                "PYTHONDONTWRITEBYTECODE": "1",
                "TMPDIR": str(self.temporary),
                "HOME": str(self.home),
            }
        )

    def begin(self, *arguments: str) -> "subprocess.Popen[str]":
        """pytest with warnings as errors, going on."""
        return subprocess.Popen(
            [PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", *arguments],
            cwd=self.home,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def test(self, *arguments: str) -> tuple[int, str]:
        """Exit code and output of pytest."""
        with self.begin(*arguments) as running:
            printed, _ = running.communicate(timeout=4 * PATIENCE)
        return running.returncode, printed


def wait_for_the_end(pid: int) -> None:
    """Return when there is no such process. Raises psutil.TimeoutExpired."""
    try:
        psutil.Process(pid).wait(PATIENCE)
    except psutil.NoSuchProcess:
        return
