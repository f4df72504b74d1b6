"""The last requests of this process, for people, and their counts, for Prometheus (CT-7). Holds no body, no key."""

import logging
from collections import deque
from dataclasses import dataclass
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram

from app.clock import random_token
from app.core.scope import Scope

SIZE = 500
_LONGEST = 200
_OTHER = "other"


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One answered request. `code` is the error's code or None; `ignored` are members that nobody knows; `faults` are
    the ids of the rules that struck it."""

    request_id: str
    api: str
    operation: str
    scope: Scope
    status: int
    code: str | None
    duration_ms: float
    ignored: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class RequestLog:
    """A ring of the newest records, and counters. Called once for each request, on the event loop."""

    def __init__(self, registry: CollectorRegistry, size: int = SIZE) -> None:
        self._log = logging.getLogger("windtunnel.request")
        self._ring: deque[RequestRecord] = deque(maxlen=size)
        names = ("api", "operation", "code")
        count = Counter("windtunnel_requests", "Requests answered.", names, registry=registry)
        time = Histogram(
            "windtunnel_request_seconds", "Wall time of requests.", ("api", "operation"), registry=registry
        )
        self._counted = cache(count.labels)
        self._timed = cache(time.labels)

    def __call__(self, record: RequestRecord) -> None:
        """Keep and count `record`. Its operation must be a name of ours or empty: labels live for ever."""
        self._ring.append(record)
        operation = record.operation or _OTHER
        self._counted(record.api, operation, record.code or "ok").inc()
        self._timed(record.api, operation).observe(record.duration_ms / 1000)
        if self._log.isEnabledFor(logging.DEBUG):
            self._log.debug("request", extra={"facts": _facts(record, operation)})

    def newest(self, count: int = SIZE) -> list[RequestRecord]:
        """The newest `count` records, newest first."""
        records = list(self._ring)[-count:]
        records.reverse()
        return records


def _facts(record: RequestRecord, operation: str) -> dict[str, object]:
    return {
        "request_id": record.request_id,
        "api": record.api,
        "operation": operation,
        "world": record.scope.world,
        "account": record.scope.account,
        "region": record.scope.region,
        "status": record.status,
        "code": record.code,
        "duration_ms": round(record.duration_ms, 3),
        "ignored": [one_line(member) for member in record.ignored],
        "faults": list(record.faults),
    }


def one_line(text: str) -> str:
    """`text` with everything but printable ASCII escaped, bounded: safe in a log line and in a header (RL-20)."""
    shown = text[:_LONGEST].encode("unicode_escape").decode("ascii")
    return shown if len(text) <= _LONGEST else shown + "..."


def new_request_id() -> str:
    """A version 4 UUID of the operating system's entropy."""
    digits = random_token(16)
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
