"""CT-14: what the gate lets through, on each surface, and how it refuses the rest."""

import asyncio
import gzip
import socket
from typing import Any

import orjson
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from app.wire.dialects import LINGER_BYTES
from app.wire.safety import MAX_BODY, Safety, SafetyRules
from tests.wire.aws.calls import JSON_1_1, UUID, Reply, ask, http

PATHS = {
    "aws": "/",
    "google": "/v1/projects/p",
    "storage": "/storage/v1/b",
    "control": "/_windtunnel/clock",
    "console": "/console",
}
TARGET = ("x-amz-target", "SageMaker.ListClusters")
LOCAL = ("host", "localhost:4600")
OWN = ("origin", "http://localhost:4600")


class Echo:
    """An application that says what it was given."""

    def __init__(self) -> None:
        self.scopes: list[dict[str, Any]] = []
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        message = await receive()
        self.bodies.append(message.get("body", b""))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


async def through(
    scope: dict[str, Any], chunks: list[bytes] | None = None, rules: SafetyRules | None = None
) -> tuple[Reply, Echo]:
    """One request through the gate."""
    echo = Echo()
    reply = await ask(Safety(echo, rules or SafetyRules()), scope, chunks or [])
    return reply, echo


def assert_refused(reply: Reply, echo: Echo, surface: str, status: int) -> None:
    """Refused with this status, in the surface's dialect, and nothing behind the gate saw it."""
    assert (reply.status, echo.scopes) == (status, [])
    assert not any(name.startswith("access-control") for name in reply.headers)
    body = None if surface == "console" else orjson.loads(reply.body)
    if surface == "aws":
        reply.assert_is_aws()
    elif surface == "console":
        assert reply.headers["content-type"] == "text/html; charset=utf-8"
        assert reply.headers["x-frame-options"] == "DENY"
    elif surface == "google":
        assert body["error"]["code"] == status
        assert body["error"]["status"].isupper()
    elif surface == "storage":
        assert body["error"]["code"] == status
        assert body["error"]["errors"][0]["domain"] == "global"
    else:
        assert set(body["error"]) == {"code", "message"}
    if surface != "aws":
        assert UUID.fullmatch(reply.headers["x-request-id"])


@pytest.mark.parametrize("surface", PATHS)
@pytest.mark.parametrize(
    "hosts",
    [
        ["evil.com"], ["evil.com:4600"], ["localhost.evil.com"], ["[::1].evil"], ["[::1].evil:4600"], [""], [],
        ["localhost", "localhost"], ["localhost", "evil.com"], ["localhost@evil.com"], ["localhost:4600:80"],
        ["localhost."], ["127.0.0.1.nip.io"], ["127.1"], ["2130706433"], ["0.0.0.0"], ["[::ffff:127.0.0.1]"],
        [" localhost"], ["localhost:x"], ["localhost/"], ["::1"],
    ],
)  # fmt: skip
async def test_foreign_hosts_are_refused(surface: str, hosts: list[str]) -> None:
    """RL-24: 403 on console and control, 421 on the SDKs' surfaces."""
    scope = http("POST", PATHS[surface], TARGET, *(("host", host) for host in hosts))
    status = 403 if surface in ("control", "console") else 421
    assert_refused(*await through(scope), surface, status)


@pytest.mark.parametrize("host", ["localhost", "LocalHost:1", "127.0.0.1:4600", "[::1]:4600", "[::1]", "windtunnel"])
async def test_our_hosts_are_let_through(host: str) -> None:
    """RL-24: loopback names, and those configured, as a compose name."""
    reply, _ = await through(http("GET", "/console", ("host", host)), rules=SafetyRules(("windtunnel",)))
    assert reply.status == 200


FOREIGN = [
    (("origin", "https://evil.com"),),
    (("origin", "null"),),
    (("origin", ""),),
    (("origin", "http://localhost:3000"),),
    (("origin", "https://localhost:4600.evil.com"),),
    (("origin", "file://localhost:4600"),),
    (("origin", "http://localhost:4600"), ("origin", "https://evil.com")),
    (("sec-fetch-site", "cross-site"),),
    (("sec-fetch-site", "same-site"),),
    (("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")),
]


@pytest.mark.parametrize("surface", PATHS)
@pytest.mark.parametrize(
    "content_type", ["application/json", "text/plain", "application/x-www-form-urlencoded", JSON_1_1]
)
@pytest.mark.parametrize("headers", FOREIGN)
async def test_posts_of_other_sites_are_refused(surface: str, content_type: str, headers: Any) -> None:
    """RL-25: on every surface, whatever the content type; with the page's Origin and whose are let in."""
    scope = http(
        "POST", PATHS[surface], LOCAL, TARGET, ("content-type", content_type), ("content-length", "2"), *headers
    )
    reply, echo = await through(scope, [b"{}"])
    assert_refused(reply, echo, surface, 403)
    named = next((value for name, value in reversed(headers) if name == "origin"), "Sec-Fetch-Site")
    assert all(told.encode() in reply.body for told in (named, LOCAL[1]))
    assert reply.headers["connection"] == "close"


