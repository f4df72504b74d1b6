"""Cloud Storage over plain HTTP: uploads that break off, announce too much or come twice, and odd requests (CT-14)."""

import asyncio
import contextlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

from app.store.db import Database
from app.wire.google import storage, storage_downloads, storage_uploads
from app.wire.google.storage_dialect import OPERATIONS
from tests.kit import TestWorld
from tests.wire.google.storing import MEDIA, UPLOAD, put, refused

STEP = 256 * 1024
TOO_MUCH = 257 * 1024 * 1024


def begin(world: TestWorld, **headers: str) -> str:
    answer = world.http.post(UPLOAD, params=MEDIA | {"uploadType": "resumable"}, headers=headers)
    assert answer.status_code == 200, answer.text
    return str(answer.headers["location"])


def piece(world: TestWorld, url: str, content: bytes, told: str, **headers: str) -> httpx.Response:
    return world.http.put(url, content=content, headers={"content-range": told} | headers)


async def rows(database: Database, world: TestWorld) -> list[int]:
    """How many buckets, objects, chunks and uploads the database has of the world."""
    async with database.connection() as tx:
        return [
            await tx.fetchval(f"SELECT count(*) FROM storage_{table} WHERE world = $1", world.name)
            for table in ("bucket", "object", "chunk", "upload")
        ]


async def raw(world: TestWorld, head: str, body: bytes, *, cut: bool) -> bytes:
    """Send what is given and, when `cut`, go away; the answer."""
    at = urlsplit(world.endpoint)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    path = f"{at.path}{UPLOAD}?uploadType=media&name=a"
    writer.write(f"POST {path} HTTP/1.1\r\nhost: {at.netloc}\r\n{head}\r\n\r\n".encode() + body)
    with contextlib.suppress(ConnectionError):
        await writer.drain()
    if cut:
        writer.close()
    answer = b"" if cut else await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("content-length: 1000000", b"x" * 300_000),
        ("transfer-encoding: chunked", b"10000\r\n" + b"x" * 65_536 + b"\r\nffff\r\nxx"),
        ("transfer-encoding: chunked", b"5\r\nhello\r\n"),
    ],
)
async def test_what_breaks_off_leaves_nothing(database: Database, world: TestWorld, head: str, body: bytes) -> None:
    """CT-14: in either framing, wherever it ends; not even a bucket."""
    await raw(world, head, body, cut=True)
    world.now()  # it has been dealt with: the same loop answers this
    assert await rows(database, world) == [0, 0, 0, 0]
    refused(world.http.get("/storage/v1/b/bkt"), 404, "notFound")


async def test_a_chunk_that_is_none(world: TestWorld) -> None:
    """CT-14: broken framing ends the connection, and nothing is written."""
    answer = await raw(world, "transfer-encoding: chunked", b"zz\r\nhello\r\n0\r\n\r\n", cut=False)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert world.http.get("/storage/v1/b/bkt").status_code == 404


@pytest.mark.parametrize("path", [UPLOAD, "/resumable" + UPLOAD, UPLOAD + "?upload_id=x"])
async def test_257_mib_announced_are_refused_unread(world: TestWorld, path: str) -> None:
    """CT-14: in Cloud Storage's dialect, and the connection ends."""
    answer = await raw(world, f"content-length: {TOO_MUCH}", b"x" * 1000, cut=False)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in head
    assert json.loads(body)["error"]["errors"][0]["reason"] == "uploadTooLarge"


def test_257_mib_unannounced_are_refused_when_they_come(world: TestWorld) -> None:
    """CT-14: read to 256 MiB; an upload in pieces has that limit as a whole, and an object."""

    def endless() -> Iterator[bytes]:
        for _ in range(257):
            yield b"x" * 1024 * 1024

    refused(world.http.post(UPLOAD, params=MEDIA, content=endless()), 413, "uploadTooLarge", "268435456")
    announced = world.http.post(
        UPLOAD, params=MEDIA | {"uploadType": "resumable"}, headers={"x-upload-content-length": str(TOO_MUCH)}
    )
    refused(announced, 413, "uploadTooLarge")
    assert world.http.get("/storage/v1/b/bkt").status_code == 404


@pytest.mark.parametrize("path", ["/storage/v1/b", "/storage/v1/b/bkt/o/a/rewriteTo/b/bkt/o/b"])
def test_other_bodies_have_1_mib(world: TestWorld, path: str) -> None:
    """CT-14: only uploads are longer."""
    refused(world.http.post(path, content=b"x" * (1024 * 1024 + 1)), 413, "uploadTooLarge", "1048576")


