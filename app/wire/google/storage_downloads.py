"""The bytes of objects on their way out (VX-20). They are read from the database at once and told from a file, so that
a client that reads slowly keeps no connection to it."""

from collections.abc import AsyncIterator
from typing import IO

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from app.core.objects import Sought, StoredObject
from app.service import Service
from app.usecases import storage
from app.wire.google.storage_messages import HEADERS, etag_of
from app.wire.google.storage_requests import ServiceOf, SoughtOf, Spool, WorldOf, few_at_a_time

_STEP = 64 * 1024
router = APIRouter()


@router.get("/download/storage/v1/b/{bucket}/o/{object}", response_model=None, name="objects.get")
async def read_object(request: Request, sought: SoughtOf, service: ServiceOf, world: WorldOf, file: Spool) -> Response:
    return await media(request, sought, service, world, file)


async def media(request: Request, sought: Sought, service: Service, world: str, file: IO[bytes]) -> Response:
    """The object's bytes, or those of its `Range`, by way of the file."""
    async with few_at_a_time:
        stored, span = await service.db.run(storage.read, world, sought, request.headers.get("range"), file)
    headers = _headers(stored)
    if span is not None:
        headers["content-range"] = f"bytes {span.start}-{span.stop - 1}/{stored.size}"
    headers["content-length"] = str(stored.size if span is None else len(span))
    return StreamingResponse(_pieces(file), 200 if span is None else 206, headers)


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    file.seek(0)
    while piece := file.read(_STEP):
        yield piece


def _headers(stored: StoredObject) -> dict[str, str]:
    sums = f"crc32c={stored.crc32c}" + (f",md5={stored.md5}" if stored.md5 else "")
    told = {name: _line(stored.attributes[key]) for key, name in HEADERS.items() if stored.attributes.get(key)}
    return {
        "content-type": "application/octet-stream",
        **told,
        "accept-ranges": "bytes",
        "etag": etag_of(stored),
        "last-modified": stored.updated_at.strftime("%a, %d %b %Y %H:%M:%S GMT"),
        "x-goog-generation": str(stored.generation),
        "x-goog-metageneration": str(stored.metageneration),
        "x-goog-hash": sums,
        "x-goog-storage-class": _line(stored.attributes.get("storageClass", "STANDARD")),
        "x-goog-stored-content-encoding": _line(stored.attributes.get("contentEncoding", "identity")),
        "x-goog-stored-content-length": str(stored.size),
        # To a browser an object would be a page of this service, and could steer it.
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
    }


def _line(value: object) -> str:
    """As a header may hold it: UTF-8 in the form in which it is sent, and no line breaks, whoever wrote them."""
    text = "".join(mark for mark in str(value) if mark >= " " and mark != "\x7f")
    return text.encode("utf-8", "replace").decode("latin-1")
