"""What one run of pytest has: its options, and its service, which all workers of pytest-xdist share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from windtunnel_testkit.running import Shared
from windtunnel_testkit.service import ENDPOINT, Service

SHARED = "windtunnel_folder"
"""Under this name a worker of pytest-xdist is told the folder."""


class Run:
    """The service of a run, found or started when the first test asks for it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        told = getattr(config, "workerinput", {}).get(SHARED)
        self._folder = Path(told) if told else None
        self._shared: Shared | None = None
        self._service: Service | None = None

    def shared(self) -> Shared:
        """The folder of the run's own service; this process counts as a user from here on."""
        if self._shared is None:
            self._shared = Shared(self._folder)
            self._shared.hold()
        return self._shared

    def service(self) -> Service:
        """Raises NotStarted, Unreachable."""
        if self._service is None:
            endpoint = option(self._config, "endpoint") or os.environ.get(ENDPOINT)
            if endpoint:
                self._service = Service.connect(endpoint)
            else:
                self._service = Service.start(command=option(self._config, "command"), shared=self.shared())
        return self._service

    def random_seed(self) -> int:
        """Another one each time; the report of a failed test tells it."""
        return int.from_bytes(os.urandom(4), "big")

    def stays(self) -> str | None:
        """With --windtunnel-keep, where the run's own service is, and how to end it."""
        if self._shared is None or not self._config.getoption("--windtunnel-keep"):
            return None
        endpoint, process = self._shared.address, self._shared.process
        told = f"windtunnel stays up at {endpoint} with the worlds of this run; end it with: kill {process}"
        return told if endpoint and process else None

    def close(self) -> None:
        """End the run's own service, when this is not a worker and it shall not stay."""
        if self._shared is not None:
            if self._config.getoption("--windtunnel-keep"):
                self._shared.stay()
            self._shared.release()


RUN = pytest.StashKey[Run]()


def option(config: pytest.Config, name: str) -> str | None:
    """What the command line says, else the configuration file."""
    value = config.getoption(f"--windtunnel-{name}") or config.getini(f"windtunnel_{name}")
    return str(value) if value else None