def test_two_uploads_of_one_name_at_once(world: TestWorld) -> None:
    """CT-14: one after the other; what is read is one of them, whole; with ifGenerationMatch only one is written."""
    contents = [bytes([n]) * 3_000_000 for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda content: put(world, content), contents))
        reads = [pool.submit(world.http.get, "/storage/v1/b/bkt/o/a", params={"alt": "media"}) for _ in range(8)]
        answers = list(pool.map(lambda content: world.http.post(UPLOAD, params=MEDIA, content=content), contents))
    assert len({each["generation"] for each in made}) == 8
    assert {answer.status_code for answer in answers} == {200}
    for read in reads:
        content = read.result().content
        assert (len(content), len(set(content))) == (3_000_000, 1)
    first = {"params": MEDIA | {"name": "b", "ifGenerationMatch": "0"}}
    with ThreadPoolExecutor(8) as pool:
        raced = list(pool.map(lambda content: world.http.post(UPLOAD, content=content, **first), contents))
    assert sorted(answer.status_code for answer in raced) == [200] + [412] * 7


def test_an_upload_in_pieces(world: TestWorld) -> None:
    """VX-20: what is kept is told, what is sent again is not written again, and a gap is refused."""
    url = begin(world)
    assert url.startswith(f"{world.endpoint}{UPLOAD}?")
    asked = piece(world, url, b"", "bytes */*")
    assert (asked.status_code, asked.headers.get("range")) == (308, None)
    kept = piece(world, url, b"a" * (STEP + 10), f"bytes 0-{STEP + 9}/*")
    assert (kept.status_code, kept.headers["range"]) == (308, f"bytes=0-{STEP - 1}")
    asked = piece(world, url, b"", "bytes */*", **{"x-guploader-no-308": "yes"})
    assert (asked.status_code, asked.headers["x-http-status-code-override"]) == (200, "308")
    refused(piece(world, url, b"c", f"bytes {STEP + 1}-{STEP + 1}/*"), 400, "invalid", "already uploaded size")
    refused(piece(world, url, b"c", "bytes 0-5/*"), 400, "invalid")
    refused(piece(world, url, b"c", "bytes nonsense"), 400, "invalid", "Content-Range")
    again = piece(world, url, b"b" * STEP, f"bytes 0-{STEP - 1}/*")
    assert again.headers["range"] == f"bytes=0-{STEP - 1}"
    last = piece(world, url, b"d" * 5, f"bytes {STEP}-{STEP + 4}/{STEP + 5}")
    assert (last.status_code, last.json()["size"]) == (200, str(STEP + 5))
    assert world.http.get("/storage/v1/b/bkt/o/a?alt=media").content == b"a" * STEP + b"d" * 5
    for late in (piece(world, url, b"", "bytes */*"), piece(world, url, b"e", "bytes 0-0/1")):
        assert late.json() == last.json(), "the client did not get the answer, and asks again"
    put(world)
    refused(piece(world, url, b"", "bytes */*"), 404, "notFound", "written over")


async def test_the_end_of_an_upload(database: Database, world: TestWorld) -> None:
    """VX-20: given up, it is 499; a week of the world's time ends it, and the next one takes away what was there."""
    given_up, expired = begin(world), begin(world)
    for url in (given_up, expired):
        piece(world, url, b"a" * STEP, f"bytes 0-{STEP - 1}/*")
    assert world.http.delete(given_up).status_code == 499
    refused(world.http.delete(given_up), 404, "notFound")
    refused(piece(world, given_up, b"", "bytes */*"), 404, "notFound")
    world.advance(hours=24 * 7)
    refused(piece(world, expired, b"", "bytes */*"), 404, "notFound", "week")
    begin(world)
    assert await rows(database, world) == [1, 0, 0, 1]
    refused(world.http.put(UPLOAD, params={"upload_id": "none"}), 404, "notFound")


def test_preconditions_of_an_upload_in_pieces(world: TestWorld) -> None:
    """VX-20: looked at when it begins, and again when it ends."""
    url = world.http.post(UPLOAD, params=MEDIA | {"uploadType": "resumable", "ifGenerationMatch": "0"}).headers
    put(world)
    refused(world.http.put(url["location"], content=b"late"), 412, "conditionNotMet")
    query = MEDIA | {"uploadType": "resumable", "ifGenerationMatch": "0"}
    refused(world.http.post(UPLOAD, params=query), 412, "conditionNotMet")
    assert world.http.get("/storage/v1/b/bkt/o/a?alt=media").content == b"hello"


