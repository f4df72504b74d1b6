"""`multipart/related` as uploads send it: JSON that tells about an object, then its bytes, which are handed on as they
come. Google's own tools end lines with LF alone and quote the boundary with `'`, so no parser of forms reads it."""

import re
from collections.abc import AsyncIterator

from app.core.errors import Invalid

MOST_METADATA = 64 * 1024
"""Bytes of the first part, and of the second one's headers."""
_BOUNDARY = re.compile(r"""boundary=(?:"([^"]{1,200})"|'([^']{1,200})'|([^\s;]{1,200}))""", re.IGNORECASE)
_TYPE = re.compile(rb"^content-type:[ \t]*(.+?)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_SHAPE = "An upload of type multipart is a part of JSON and a part of bytes, and no more"


def boundary_of(content_type: str) -> bytes:
    """What separates the parts. Invalid: the header does not say."""
    found = _BOUNDARY.search(content_type)
    if found is None or not content_type.lower().startswith("multipart/"):
        raise Invalid("Send an upload of type multipart as `Content-Type: multipart/related; boundary=…`.")
    boundary: str = next(filter(None, found.groups()))
    return boundary.encode("latin-1")


class Related:
    """The two parts of a body. Ask for `metadata` first, then for `media`; Invalid: it has another shape, or ends
    too early."""

    def __init__(self, body: AsyncIterator[bytes], boundary: bytes) -> None:
        self._body, self._delimiter = body, b"--" + boundary
        self._newline, self._read = b"\r\n", b""
        self.media_type: str | None = None

    async def metadata(self) -> bytes:
        """The JSON; `media_type` is known then."""
        await self._until(self._delimiter)
        line = await self._until(b"\n")
        self._newline = b"\r\n" if line == b"\r" else b"\n"
        self._delimiter = self._newline + self._delimiter
        await self._headers()
        told = await self._until(self._delimiter)
        await self._until(self._newline)
        headers = _TYPE.search(await self._headers())
        self.media_type = headers[1].decode("utf-8", "replace") if headers else None
        return told

    async def media(self) -> AsyncIterator[bytes]:
        """The object's bytes."""
        keep = len(self._delimiter) - 1
        while (place := self._read.find(self._delimiter)) < 0:
            ready = len(self._read) - keep
            if ready > 0:
                yield self._read[:ready]
                self._read = self._read[ready:]
            await self._more()
        yield self._read[:place]
        self._read = self._read[place + len(self._delimiter) :]
        while len(self._read) < 2:
            await self._more()
        if not self._read.startswith(b"--"):
            raise Invalid(f"{_SHAPE}: there is a third part.")
        async for _ in self._body:
            pass  # what is behind the parts is nobody's

    async def _headers(self) -> bytes:
        """A part's headers, of which there may be none."""
        self._read = self._newline + self._read
        return await self._until(self._newline * 2)

    async def _until(self, mark: bytes) -> bytes:
        """What comes before the mark; the mark is behind us then."""
        while (place := self._read.find(mark)) < 0 and len(self._read) <= MOST_METADATA:
            await self._more()
        if not 0 <= place <= MOST_METADATA:
            raise Invalid(f"{_SHAPE}; the first, and the headers, have at most {MOST_METADATA} bytes.")
        found, self._read = self._read[:place], self._read[place + len(mark) :]
        return found

    async def _more(self) -> None:
        try:
            self._read += await anext(self._body)
        except StopAsyncIteration:
            raise Invalid(f"{_SHAPE}: the body ends before its last boundary.") from None
