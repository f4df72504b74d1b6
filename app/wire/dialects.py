"""Which surface a request is for, and how each says no. For refusals that happen before any surface is reached."""

import asyncio
import html
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import orjson

from app.request_log import new_request_id
from app.wire.aws.errors import AwsError, refusal
from app.wire.google.errors import GoogleError, code_of_http, envelope
from app.wire.google.storage_dialect import body as storage_body

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

SURFACE = "windtunnel.surface"
"""Where an ASGI scope keeps the surface that it is for, once `app.wire.safety` has let it in."""
LINGER_S = 1.0
LINGER_BYTES = 16 * 1024 * 1024


class Surface(Enum):
    """What is served on the one port."""

    AWS = "aws"
    GOOGLE = "google"
    STORAGE = "storage"
    CONTROL = "control"
    CONSOLE = "console"


@dataclass(frozen=True, slots=True)
class Refusal:
    """No, and why."""

    status: int
    code: str
    message: str


_PREFIXES = (
    ("/_windtunnel", Surface.CONTROL),
    ("/console", Surface.CONSOLE),
    ("/v1", Surface.GOOGLE),
    ("/v1beta1", Surface.GOOGLE),
    ("/v2", Surface.GOOGLE),
    ("/ui", Surface.GOOGLE),
    ("/storage", Surface.STORAGE),
    ("/upload/storage", Surface.STORAGE),
    ("/resumable/upload/storage", Surface.STORAGE),
    ("/download/storage", Surface.STORAGE),
    ("/batch/storage", Surface.STORAGE),
)
PAGE_HEADERS = (
    (b"content-type", b"text/html; charset=utf-8"),
    (b"content-security-policy", b"default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""RL-27: a refusal is a page as well."""
_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{code} · Windtunnel</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<link rel="stylesheet" href="/console/-/static/-/console.css"></head>'
    '<body class="bare"><main><h1>{code}</h1><p>{message}</p>{ask}</main></body></html>'
)
_ASK = '<p><a class="button" href="/console/-/login">Log in with the control token</a></p>'
_AWS_CODES = {
    401: "MissingAuthenticationTokenException",
    403: "AccessDeniedException",
    413: "RequestEntityTooLargeException",
}


def surface_of(scope: Mapping[str, Any], *, has_target: bool) -> Surface:
    """The surface of a request by its path inside the world; AWS clients may use any path of no other's."""
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    if path in ("", "/"):
        return Surface.AWS
    for prefix, surface in _PREFIXES:
        if path == prefix or path.startswith(prefix + "/"):
            return surface
    return Surface.AWS if has_target else Surface.CONTROL


async def refuse(send: Send, surface: Surface, no: Refusal, unread: Receive | None = None) -> None:
    """Answer `no` in the surface's dialect, with a request id.

    `unread` is where the rest of a refused body comes from; the connection then ends. It is read on for a moment
    after the answer is out, since closing on a client that still sends would take the answer from it.
    """
    request_id = new_request_id()
    close = ((b"connection", b"close"),) if unread else ()
    if surface is Surface.AWS:
        answer = refusal(AwsError(_AWS_CODES.get(no.status, no.code), no.message, no.status), *close)
        headers, body = answer.all_headers(request_id), answer.body
    else:
        body = _BODIES.get(surface, _ours)(no)
        headers = [
            *(PAGE_HEADERS if surface is Surface.CONSOLE else ((b"content-type", b"application/json"),)),
            (b"content-length", str(len(body)).encode()),
            (b"x-request-id", request_id.encode()),
            *close,
        ]
    if no.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": no.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": unread is not None})
    if unread is not None:
        await _linger(unread)
        await send({"type": "http.response.body", "body": b""})


async def _linger(unread: Receive) -> None:
    """Let the client finish sending, within bounds."""
    left = LINGER_BYTES
    try:
        async with asyncio.timeout(LINGER_S):
            while left > 0:
                message = await unread()
                left -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        return


def _google(no: Refusal) -> bytes:
    return envelope(GoogleError(code_of_http(no.status), no.message, http=no.status))


def _storage(no: Refusal) -> bytes:
    return storage_body(no.status, no.message)


def _ours(no: Refusal) -> bytes:
    return orjson.dumps({"error": {"code": no.code, "message": no.message}})


def _page(no: Refusal) -> bytes:
    """A page of its own; who lacks the token is asked for it."""
    ask = _ASK if no.status == 401 else ""
    return _PAGE.format(code=html.escape(no.code), message=html.escape(no.message), ask=ask).encode()


_BODIES = {Surface.GOOGLE: _google, Surface.STORAGE: _storage, Surface.CONSOLE: _page}
