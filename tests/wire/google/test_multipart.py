"""`multipart/related` read as it comes, however it is cut up."""

from collections.abc import AsyncIterator

import pytest

from app.core.errors import Invalid
from app.wire.google.multipart import MOST_METADATA, Related, boundary_of

JSON = b'{"name": "a"}'
PYTHON = (
    b"--==1==\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n" + JSON + b"\r\n--==1==\r\n"
    b"content-type: text/plain\r\n\r\n%b\r\n--==1==--"
)
APITOOLS = (
    b"--==1==\nContent-Type: application/json\nMIME-Version: 1.0\n\n" + JSON + b"\n--==1==\n"
    b"Content-Type: text/plain\nMIME-Version: 1.0\nContent-Transfer-Encoding: binary\n\n%b\n--==1==--\n"
)


async def cut(body: bytes, step: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), step):
        yield body[start : start + step]


async def read(body: bytes, step: int) -> tuple[bytes, str | None, bytes]:
    parts = Related(cut(body, step), b"==1==")
    told = await parts.metadata()
    media = b"".join([piece async for piece in parts.media()])
    return told, parts.media_type, media


@pytest.mark.parametrize("step", [1, 2, 7, 64, 100_000])
@pytest.mark.parametrize("form", [PYTHON, APITOOLS])
@pytest.mark.parametrize(
    "media", [b"", b"hello", b"\r", b"\n", b"\r\n", b"a\r\n--==1=", b"--==1==", b"\r\n\r\n" * 9, bytes(range(256)) * 9]
)
async def test_media_comes_out_as_it_went_in(form: bytes, media: bytes, step: int) -> None:
    """VX-20: as google-cloud-storage writes it, with CRLF, and as gcloud does, with LF; whatever the bytes are like."""
    if form is APITOOLS and media == b"--==1==":
        media = b"--==1="  # its own generator draws a boundary that is not in the bytes
    assert await read(form % media, step) == (JSON, "text/plain", media)


async def test_parts_need_no_headers() -> None:
    """VX-20: then the bytes have no type."""
    assert await read(b"--==1==\r\n\r\n{}\r\n--==1==\r\n\r\nx\r\n--==1==--", 3) == (b"{}", None, b"x")


@pytest.mark.parametrize(
    "body",
    [
        b"", b"hello", (PYTHON % b"x")[:-2], (PYTHON % b"x")[:-9], (PYTHON % b"x")[:40],
        (PYTHON % b"x")[:-2] + b"\r\n\r\nthird\r\n--==1==--", b"--==1==--", b"x" * (MOST_METADATA + 2),
        b"--==1==\r\n\r\n" + b"x" * (MOST_METADATA + 2) + b"\r\n--==1==\r\n\r\n\r\n--==1==--",
    ],
)  # fmt: skip
@pytest.mark.parametrize("step", [1000, 100_000])
async def test_other_shapes_are_refused(body: bytes, step: int) -> None:
    """CT-14: what is cut off, too long, or of another number of parts."""
    with pytest.raises(Invalid):
        await read(body, step)


@pytest.mark.parametrize(
    "header", ['multipart/related; boundary="==1=="', "multipart/related; boundary='==1=='",
               "multipart/related;boundary===1==", "Multipart/Related; charset=x; BOUNDARY===1==; a=b"]
)  # fmt: skip
def test_boundaries(header: str) -> None:
    """VX-20: quoted in either way, or not."""
    assert boundary_of(header) == b"==1=="


@pytest.mark.parametrize("header", ["", "application/json", "multipart/related", "multipart/related; boundary=",
                                    "text/plain; boundary=x"])  # fmt: skip
def test_no_boundary(header: str) -> None:
    """VX-20: the refusal says what to send."""
    with pytest.raises(Invalid, match="boundary="):
        boundary_of(header)
