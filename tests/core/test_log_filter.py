"""What filters of Cloud Logging ask of entries (VX-17)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.core.errors import Invalid
from app.core.log_filter import Clocks, Needed, log_filter, needed
from app.core.log_lines import Line, Logged, entry
from app.core.projects import number_of
from app.core.times import WorldTime

NOON = WorldTime(datetime(2026, 1, 1, 12, tzinfo=UTC))
CLOCKS = Clocks(NOON, NOON)
PLAIN = Logged(number_of("p1"), "1000", 7, Line(NOON, "workerpool0-0", "WARNING", "Loss is 0.5 (Epoch 3)"))
PAYLOAD = {"message": "saved", "step": 12, "rate": 0.5, "done": True, "none": None, "files": ["a.bin", "b.bin"]}
JSON = Logged(
    number_of("p1"), "1001", 1, Line(NOON, "service", "ERROR", "saved", {**PAYLOAD, "deep": {"er": "x"}}), "77", "3"
)


def accepts(text: str, one: Logged = PLAIN, clocks: Clocks = CLOCKS) -> bool:
    return bool(log_filter(text, clocks).accepts((one, entry(one, "p1"))))


@pytest.mark.parametrize(
    "text",
    [
        "",
        'resource.type="ml_job"',
        'resource.type=ml_job resource.labels.job_id="1000"',
        'resource.labels.task_name="workerpool0-0" AND resource.labels.project_id="p1"',
        f"resource.labels.project_id={number_of('p1')}",
        'logName="projects/p1/logs/workerpool0-0"',
        f'log_name="projects/{number_of("p1")}/logs/workerpool0-0"',
        'logName:"workerpool0"',
        "severity=warning",
        "severity>=WARNING severity<ERROR",
        "severity>300 OR severity=400",
        "severity>=400",
        "SEVERITY:*",
        'textPayload:"loss IS"',
        'textPayload="loss is 0.5 (epoch 3)"',
        'text_payload!="other"',
        "NOT textPayload:other",
        "-textPayload:other",
        "epoch",
        '"workerpool0-0"',
        "textPayload:(nothing OR loss)",
        "(severity=ERROR OR severity=WARNING) AND textPayload:loss",
        'timestamp="2026-01-01T12:00:00Z"',
        'timestamp>="2026-01-01T12:00:00.000Z" timestamp<="2026-01-01T13:00:00+01:00"',
        'timestamp>"2026-01-01" timestamp<2026-01-02T00:00:00Z',
        'timestamp!="2026-01-01T12:00:01Z"',
        "timestamp:*",
        'receiveTimestamp<"2026-01-01T12:00:00.000001Z"',
        '((timestamp="2026-01-01T12:00:00Z" AND insertId>"1000-000000000006") OR timestamp>"2026-01-01T12:00:00Z")',
        "NOT labels:*",
        'NOT labels."ml.googleapis.com/trial_id"=3',
    ],
)
def test_it_accepts(text: str) -> None:
    assert accepts(text)
    assert not accepts(f"NOT ({text})") if text else True


@pytest.mark.parametrize(
    "text",
    [
        "resource.type=gce_instance",
        "resource.labels.job_id=1001",
        "resource.labels.project_id=p2",
        'logName="projects/p2/logs/workerpool0-0"',
        "severity>WARNING",
        "severity!=WARNING",
        "textPayload=loss",
        "textPayload:other",
        "jsonPayload.step=12",
        "jsonPayload.step!=12",  # nothing that is compared with a field that is not there holds
        "jsonPayload:*",
        'labels."ml.googleapis.com/trial_id"!=3',
        "protoPayload.status.code=7",
        "trace:*",
        'timestamp>"2026-01-01T12:00:00Z"',
        'timestamp<"2026-01-01T12:00:00Z"',
        'textPayload:"*"',
        'insertId>"1000-000000000007"',
        "NOT loss",
    ],
)
def test_it_does_not_accept(text: str) -> None:
    assert not accepts(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("jsonPayload.message=Saved", True),
        ("jsonPayload.step=12", True),
        ("jsonPayload.step>=12.5", False),
        ("jsonPayload.rate<1", True),
        ("jsonPayload.rate<many", False),
        ("jsonPayload.step:12", True),
        ("jsonPayload.done=TRUE", True),
        ("jsonPayload.done>false", False),
        ("jsonPayload.none=null", True),
        ("jsonPayload.files=b.bin", True),
        ("jsonPayload.files!=b.bin", False),
        ("jsonPayload.files:bin", True),
        ("jsonPayload.deep.er:*", True),
        ("jsonPayload.deep.el:*", False),
        ("jsonPayload.deep:x", True),
        ("jsonPayload.deep=x", False),
        ("jsonPayload:a.b", True),
        ("textPayload:*", False),
        ('labels."ml.googleapis.com/trial_id"=3', True),
        ("resource.labels.job_id=77", True),
        ("resource.labels.job_id=1001", True),
        ("resource.labels.job_id!=1001", False),
    ],
)
def test_payloads_and_trials(text: str, wanted: bool) -> None:
    """Each type of JSON; a trial's lines are found by the ids of both of its jobs."""
    assert accepts(text, JSON) is wanted


