"""A running service, connected to or started for the tests."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from windtunnel_testkit import running, times
from windtunnel_testkit.control import Address
from windtunnel_testkit.errors import Refused, Unreachable
from windtunnel_testkit.running import Shared
from windtunnel_testkit.times import Instant
from windtunnel_testkit.world import World

ENDPOINT, TOKEN = "WINDTUNNEL_ENDPOINT", "WINDTUNNEL_CONTROL_TOKEN"
START = "2026-01-01T00:00:00Z"
"""When worlds begin unless told otherwise: the same instant each time, so that each run is the same."""
SEED = 1
PROFILE = "fast"
LOOK_SECONDS = 10.0


class Service:
    """A service that answers. As a context manager it is ended at the end of the block, if it was started here."""

    def __init__(self, endpoint: str, shared: Shared | None = None) -> None:
        self.endpoint = re.sub(r"/w/[^/]*/?$", "", endpoint.rstrip("/"))
        self.address = Address(self.endpoint, os.environ.get(TOKEN))
        self._shared = shared

    @classmethod
    def open(cls, endpoint: str | None = None, **start: Any) -> Service:
        """The service at `endpoint`, else at WINDTUNNEL_ENDPOINT, else one of its own, which `start` describes."""
        told = endpoint or os.environ.get(ENDPOINT)
        return cls.connect(told) if told else cls.start(**start)

    @classmethod
    def connect(cls, endpoint: str) -> Service:
        """The service that runs there. Raises Unreachable, with what to do."""
        found = cls(endpoint)
        try:
            found.address.control("GET", "health", wall=LOOK_SECONDS)
        except (Refused, Unreachable) as error:
            raise Unreachable(
                f"{error}. Start it with `windtunnel up`, or unset {ENDPOINT} to let tests start one."
            ) from None
        return found

    @classmethod
    def start(cls, *, command: str | None = None, options: Sequence[str] = (), shared: Shared | None = None) -> Service:
        """A service of its own: a free port, a database that is removed at the end.

        `command` is how `windtunnel` is run here, else WINDTUNNEL_COMMAND, else from PATH; `options` are of
        `windtunnel exec`. It ends with `stop`, or when the processes that use it have ended, even if they were killed.
        Raises NotStarted.
        """
        run = running.command(command)
        folder = shared or Shared()
        try:
            return cls(folder.endpoint(run, options), folder)
        except BaseException:
            if shared is None:
                folder.release()
            raise

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the service if it was started here and nobody else uses it."""
        if self._shared is not None:
            self._shared.release()

    def output(self) -> str:
        """The end of what a service that was started here has printed."""
        return self._shared.output() if self._shared else ""

    def status(self) -> dict[str, Any]:
        """Address, database, clocks, processes and versions."""
        found: dict[str, Any] = self.address.control("GET", "status")
        return found

    def worlds(self) -> list[World]:
        """Every world there is."""
        return [World(self.address, each["name"]) for each in self.address.control("GET", "worlds")["worlds"]]

    def world(
        self,
        name: str | None = None,
        *,
        seed: int = SEED,
        start: Instant = START,
        profile: str = PROFILE,
        frozen: bool = True,
        rate: float | None = None,
    ) -> World:
        """A new world: empty, at `start`, with a clock of its own that stands still. The caller drops it.

        `profile` says how long things take: instant, fast, realistic. Raises Refused if there is one of that name.
        """
        chosen = name or f"test-{os.urandom(6).hex()}"
        body = {"name": chosen, "seed": seed, "start": times.written(start), "profile": profile, "frozen": frozen}
        self.address.control("POST", "worlds", body if rate is None else {**body, "rate": rate})
        return World(self.address, chosen)
