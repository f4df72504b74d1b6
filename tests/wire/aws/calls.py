"""The endpoint called in-process, as a server would call it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from app.request_log import RequestRecord
from app.wire.aws.protocol import AwsEndpoint
from app.wire.aws.registry import AwsService
from app.wire.aws.signature import Trusting

JSON_1_1 = "application/x-amz-json-1.1"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@dataclass
class Reply:
    """What came back."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json["__type"])

    @property
    def message(self) -> str:
        return str(self.json["message"])

    def assert_is_aws(self) -> None:
        """In dialect: content type, a request id, and for an error its code in body and header."""
        assert self.headers["content-type"] == JSON_1_1
        assert UUID.fullmatch(self.headers["x-amzn-requestid"])
        assert int(self.headers["content-length"]) == len(self.body)
        if self.status >= 400:
            assert self.code == self.headers["x-amzn-errortype"]
            assert self.message
            assert b"Traceback" not in self.body


async def ask(application: Any, scope: dict[str, Any], chunks: Sequence[bytes]) -> Reply:
    """One HTTP request to an ASGI application."""
    waiting = list(chunks) or [b""]
    reply = Reply()

    async def receive() -> dict[str, Any]:
        if not waiting:
            return {"type": "http.disconnect"}
        body = waiting.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(waiting)}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            reply.status = message["status"]
            reply.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            reply.body += message["body"]

    await application(scope, receive, send)
    return reply


def http(method: str = "POST", path: str = "/", *headers: tuple[str, str], query: str = "") -> dict[str, Any]:
    """An ASGI scope."""
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("utf-8", "surrogateescape")) for name, value in headers],
    }


@dataclass
class Wire:
    """An endpoint over some services, and what it logged."""

    services: list[AwsService]
    authentication: Any = field(default_factory=Trusting)
    service: Any = None
    deadline_s: float = 10.0
    records: list[RequestRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.endpoint = AwsEndpoint(
            self.services,
            service=self.service,
            authentication=self.authentication,
            on_request=self.records.append,
            deadline_s=self.deadline_s,
        )

    async def call(self, operation: str, body: Any, *headers: tuple[str, str], prefix: str = "SageMaker") -> Reply:
        """Call an operation with a value, or with raw bytes."""
        raw = body if isinstance(body, bytes) else orjson.dumps(body)
        named = (("content-type", JSON_1_1), ("x-amz-target", f"{prefix}.{operation}"), *headers)
        return await ask(self.endpoint, http("POST", "/", *named), [raw])
