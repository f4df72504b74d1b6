"""Lines that the service and the replicas of a job write (VX-17)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.core.times import WorldTime

SERVICE = "service"
"""The task under which the service itself writes."""
INFO, WARNING, ERROR = "INFO", "WARNING", "ERROR"
SEVERITIES: Mapping[str, int] = {
    "DEFAULT": 0,
    "DEBUG": 100,
    INFO: 200,
    "NOTICE": 300,
    WARNING: 400,
    ERROR: 500,
    "CRITICAL": 600,
    "ALERT": 700,
    "EMERGENCY": 800,
}
"""Names and numbers of google/logging/type/log_severity.proto."""
LONGEST_TEXT = 16 * 1024
"""Characters of a line; what is longer is cut (chosen; the real service takes entries of 256 KB)."""
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a job's log; `task` is `service` or a replica's name."""

    at: WorldTime
    task: str
    severity: str
    text: str
    payload: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Logged:
    """A line with its place in its job's log, and whose it is; a trial belongs to a tuning job too."""

    account: str
    job_id: str
    seq: int
    line: Line
    tuning_id: str | None = None
    trial_id: str | None = None

    @property
    def place(self) -> "Place":
        return Place(self.line.at, self.job_id, self.seq)


class Place(NamedTuple):
    """Where a line stands among those of all jobs."""

    at: WorldTime
    job_id: str
    seq: int


def cut(text: str) -> str:
    """The text as it can be kept: within bounds, and without NUL and halves of characters."""
    text = text.replace("\x00", "").encode("utf-8", "replace").decode()
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def from_output(at: WorldTime, task: str, raw: str, severity: str = INFO) -> Line:
    """What a real program wrote in one line: an object of JSON is a payload, which may name its own severity."""
    payload = _object(raw)
    if payload is None:
        return Line(at, task, severity, cut(raw))
    named = str(payload.get("severity", "")).upper()
    if named in SEVERITIES:
        severity = named
        del payload["severity"]
    return Line(at, task, severity, cut(str(payload.get("message", raw))), payload)


def _object(raw: str) -> dict[str, Any] | None:
    """The object that the text is, if Postgres can keep it."""
    if not raw.lstrip().startswith("{") or len(raw) > LONGEST_TEXT or "\\u0000" in raw or "\x00" in raw:
        return None
    try:
        value = json.loads(raw, parse_int=_whole)
        json.dumps(value, ensure_ascii=False).encode()  # no half of a character
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not _is_deeper(value, _DEEPEST) else None


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < 19 else float(digits)


def _is_deeper(value: Any, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels < 0 or any(_is_deeper(each, levels - 1) for each in inner)


def entry(one: Logged, project: str) -> dict[str, Any]:
    """The line as a LogEntry in canonical JSON. `project` is what the project is called, by id or number.

    Trials' lines are told of their tuning job, by whose id gcloud looks for them.
    """
    line, job_id = one.line, one.tuning_id or one.job_id
    log = f"ml.googleapis.com%2F{job_id}" if line.task == SERVICE else line.task
    time = line.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    told: dict[str, Any] = {
        "logName": f"projects/{project}/logs/{log}",
        "resource": {
            "type": "ml_job",
            "labels": {"job_id": job_id, "project_id": project, "task_name": line.task},
        },
        "timestamp": time,
        "receiveTimestamp": time,
        "severity": line.severity,
        "insertId": f"{one.job_id}-{one.seq:012}",  # in the order of the lines, by which gcloud goes on
    }
    if one.trial_id is not None:
        told["labels"] = {"ml.googleapis.com/trial_id": one.trial_id}
    if line.payload is None:
        return told | {"textPayload": line.text}
    return told | {"jsonPayload": line.payload}
