"""Odd requests to Cloud Storage: each is answered in its form, and none is a failure of ours (RL-13)."""

import json
from random import Random
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.kit import TestWorld
from tests.wire.google.storing import MEDIA, UPLOAD, put, refused

WORDS = ("bkt", "a", "", "\0", "..", "é/%2F", "9" * 20, "-1", "0", "1", "x" * 2000, "bytes 0-4/5", "bytes */*", "media",
         "multipart", "resumable", "multipart/related; boundary=b", "crc32c=AAAAAA==")  # fmt: skip
PATHS = (
    "/storage/v1/b",
    "/storage/v1/b/{}",
    "/storage/v1/b/{}/o",
    "/storage/v1/b/{}/o/{}",
    "/storage/v1/b/{}/o/{}/rewriteTo/b/{}/o/{}",
    "/storage/v1/b/bkt/o/{}/compose",
    "/download/storage/v1/b/{}/o/{}",
    "/resumable/upload/storage/v1/b/bkt/o",
    UPLOAD,
)
ASKED = ("name", "uploadType", "upload_id", "alt", "prefix", "delimiter", "pageToken", "maxResults", "generation",
         "project", "ifGenerationMatch", "ifSourceGenerationMatch", "sourceGeneration", "startOffset",
         "endOffset")  # fmt: skip
TOLD = ("content-range", "range", "content-type", "x-goog-hash", "x-upload-content-type", "x-upload-content-length")
BODIES = (
    b"",
    b"{}",
    b"[]",
    b"null",
    b'{"name": "a"}',
    b'{"name": 1e999}',
    b'{"sourceObjects": [{"name": "a"}]}',
    b'{"metadata": {"a": null}}',
    b"--b\r\n\r\n{}\r\n--b\r\n\r\nx\r\n--b--",
    b"\xed\xa0\x80",
)
REFUSED = (400, 404, 405, 409, 412, 413, 416)
GIVEN_UP = 499


@pytest.mark.parametrize(
    ("method", "path", "status", "reason"),
    [
        ("GET", "/storage/v1/b/bkt/o/%FF", 400, "invalid"),
        ("GET", "/storage/v1/b/bkt/o/%00", 400, "invalid"),
        ("GET", "/storage/v1/b/bkt/o/%2E%2E", 400, "invalid"),
        ("GET", "/storage/v1/b/bkt/o/a%0D%0Ab", 400, "invalid"),
        ("GET", "/storage/v1/b/bkt/o/..%2F..%2Fetc%2Fpasswd", 404, "notFound"),
        ("GET", "/storage/v1/b/bkt/o/a/b", 404, "notFound"),
        ("GET", "/storage/v1/b/..%2Fb/o", 400, "invalid"),
        ("GET", "/storage/v1/b/%00/o", 400, "invalid"),
        ("GET", "/storage/v1/b/bkt/o/a?generation=x", 400, "invalid"),
        ("GET", "/storage/v1/b/bkt/o/a?ifGenerationMatch=" + "9" * 19, 400, "invalid"),
        ("GET", "/storage/v1/b/bkt/o?pageToken=%C3%BC", 400, "invalid"),
        ("GET", "/storage/v1/b/bkt/o?pageToken=AA==", 400, "invalid"),
        ("GET", "/storage/v1/b/bkt/o?maxResults=0", 400, "invalid"),
        ("GET", "/storage/v1/b/bkt/o?maxResults=" + "9" * 30, 200, ""),
        ("GET", "/storage/v1/b/bkt/o?prefix=%00", 400, "invalid"),
        ("GET", "/storage/v1/b/bkt/o?matchGlob=*", 501, "notImplemented"),
        ("GET", "/storage/v1/b/bkt/acl", 404, "notFound"),
        ("GET", "/storage", 404, "notFound"),
        ("PUT", "/storage/v1/b/bkt/o/a", 405, "methodNotAllowed"),
        ("POST", "/storage/v1/b", 400, "invalid"),
        ("POST", "/upload/storage/v1/b/bkt/o?name=a", 400, "invalid"),
        ("POST", "/upload/storage/v1/b/bkt/o?uploadType=media", 400, "invalid"),
        ("POST", "/upload/storage/v1/b/bkt/o?uploadType=media&name=" + "a" * 1025, 400, "invalid"),
        ("POST", "/upload/storage/v1/b/bkt/o?uploadType=multipart&name=a", 400, "invalid"),
        ("POST", "/upload/storage/v1/x", 404, "notFound"),
        ("PUT", "/upload/storage/v1/b/bkt/o?upload_id=%00", 400, "invalid"),
    ],
)
def test_odd_requests(world: TestWorld, method: str, path: str, status: int, reason: str) -> None:
    """RL-13: each is answered in Cloud Storage's form, and none is a failure of ours."""
    put(world)
    request = world.http.build_request(method, "/")
    request.url = httpx.URL(f"{world.endpoint}{path}")
    answer = world.http.send(request)
    if status == 200:
        assert answer.status_code == 200
    else:
        refused(answer, status, reason)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b'"x"', b'{"name": 5}', b'{"name": "a\\u0000b"}', b'{"name": "bkt-2", "labels": []}',
        b'{"name": "bkt-2", "labels": {"a": "\\u0000"}}', b'{"name": "\\ud800"}', b"\xff",
        b'{"name": "bkt-2", "versioning": {"enabled": true}}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_odd_bodies(world: TestWorld, body: bytes) -> None:
    """RL-13: what is no bucket, and no object, is refused."""
    headers = {"content-type": "application/json"}
    refused(world.http.post("/storage/v1/b", content=body, headers=headers), 400, "invalid")
    query = MEDIA | {"uploadType": "resumable", "name": "a"}
    begun = world.http.post(UPLOAD, params=query, content=body[:60_000], headers=headers)
    assert begun.status_code in (200, 400), begun.text
    put(world)
    assert world.http.patch("/storage/v1/b/bkt/o/a", content=body, headers=headers).status_code in (200, 400)


