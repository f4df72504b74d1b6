"""The gate in front of every surface: which hosts, origins, sizes and tokens are let through (CT-14).

A loopback address does not protect from a browser: a page of any site can post to it, and a name that its owner
points at 127.0.0.1 makes that page same-origin. So `Host` must be a name of ours, `Origin` our own, and bodies
are bounded and read before anything looks at them. Refusals are in the dialect of the surface asked.
It also takes the world off the front of the path: `/w/NAME/…` (CT-0).
"""

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any

from app.core.access import COOKIE, is_same, pass_of
from app.core.scope import DEFAULT_WORLD
from app.wire.dialects import SURFACE, Refusal, Surface, refuse, surface_of

AsgiScope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[AsgiScope, Receive, Send], Awaitable[None]]

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
MAX_BODY = 1024 * 1024
MAX_HEADERS = 16 * 1024
BODY_DEADLINE_S = 20.0
MAX_UPLOAD = 256 * 1024 * 1024
_IMPORT, _UPLOADS = "/_windtunnel/worlds/import", ("/upload/storage/", "/resumable/upload/storage/")
"""What reads a body of up to MAX_UPLOAD bytes as it comes, and counts it, as `app.wire.control.imports` does."""

_WORLD = re.compile(r"/w/([a-z0-9][a-z0-9-]{0,62})(?=/|$)")
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_WRITES = ("POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True, slots=True)
class SafetyRules:
    """What is let through. `allowed_hosts` are names without port, beyond the loopback ones; sizes in bytes."""

    allowed_hosts: tuple[str, ...] = ()
    control_token: str | None = None
    max_body: int = MAX_BODY
    max_headers: int = MAX_HEADERS


class Safety:
    """ASGI middleware around the whole application.

    Sets `scope["windtunnel.world"]` and `scope["windtunnel.surface"]`; the prefix goes to `root_path`, where ASGI keeps
    what routing must not see, and `raw_path` stays as received, since that is what a client signed.
    """

    def __init__(self, app: App, rules: SafetyRules) -> None:
        self._app = app
        self._rules = rules
        self._hosts = frozenset(name.lower() for name in (*LOOPBACK_NAMES, *rules.allowed_hosts))

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        headers = _Headers(scope["headers"])
        is_named = take_world(scope)
        surface = scope[SURFACE] = surface_of(scope, has_target=headers.one("x-amz-target") is not None)
        refusal = self._refusal(scope, headers, surface) if is_named else _NO_SUCH_WORLD
        if refusal is not None:
            return await refuse(send, surface, refusal, receive if headers.has_body else None)
        if not headers.has_body or is_upload(scope):
            return await self._app(scope, receive, send)
        try:
            async with asyncio.timeout(BODY_DEADLINE_S):
                body = await _whole_body(receive, self._rules.max_body)
        except TimeoutError:
            return await refuse(send, surface, _TOO_SLOW, receive)
        if body is None:
            return None  # the client is gone
        if len(body) > self._rules.max_body:
            return await refuse(send, surface, too_large(self._rules.max_body), receive)
        return await self._app(scope, _replay(body, receive), send)

    def _refusal(self, scope: AsgiScope, headers: "_Headers", surface: Surface) -> Refusal | None:
        return (
            self._too_much_header(headers)
            or self._foreign_host(headers, surface)
            or _foreign_origin(scope, headers, surface)
            or _homeless_form(scope, headers, surface)
            or self._no_token(scope, headers, surface)
            or self._unwelcome_body(scope, headers, surface)
        )

    def _too_much_header(self, headers: "_Headers") -> Refusal | None:
        if headers.size <= self._rules.max_headers:
            return None
        limit = self._rules.max_headers
        text = f"The headers are {headers.size} bytes; at most {limit} are read. Send fewer or shorter ones."
        return Refusal(431, "HeadersTooLarge", text)

    def _foreign_host(self, headers: "_Headers", surface: Surface) -> Refusal | None:
        hosts = headers.all("host")
        found = _AUTHORITY.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        if found is not None and found[1].strip("[]") in self._hosts:
            return None
        status = 403 if surface in (Surface.CONTROL, Surface.CONSOLE) else 421
        return Refusal(
            status,
            "HostNotAllowed",
            "The Host header must be one name of this service: localhost, 127.0.0.1, [::1], or one listed in "
            "WINDTUNNEL_ALLOWED_HOSTS.",
        )

    def _no_token(self, scope: AsgiScope, headers: "_Headers", surface: Surface) -> Refusal | None:
        token = self._rules.control_token
        if token is None or surface not in (Surface.CONTROL, Surface.CONSOLE):
            return None
        if surface is Surface.CONSOLE and (_is_entrance(scope) or _has_pass(headers, token)):
            return None
        given = headers.one("x-windtunnel-token")
        if given is None:
            scheme, _, rest = (headers.one("authorization") or "").partition(" ")
            given = rest.strip() if scheme.lower() == "bearer" else None
        if given is None:
            return Refusal(401, "TokenRequired", "Send the control token as 'Authorization: Bearer TOKEN'.")
        if hmac.compare_digest(given.encode("latin-1", "replace"), token.encode("utf-8")):
            return None
        return Refusal(
            403,
            "TokenRefused",
            "The control token is not the one this service was started with. Send that of WINDTUNNEL_CONTROL_TOKEN.",
        )

    def _unwelcome_body(self, scope: AsgiScope, headers: "_Headers", surface: Surface) -> Refusal | None:
        if not headers.has_body:
            return None
        encoding = headers.one("content-encoding")
        if encoding is not None and encoding.strip().lower() != "identity":
            return Refusal(415, "UnsupportedMediaType", "Compressed bodies are not read; send it plain.")
        length = headers.one("content-length")
        most = MAX_UPLOAD if is_upload(scope) else self._rules.max_body
        if length is not None and (not length.isdecimal() or int(length[:20]) > most):
            return too_large(most)
        if surface is Surface.CONTROL and scope["method"] in _WRITES:
            media_type = (headers.one("content-type") or "").partition(";")[0].strip().lower()
            if media_type != "application/json":
                return Refusal(415, "UnsupportedMediaType", "Send the body as application/json.")
        return None


class _Headers:
    """The request's headers, names in lower case, values as latin-1."""

    __slots__ = ("_values", "has_body", "size")

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self.size = 0
        self._values: dict[str, list[str]] = {}
        for name, value in raw:
            self.size += len(name) + len(value) + 4
            self._values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        self.has_body = "transfer-encoding" in self._values or self.one("content-length") not in (None, "0")

    def all(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def one(self, name: str) -> str | None:
        values = self._values.get(name)
        return values[0] if values else None


def is_upload(scope: AsgiScope) -> bool:
    """True for a request whose body is read as it comes."""
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return scope["method"] in ("POST", "PUT") and (path == _IMPORT or path.startswith(_UPLOADS))


def too_large(most: int) -> Refusal:
    """For a body of more than `most` bytes."""
    return Refusal(413, "BodyTooLarge", f"The body is over {most} bytes. Send less at a time.")


def take_world(scope: AsgiScope) -> bool:
    """Note which world the path names; False when it has a world's place but no valid name in it."""
    path: str = scope["path"]
    scope["windtunnel.world"] = DEFAULT_WORLD
    if path != "/w" and not path.startswith("/w/"):
        return True
    found = _WORLD.match(path)
    if found is None:
        return False
    scope["windtunnel.world"] = found[1]
    scope["root_path"] = scope.get("root_path", "") + found[0]
    if found.end() == len(path):
        scope["path"] = path + "/"
    return True


def _foreign_origin(scope: AsgiScope, headers: _Headers, surface: Surface) -> Refusal | None:
    """Refuse what a browser sends on behalf of another site; a link that someone follows to the console is none."""
    own = headers.one("host") or ""
    foreign = next((origin for origin in headers.all("origin") if not _is_same_origin(origin, own)), None)
    if foreign is not None:
        return _of_foreign(f"of Origin '{_shown(foreign)}'", own)
    if headers.one("sec-fetch-site") not in ("cross-site", "same-site"):
        return None
    is_link = scope["method"] == "GET" and headers.one("sec-fetch-mode") == "navigate"
    is_page = surface is Surface.CONSOLE and headers.one("sec-fetch-dest") == "document"
    return None if is_link and is_page else _of_foreign("of another site (Sec-Fetch-Site)", own)


def _homeless_form(scope: AsgiScope, headers: _Headers, surface: Surface) -> Refusal | None:
    """A form of the console is posted by a page of its own, and every browser says so; what does not say is refused."""
    if surface is not Surface.CONSOLE or scope["method"] not in _WRITES:
        return None
    if headers.one("origin") is not None or headers.one("sec-fetch-site") == "same-origin":
        return None
    text = "A form must come from a page of the console. From elsewhere use the control API, /_windtunnel/…."
    return Refusal(403, "NoOrigin", text)


def _is_entrance(scope: AsgiScope) -> bool:
    """The login and the files that it looks good with."""
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return path.startswith("/console/-/")


def _has_pass(headers: _Headers, token: str) -> bool:
    """The browser has logged in."""
    for line in headers.all("cookie"):
        for pair in line.split(";"):
            name, _, value = pair.strip().partition("=")
            if name == COOKIE and is_same(value, pass_of(token)):
                return True
    return False


def _of_foreign(page: str, own: str) -> Refusal:
    return Refusal(
        403,
        "ForeignOrigin",
        f"Requests from a page {page} are refused, and no setting lets them in: any page could steer this service. "
        f"Only its own pages, at '{_shown(own)}', may send them; from elsewhere use a client that is no browser.",
    )


def _shown(header: str) -> str:
    return header[:100].encode("unicode_escape").decode("ascii")


def _is_same_origin(origin: str, host: str) -> bool:
    scheme, separator, authority = origin.lower().partition("://")
    if not separator or scheme not in _DEFAULT_PORTS:
        return False
    theirs, ours = _AUTHORITY.fullmatch(authority), _AUTHORITY.fullmatch(host.lower())
    if theirs is None or ours is None:
        return False
    default = _DEFAULT_PORTS[scheme]
    return (theirs[1], theirs[2] or default) == (ours[1], ours[2] or default)


async def _whole_body(receive: Receive, limit: int) -> bytes | None:
    """The body, read no further than just past `limit` bytes; None when the client went away."""
    parts: list[bytes] = []
    size = 0
    while size <= limit:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part = message.get("body", b"")
        size += len(part)
        parts.append(part)
        if not message.get("more_body", False):
            break
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the whole body at once, and then what the server says."""
    message: Message | None = {"type": "http.request", "body": body, "more_body": False}

    async def again() -> Message:
        nonlocal message
        if message is None:
            return await receive()
        first, message = message, None
        return first

    return again


_TOO_SLOW = Refusal(408, "BodyTooSlow", f"The body did not arrive within {BODY_DEADLINE_S:.0f} s. Send it again.")
_NO_SUCH_WORLD = Refusal(
    404,
    "NoSuchWorld",
    "After /w/ comes a world's name: up to 63 of a-z, 0-9 and '-', beginning with a letter or digit.",
)