@pytest.mark.parametrize(
    ("text", "character", "said"),
    [
        ("severity=LOUD", 1, "no severity"),
        ("severity>=ERROR job_id=5", 17, "'job_id' is no field of an entry"),
        ('textPayload=~"a.*b"', 1, "regular expressions"),
        ("timestamp>yesterday", 1, "no instant"),
        ('log_id("workerpool0-0")', 1, "a function"),
        ("severity>=cast(x)", 11, "a function"),
        ("severity=ERROR -- a comment", 16, "comments"),
        ("(severity=ERROR", 16, "closing parenthesis"),
        ("severity=", 10, "where a value"),
    ],
)
def test_what_cannot_be_read_names_its_place(text: str, character: int, said: str) -> None:
    with pytest.raises(Invalid, match=rf"At character {character}: .*{said}"):
        accepts(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", Needed()),
        ('resource.type=ml_job resource.labels.job_id="5"', Needed("5")),
        ("resource.labels.job_id=5 OR severity=ERROR", Needed()),
        ("NOT resource.labels.job_id=5", Needed()),
        ("resource.labels.job_id!=5", Needed()),
        ("(resource.labels.job_id=5)", Needed("5")),
        (
            "timestamp>=2026-01-01 timestamp<2026-01-02",
            Needed(None, NOON - timedelta(hours=12), NOON + timedelta(hours=12)),
        ),
        ("timestamp=2026-01-01", Needed(None, NOON - timedelta(hours=12), NOON - timedelta(hours=12))),
    ],
)
def test_what_is_needed_by_all(text: str, wanted: Needed) -> None:
    assert needed(log_filter(text, CLOCKS), CLOCKS) == wanted


def bound(operator: str, instant: datetime) -> str:
    return f'timestamp{operator}"{instant.isoformat()}"'


@pytest.mark.parametrize("years", [-5, 5])
def test_clients_reckon_by_another_clock(years: int) -> None:
    """gcloud's "until now" and google-cloud-logging's "since a day ago" are read by the world's clock; nothing else."""
    wall = NOON + timedelta(days=365 * years)
    clocks = Clocks(NOON, wall)
    assert accepts(bound("<", wall - timedelta(seconds=5)), clocks=clocks)
    assert accepts(bound(">=", wall - timedelta(days=1, seconds=1)), clocks=clocks)
    old = Logged(PLAIN.account, "1000", 1, Line(WorldTime(NOON - timedelta(days=2)), "service", "INFO", "old"))
    assert not accepts(bound(">=", wall - timedelta(days=1)), old, clocks)
    assert accepts(bound(">=", wall), clocks=clocks) is (years < 0)
    assert accepts(bound("<", wall - timedelta(hours=1)), clocks=clocks) is (years > 0)
    same = Clocks(NOON, NOON + timedelta(seconds=30))
    assert not accepts(bound("<", NOON), clocks=same)


def test_a_deep_payload_is_walked() -> None:
    value: Any = "needle"
    for _ in range(100):
        value = {"in": [value]}
    one = Logged("1", "1", 1, Line(NOON, "service", "INFO", "", {"top": value}))
    assert accepts("needle", one)