@pytest.mark.parametrize("kind", ["text/plain;\tcharset=x", "x" * 1025, "a\0b"])
def test_odd_types(world: TestWorld, kind: str) -> None:
    """RL-13: a type comes in four places, and is looked at in each."""
    for asked in (
        {"params": MEDIA, "headers": {"content-type": kind}},
        {"params": MEDIA | {"uploadType": "resumable"}, "headers": {"x-upload-content-type": kind}},
        {"params": MEDIA | {"uploadType": "resumable"}, "content": json.dumps({"contentType": kind})},
    ):
        if "\0" not in kind or "content" in asked:
            refused(world.http.post(UPLOAD, **asked), 400, "invalid", "contentType")  # type: ignore[arg-type]
    body = f"--b\r\n\r\n{{}}\r\n--b\r\ncontent-type: {kind}\r\n\r\nx\r\n--b--"
    headers = {"content-type": "multipart/related; boundary=b"}
    refused(world.http.post(UPLOAD, params=MEDIA | {"uploadType": "multipart"}, headers=headers, content=body), 400,
            "invalid", "contentType")  # fmt: skip


def _drawn(draw: Random) -> dict[str, Any]:
    """A request of parts that fit together by chance alone."""
    path = draw.choice(PATHS)
    names = [quote(draw.choice(WORDS), safe="") for _ in range(path.count("{}"))]
    headers = {draw.choice(TOLD): draw.choice(WORDS).encode() for _ in range(draw.randrange(3))}
    kind = {"content-type": b"application/json"} if draw.random() < 0.5 else {}
    return {
        "method": draw.choice(["GET", "POST", "PUT", "PATCH", "DELETE"]),
        "url": path.format(*names),
        "params": {draw.choice(ASKED): draw.choice(WORDS) for _ in range(draw.randrange(4))},
        "headers": {name: value for name, value in (kind | headers).items() if b"\0" not in value},
        "content": draw.choice(BODIES),
    }


def test_a_thousand_odd_requests(world: TestWorld) -> None:
    """RL-13: the same ones each time."""
    put(world)
    draw = Random(7)
    for _ in range(1000):
        request = _drawn(draw)
        answer = world.http.request(**request)
        if answer.status_code >= 400 and answer.status_code != GIVEN_UP:
            assert answer.status_code in REFUSED, (request, answer.text)
            assert answer.json()["error"]["code"] == answer.status_code


def test_metadata_is_bounded(world: TestWorld) -> None:
    """Bounded everything: 8 KiB of an object's own metadata."""
    put(world)
    headers = {"content-type": "application/json"}
    for size, status in ((8190, 200), (8192, 400)):
        body = json.dumps({"metadata": {"ab": "x" * size}})
        assert world.http.patch("/storage/v1/b/bkt/o/a", content=body, headers=headers).status_code == status
