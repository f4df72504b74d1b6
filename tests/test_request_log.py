"""CT-7: the last requests and their counts."""

import logging

import pytest
from prometheus_client import CollectorRegistry

from app.core.scope import Scope
from app.request_log import RequestLog, RequestRecord, one_line


def record(number: int, code: str | None = None, ignored: tuple[str, ...] = ()) -> RequestRecord:
    return RequestRecord(str(number), "sagemaker", "ListClusters", Scope("main", "1", "r"), 200, code, 2.0, ignored)


def test_the_newest_are_kept() -> None:
    """CT-7: a bounded ring, newest first."""
    log = RequestLog(CollectorRegistry(), size=3)
    for number in range(5):
        log(record(number))
    assert [each.request_id for each in log.newest()] == ["4", "3", "2"]
    assert [each.request_id for each in log.newest(1)] == ["4"]


def test_requests_are_counted_by_operation_and_code() -> None:
    """CT-7: Prometheus."""
    registry = CollectorRegistry()
    log = RequestLog(registry)
    log(record(1))
    log(record(2, "ResourceNotFound"))
    labels = {"api": "sagemaker", "operation": "ListClusters"}
    assert registry.get_sample_value("windtunnel_requests_total", {**labels, "code": "ok"}) == 1
    assert registry.get_sample_value("windtunnel_requests_total", {**labels, "code": "ResourceNotFound"}) == 1
    assert registry.get_sample_value("windtunnel_request_seconds_count", labels) == 2


def test_a_record_is_one_line_of_log(caplog: pytest.LogCaptureFixture) -> None:
    """RL-20: control characters and the like are escaped."""
    with caplog.at_level(logging.DEBUG, "windtunnel.request"):
        RequestLog(CollectorRegistry())(record(1, ignored=("a\r\n\x1b[31m\u202e",)))
    (line,) = caplog.records
    assert line.__dict__["facts"]["ignored"] == [r"a\r\n\x1b[31m\u202e"]
    assert one_line("é" * 1000).isascii()
    assert len(one_line("x" * 1000)) == 203