def test_ranges(world: TestWorld) -> None:
    """VX-20: of bytes on their way out, with the whole object's sums."""
    put(world, b"0123456789")
    url = "/download/storage/v1/b/bkt/o/a?alt=media"

    def get(asked: str) -> httpx.Response:
        return world.http.get(url, headers={"range": asked})

    whole = world.http.get(url)
    assert (whole.status_code, whole.content, whole.headers["content-length"]) == (200, b"0123456789", "10")
    assert "content-range" not in whole.headers
    for asked, content, told in (
        ("bytes=0-0", b"0", "bytes 0-0/10"),
        ("bytes=7-", b"789", "bytes 7-9/10"),
        ("bytes=-2", b"89", "bytes 8-9/10"),
        ("bytes=8-999", b"89", "bytes 8-9/10"),
    ):
        part = get(asked)
        assert (part.status_code, part.content, part.headers["content-range"]) == (206, content, told)
        assert part.headers["x-goog-hash"] == whole.headers["x-goog-hash"]
    for asked in ("bytes=5-2", "bytes=0-1,4-5", "lines=1-2"):
        assert get(asked).content == b"0123456789"
    out = get("bytes=10-")
    refused(out, 416, "requestedRangeNotSatisfiable", "not satisfiable")
    assert out.headers["content-range"] == "bytes */10"
    put(world, b"", name="none")
    assert world.http.get("/storage/v1/b/bkt/o/none?alt=media", headers={"range": "bytes=0-"}).status_code == 416


def test_what_a_reader_has_already(world: TestWorld) -> None:
    """VX-20: 304, without a body."""
    made = put(world)
    answer = world.http.get("/storage/v1/b/bkt/o/a", params={"ifGenerationNotMatch": made["generation"]})
    assert (answer.status_code, answer.content) == (304, b"")
    refused(world.http.get("/storage/v1/b/bkt/o/a", params={"ifGenerationMatch": "1"}), 412, "conditionNotMet")


def test_what_an_object_says_of_itself_is_no_header_of_ours(world: TestWorld) -> None:
    """CT-14: no line breaks into headers, and to a browser no page that could steer this service."""
    facts = {"name": "a", "contentType": "text/html", "contentDisposition": "x\r\nset-cookie: a=b"}
    body = b"--b\r\n\r\n%b\r\n--b\r\n\r\n<script>\r\n--b--"
    headers = {"content-type": "multipart/related; boundary=b"}
    query = {"uploadType": "multipart"}
    answer = world.http.post(UPLOAD, params=query, headers=headers, content=body % json.dumps(facts).encode())
    refused(answer, 400, "invalid", "contentDisposition")
    facts["contentDisposition"] = "inline"
    answer = world.http.post(UPLOAD, params=query, headers=headers, content=body % json.dumps(facts).encode())
    assert answer.status_code == 200
    told = world.http.get(answer.json()["mediaLink"]).headers
    assert told["content-type"] == "text/html"
    assert told["content-security-policy"].startswith("sandbox")
    assert told["x-content-type-options"] == "nosniff"


def test_every_route_has_an_operation_s_name() -> None:
    """CT-3: by which fault rules and the request log know it."""
    routers = (storage.router, storage_uploads.router, storage_downloads.router)
    assert {getattr(route, "name", "") for router in routers for route in router.routes} == set(OPERATIONS)


async def test_a_reader_that_waits_keeps_no_connection(world: TestWorld) -> None:
    """CT-14: ten that do not read their answers take nothing from the others."""
    put(world, b"x" * 30_000_000)
    at = urlsplit(world.endpoint)
    waiting: list[asyncio.StreamWriter] = []
    for _ in range(12):
        _, writer = await asyncio.open_connection(at.hostname, at.port, limit=1024)
        writer.write(f"GET {at.path}/storage/v1/b/bkt/o/a?alt=media HTTP/1.1\r\nhost: {at.netloc}\r\n\r\n".encode())
        await writer.drain()
        waiting.append(writer)
    answers = [world.http.get("/storage/v1/b/bkt/o/a") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3
    for writer in waiting:
        writer.transport.abort()
