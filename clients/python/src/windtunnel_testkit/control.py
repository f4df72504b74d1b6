"""The control API over HTTP, with nothing but the standard library."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from windtunnel_testkit.errors import Refused, Unreachable

WALL = 600.0
"""Seconds of the wall that an answer may take: an advance answers when all of it has happened."""
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy for a service on this machine


class Address:
    """Where a service is, or one of its worlds, and the token of its control API if it has one."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url, self._token = url.rstrip("/"), token

    def world(self, name: str) -> Address:
        """The same service in the world of that name."""
        return Address(f"{self.url}/w/{quote(name, safe='')}", self._token)

    def control(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        wall: float = WALL,
    ) -> Any:
        """The JSON answer of `/_windtunnel/PATH`. What is None in `query` is left out. Raises Refused, Unreachable."""
        given = {name: _written(value) for name, value in (query or {}).items() if value is not None}
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        return self.send(
            method, f"/_windtunnel/{path}" + (f"?{urlencode(given)}" if given else ""), body, headers, wall
        )

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        wall: float = WALL,
    ) -> Any:
        """The JSON answer to any request; a body is sent as JSON. Raises Refused, Unreachable."""
        content = None if body is None else json.dumps(body).encode()
        told = {"Content-Type": "application/json", **(headers or {})}
        request = urllib.request.Request(self.url + path, data=content, headers=told, method=method)
        try:
            with _direct.open(request, timeout=wall) as answer:
                return _content(answer.read(), self.url)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error.code, error.read()) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise Unreachable(f"no answer from {self.url}: {reason}") from None


def segment(text: str) -> str:
    """`text` as one part of a path."""
    return quote(text, safe="")


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _content(answer: bytes, url: str) -> Any:
    try:
        return json.loads(answer) if answer else None
    except ValueError:
        raise Unreachable(f"{url} did not answer with JSON: is it a Windtunnel?") from None


def _refusal(status: int, answer: bytes) -> Refused:
    """Of our own shape, Google's or AWS's; whatever else answers is quoted."""
    try:
        told = json.loads(answer)
        error = told.get("error", told)
        code = error.get("status") or error.get("code") or error.get("__type") or "Refused"
        return Refused(status, str(code), str(error.get("message") or error.get("Message") or ""))
    except (ValueError, AttributeError):
        return Refused(status, "Refused", answer[:200].decode(errors="replace"))