@pytest.mark.parametrize("headers", [(), (("origin", "http://localhost:4600"), ("sec-fetch-site", "same-origin")),
                                     (("sec-fetch-site", "none"),)])  # fmt: skip
async def test_our_own_pages_and_plain_clients_are_let_through(headers: Any) -> None:
    """RL-25: same origin, or no browser at all."""
    scope = http("POST", PATHS["control"], LOCAL, ("content-type", "application/json; charset=utf-8"),
                 ("content-length", "2"), *headers)  # fmt: skip
    reply, echo = await through(scope, [b"{}"])
    assert (reply.status, echo.bodies) == (200, [b"{}"])


async def test_a_link_to_the_console_may_be_followed() -> None:
    """RL-25: a navigation changes nothing; a fetch of the same page is refused."""
    link = (("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"))
    reply, _ = await through(http("GET", "/console", LOCAL, *link))
    assert reply.status == 200
    framed = (*link[:2], ("sec-fetch-dest", "iframe"))
    assert_refused(*await through(http("GET", "/console", LOCAL, *framed)), "console", 403)
    assert_refused(*await through(http("GET", "/_windtunnel/clock", LOCAL, *link)), "control", 403)


@pytest.mark.parametrize(
    "content_type", ["text/plain", "", "application/x-www-form-urlencoded", "application/jsonx", None]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_control_bodies_are_json(method: str, content_type: str | None) -> None:
    """RL-25: what a form can post is refused before it is read."""
    named = () if content_type is None else (("content-type", content_type),)
    scope = http(method, PATHS["control"], LOCAL, ("content-length", "2"), *named)
    assert_refused(*await through(scope, [b"{}"]), "control", 415)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ((), 401), ((("authorization", "Bearer"),), 403), ((("authorization", "Basic s3cret"),), 401),
        ((("authorization", "Bearer wrong"),), 403), ((("x-windtunnel-token", "wrong"),), 403),
        ((("x-windtunnel-token", ""),), 403), ((("authorization", "Bearer s3cret2"),), 403),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "path", ["/_windtunnel/clock", "/_windtunnel", "/console", "/console/x", "/w/blue/_windtunnel/x"]
)
async def test_control_and_console_need_the_token(path: str, headers: Any, status: int) -> None:
    """RL-23: 401 without, 403 with a wrong one; never told."""
    reply, echo = await through(http("GET", path, LOCAL, *headers), rules=SafetyRules(control_token="s3cret"))
    assert_refused(reply, echo, "console" if path.startswith("/console") else "control", status)
    assert b"s3cret" not in reply.body
    assert (reply.headers.get("www-authenticate") == "Bearer") == (status == 401)


@pytest.mark.parametrize("header", [("authorization", "Bearer s3cret"), ("x-windtunnel-token", "s3cret")])
async def test_the_token_opens_control(header: tuple[str, str]) -> None:
    """RL-23: either header; the SDKs' surfaces need none."""
    rules = SafetyRules(control_token="s3cret")
    assert (await through(http("GET", PATHS["control"], LOCAL, header), rules=rules))[0].status == 200
    assert (await through(http("POST", "/", LOCAL, TARGET), rules=rules))[0].status == 200


@pytest.mark.parametrize("surface", PATHS)
async def test_a_stated_large_body_is_refused_unread(surface: str) -> None:
    """RL-18: 8 MiB by `Content-Length`: 413 in dialect before a byte is read, connection closed."""
    scope = http("POST", PATHS[surface], LOCAL, OWN, TARGET, ("content-length", str(8 * MAX_BODY)))
    reply, echo = await through(scope, [b"x" * 10])
    assert_refused(reply, echo, surface, 413)
    assert reply.headers["connection"] == "close"


@pytest.mark.parametrize("surface", PATHS)
async def test_an_endless_body_is_read_to_the_limit(surface: str) -> None:
    """RL-18: chunked without end: refused once past 1 MiB."""
    read = 0
    read_before_answer = 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 65_536
        return {"type": "http.request", "body": b"x" * 65_536, "more_body": True}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        nonlocal read_before_answer
        read_before_answer = read_before_answer or read
        sent.append(message)

    headers = (("transfer-encoding", "chunked"), ("content-type", "application/json"))
    echo = Echo()
    await Safety(echo, SafetyRules())(http("POST", PATHS[surface], LOCAL, OWN, TARGET, *headers), receive, send)
    assert (sent[0]["status"], echo.scopes) == (413, [])
    assert read_before_answer <= MAX_BODY + 65_536
    assert read <= MAX_BODY + LINGER_BYTES + 2 * 65_536
    assert (b"connection", b"close") in sent[0]["headers"]


