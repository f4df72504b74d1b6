"""Lines of jobs' logs: what programs write, and what is told of it (VX-17)."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from app.core.log_lines import LONGEST_TEXT, SERVICE, Line, Logged, cut, entry, from_output
from app.core.times import WorldTime

AT = WorldTime(datetime(2026, 1, 1, 12, 0, 0, 250_000, tzinfo=UTC))


@pytest.mark.parametrize(
    ("raw", "severity", "text", "payload"),
    [
        ("loss 0.5", "INFO", "loss 0.5", None),
        ("", "INFO", "", None),
        ('{"message": "saved", "severity": "warning", "step": 3}', "WARNING", "saved", {"message": "saved", "step": 3}),
        ('{"severity": "loud"}', "INFO", '{"severity": "loud"}', {"severity": "loud"}),
        ('{"severity": 3}', "INFO", '{"severity": 3}', {"severity": 3}),
        ("{not json}", "INFO", "{not json}", None),
        ("[1, 2]", "INFO", "[1, 2]", None),
        (r'{"a": "\u0000"}', "INFO", r'{"a": "\u0000"}', None),
        ('{"a": 123456789012345678901}', "INFO", '{"a": 123456789012345678901}', {"a": 123456789012345678901.0}),
        (r'{"a": "\ud83d"}', "INFO", r'{"a": "\ud83d"}', None),
        ("nul\x00 and half \ud83d", "INFO", "nul and half ?", None),
    ],
)
def test_what_a_program_writes(raw: str, severity: str, text: str, payload: Any) -> None:
    """A line of JSON is a payload, which names its severity; what Postgres cannot keep is none."""
    assert from_output(AT, "workerpool0-0", raw) == Line(AT, "workerpool0-0", severity, text, payload)


@pytest.mark.parametrize(
    "raw", ['{"a": ' * 200 + "1" + "}" * 200, '{"a":' * 3000 + "1", '{"a": "' + "x" * LONGEST_TEXT + '"}']
)
def test_what_is_too_deep_or_too_long_is_text(raw: str) -> None:
    line = from_output(AT, "workerpool0-0", raw, "ERROR")
    assert (line.payload, line.severity, line.text) == (None, "ERROR", cut(raw))
    assert len(line.text) <= LONGEST_TEXT


def test_an_entry() -> None:
    """A replica's log is called after it, the service's after the job."""
    one = Logged("123456789012", "55", 12, Line(AT, "workerpool1-0", "INFO", "hello"))
    assert entry(one, "p1") == {
        "logName": "projects/p1/logs/workerpool1-0",
        "resource": {
            "type": "ml_job",
            "labels": {"job_id": "55", "project_id": "p1", "task_name": "workerpool1-0"},
        },
        "timestamp": "2026-01-01T12:00:00.250000Z",
        "receiveTimestamp": "2026-01-01T12:00:00.250000Z",
        "severity": "INFO",
        "insertId": "55-000000000012",
        "textPayload": "hello",
    }


def test_the_entry_of_a_trial() -> None:
    """It is told of its tuning job, with the number of the trial; a payload stands in the text's place."""
    told = entry(Logged("1", "55", 1, Line(AT, SERVICE, "INFO", "x", {"message": "x"}), "77", "3"), "p1")
    assert told["logName"] == "projects/p1/logs/ml.googleapis.com%2F77"
    assert told["resource"]["labels"]["job_id"] == "77"
    assert told["labels"] == {"ml.googleapis.com/trial_id": "3"}
    assert told["jsonPayload"] == {"message": "x"}
    assert "textPayload" not in told
    json.dumps(told)
