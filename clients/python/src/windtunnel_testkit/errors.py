"""What can go wrong, each with the service's own text."""

from __future__ import annotations


class Refused(Exception):
    """The service said no: `status` of HTTP, `code`, and `message`, which says why and what to do."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{message} ({code}, {status})")
        self.status, self.code, self.message = status, code, message


class Unreachable(Exception):
    """Nobody answers at the address, or somebody who is no Windtunnel."""


class NotStarted(Exception):
    """The service cannot be started; the text has what it printed."""


class NotSettled(Exception):
    """An advance stopped before all that was due had happened; the text has the reason."""


class StillWaiting(TimeoutError):
    """A condition did not hold within its limit of the world's time; the text tells what waits, and why."""