async def test_a_body_of_exactly_the_limit_passes() -> None:
    """RL-18: 1 MiB is not too large; one byte more is."""
    scope = http("POST", "/", LOCAL, OWN, TARGET, ("transfer-encoding", "chunked"))
    reply, echo = await through(scope, [b"x" * (MAX_BODY // 2)] * 2)
    assert (reply.status, len(echo.bodies[0])) == (200, MAX_BODY)
    scope = http("POST", "/", LOCAL, OWN, TARGET, ("transfer-encoding", "chunked"))
    assert_refused(*await through(scope, [b"x" * MAX_BODY, b"x"]), "aws", 413)


@pytest.mark.parametrize("surface", PATHS)
async def test_compressed_bodies_are_refused(surface: str) -> None:
    """RL-18: a gzip bomb is never unpacked."""
    bomb = gzip.compress(b"0" * 10_000_000)
    headers = (("content-encoding", "gzip"), ("content-type", "application/json"), ("content-length", str(len(bomb))))
    assert_refused(*await through(http("POST", PATHS[surface], LOCAL, OWN, TARGET, *headers), [bomb]), surface, 415)


@pytest.mark.parametrize("surface", PATHS)
async def test_headers_are_bounded(surface: str) -> None:
    """Bounded everything: 16 KiB of headers in all."""
    scope = http("GET", PATHS[surface], LOCAL, TARGET, *(("x-a", "x" * 1000) for _ in range(17)))
    assert_refused(*await through(scope), surface, 431)


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "9" * 50, "²"])
async def test_odd_lengths_are_refused(length: str) -> None:
    """RL-13: whatever a server lets through."""
    assert_refused(*await through(http("POST", "/", LOCAL, TARGET, ("content-length", length)), [b"{}"]), "aws", 413)


@pytest.mark.parametrize(
    ("path", "world", "root"),
    [
        ("/", "main", ""),
        ("/w/blue/", "blue", "/w/blue"),
        ("/w/blue", "blue", "/w/blue"),
        ("/w/a-1/_windtunnel/clock", "a-1", "/w/a-1"),
        (f"/w/{'a' * 63}/", "a" * 63, f"/w/{'a' * 63}"),
        ("/www", "main", ""),
    ],
)
async def test_the_path_names_the_world(path: str, world: str, root: str) -> None:
    """CT-0: a prefix picks it; what was signed stays in `raw_path`."""
    _, echo = await through(http("GET", path, LOCAL))
    scope = echo.scopes[0]
    assert (scope["windtunnel.world"], scope.get("root_path", ""), scope["raw_path"]) == (world, root, path.encode())


@pytest.mark.parametrize(
    "path", ["/w", "/w/", "/w/Blue/", "/w/-a/", f"/w/{'a' * 64}/", "/w/a_b/", "/w/../x", "/w/a%62/"]
)
async def test_a_world_needs_a_proper_name(path: str) -> None:
    """CT-0: 404 in the dialect of who asks."""
    assert_refused(*await through(http("POST", path, LOCAL, TARGET)), "aws", 404)
    assert_refused(*await through(http("GET", path, LOCAL)), "control", 404)


async def test_routing_goes_on_inside_the_world() -> None:
    """CT-0: routes and mounts match what follows the prefix, and links keep it."""

    async def here(request: Request) -> JSONResponse:
        return JSONResponse([request.scope["windtunnel.world"], request.url_for("here").path])

    application = Safety(Starlette(routes=[Mount("/console", routes=[Route("/here", here, name="here")]),
                                           Route("/", here, methods=["POST"])]), SafetyRules())  # fmt: skip
    for prefix, world in (("", "main"), ("/w/blue", "blue")):
        reply = await ask(application, http("GET", f"{prefix}/console/here", LOCAL), [])
        assert reply.json == [world, f"{prefix}/console/here"]
    assert (await ask(application, http("POST", "/w/blue/", LOCAL), [])).status != 404


@pytest.mark.parametrize("framing", ["content-length: 8388608", "transfer-encoding: chunked"])
async def test_a_server_closes_on_what_it_refuses(framing: str) -> None:
    """RL-18 over a real socket: a client that sends 8 MiB reads the answer and then the end of the stream."""
    server = uvicorn.Server(uvicorn.Config(Safety(Echo(), SafetyRules()), log_config=None, lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        running = asyncio.create_task(server.serve([listening]))
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        writer.write(f"POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: x\r\n{framing}\r\n\r\n".encode())
        for _ in range(256):
            part = b"x" * 0x8000
            writer.write(part if "length" in framing else b"8000\r\n" + part + b"\r\n")
            await writer.drain()
        writer.write(b"" if "length" in framing else b"0\r\n\r\n")
        answer = await reader.read()
        writer.close()
        server.should_exit = True
        await running
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"RequestEntityTooLargeException" in answer
