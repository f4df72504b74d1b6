"""Lines that the service and the replicas of a job write (VX-17)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.core.times import WorldTime

SERVICE = "service"
"""The task under which the service itself writes."""
INFO, WARNING, ERROR = "INFO", "WARNING", "ERROR"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a job's log; `task` is `service` or a replica's name."""

    at: WorldTime
    task: str
    severity: str
    text: str
    payload: Mapping[str, Any] | None = None
