"""The bytes of objects on their way in: at once, with what is told about them, or in pieces (VX-20, CT-14).

A body is kept in a file until all of it is there, and only then does the database hear of it: one that breaks off
leaves nothing behind.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import IO, Any
from urllib.parse import quote

import orjson
from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from app.core.errors import Invalid
from app.core.objects import MOST_BYTES, StoredObject, Upload, Wanted, piece_of
from app.usecases import storage, uploads
from app.wire.google.multipart import MOST_METADATA, Related, boundary_of
from app.wire.google.storage_messages import ObjectFacts, object_shown
from app.wire.google.storage_requests import (
    Base,
    BucketName,
    Conditions,
    ServiceOf,
    Spool,
    Word,
    WorldOf,
    few_at_a_time,
)
from app.wire.safety import too_large

DEADLINE_S = 300.0
"""Seconds of the wall in which a body must be there."""
GONE = 499
router = APIRouter()
_PLAIN = "/upload/storage/v1/b/{bucket}/o"
_RESUMABLE = "/resumable" + _PLAIN
_HASHES = {"crc32c": "crc32c", "md5": "md5Hash"}


@router.post(_PLAIN, response_model=None, name="objects.insert")
@router.post(_RESUMABLE, response_model=None, name="objects.insert")
async def insert_object(
    request: Request,
    bucket: BucketName,
    conditions: Conditions,
    service: ServiceOf,
    world: WorldOf,
    base: Base,
    file: Spool,
    uploadType: str = "",  # noqa: N803
    name: Word | None = None,
    upload_id: Word | None = None,
) -> Response | dict[str, Any]:
    """Write an object, or begin to."""
    if upload_id is not None:
        return await add_piece(request, bucket, service, world, base, file, upload_id)
    if uploadType == "resumable":
        wanted = _wanted(request, bucket, name, await _read_facts(request, file), conditions)
        return _begun(await service.db.run(uploads.begin, world, wanted, _announced(request)), base)
    if uploadType not in ("media", "multipart"):
        raise Invalid("Say how the object is uploaded: uploadType=media, multipart or resumable.")
    read = _read_multipart if uploadType == "multipart" else _read_media
    wanted = _wanted(request, bucket, name, await read(request, file), conditions)
    async with few_at_a_time:
        return object_shown(await service.db.run(storage.put, world, wanted, file), base)


@router.put(_PLAIN, response_model=None, name="objects.insert")
@router.put(_RESUMABLE, response_model=None, name="objects.insert")
async def add_piece(
    request: Request, bucket: BucketName, service: ServiceOf, world: WorldOf, base: Base, file: Spool, upload_id: Word
) -> Response | dict[str, Any]:
    """Add to an upload, or ask how far it is."""
    await _keep(request.stream(), file)
    piece = piece_of(request.headers.get("content-range"), file.tell())
    async with few_at_a_time:
        done = await service.db.run(uploads.add, world, bucket, upload_id, piece, _sums(request), file)
    if isinstance(done, StoredObject):
        return object_shown(done, base)
    headers = {"range": f"bytes=0-{done.received - 1}"} if done.received else {}
    if "x-guploader-no-308" in request.headers:  # clients whose HTTP library would take 308 for a redirection
        return Response(status_code=200, headers=headers | {"x-http-status-code-override": "308"})
    return Response(status_code=308, headers=headers)


@router.delete(_PLAIN, response_model=None, name="objects.insert")
@router.delete(_RESUMABLE, response_model=None, name="objects.insert")
async def give_up(bucket: BucketName, service: ServiceOf, world: WorldOf, upload_id: Word) -> Response:
    """Forget an upload. Its answer is 499, as on the real service."""
    await service.db.run(uploads.give_up, world, bucket, upload_id)
    return Response(status_code=GONE)


def _begun(upload: Upload, base: str) -> Response:
    query = f"uploadType=resumable&name={quote(upload.name, safe='')}&upload_id={upload.upload_id}"
    address = f"{base}upload/storage/v1/b/{upload.bucket}/o?{query}"
    return Response(status_code=200, headers={"location": address, "x-guploader-uploadid": upload.upload_id})


def _announced(request: Request) -> int | None:
    told = request.headers.get("x-upload-content-length")
    if told is None:
        return None
    if not (told.isascii() and told.isdecimal() and len(told) < 20):
        raise Invalid("X-Upload-Content-Length is no number of bytes.")
    return int(told)


async def _read_facts(request: Request, file: IO[bytes]) -> ObjectFacts:
    """The body tells about an object whose bytes are to come."""
    await _keep(request.stream(), file, most=MOST_METADATA)
    file.seek(0)
    return _facts(file.read() or b"{}", request.headers.get("x-upload-content-type"))


async def _read_media(request: Request, file: IO[bytes]) -> ObjectFacts:
    """The body is the object; headers tell about it."""
    await _keep(request.stream(), file)
    return _facts(b"{}", request.headers.get("content-type"))


async def _read_multipart(request: Request, file: IO[bytes]) -> ObjectFacts:
    """The body tells about the object, and then is the object."""
    parts = Related(_arriving(request.stream()), boundary_of(request.headers.get("content-type", "")))
    async with _in_time():
        told = await parts.metadata()
        await _keep(parts.media(), file)
    return _facts(told, parts.media_type)


def _facts(told: bytes, media_type: str | None) -> ObjectFacts:
    """What the JSON tells about an object; its type is that of its bytes unless the JSON has one."""
    try:
        members = orjson.loads(told)
        if media_type and isinstance(members, dict) and not members.get("contentType"):
            members["contentType"] = media_type
        return ObjectFacts.model_validate(members)
    except orjson.JSONDecodeError:
        raise Invalid("Parse Error: what is told about the object is no JSON.") from None
    except ValidationError as error:
        problem = error.errors()[0]
        raise Invalid(f"Invalid value at '{'.'.join(map(str, problem['loc']))}': {problem['msg']}") from None


def _wanted(
    request: Request, bucket: str, name: str | None, facts: ObjectFacts, conditions: Mapping[str, int]
) -> Wanted:
    named = name or facts.name
    if not named:
        raise Invalid("Required: the object's name, as `name` in the query or in what is told about it.")
    return Wanted(bucket, named, facts.attributes, facts.checksums | _sums(request), conditions)


def _sums(request: Request) -> dict[str, str]:
    """What the writer expects, by headers: `x-goog-hash: crc32c=…,md5=…` and `content-md5`."""
    told = ",".join(request.headers.getlist("x-goog-hash")).split(",")
    pairs = [part.strip().partition("=") for part in told]
    sums = {_HASHES[kind]: value for kind, _, value in pairs if kind in _HASHES}
    md5 = request.headers.get("content-md5")
    return sums | ({"md5Hash": md5} if md5 else {})


async def _keep(body: AsyncIterator[bytes], file: IO[bytes], most: int = MOST_BYTES) -> None:
    """Write the body to the file. 413: it has more bytes than `most`."""
    async with _in_time():
        async for piece in _arriving(body):
            if file.tell() + len(piece) > most:
                raise HTTPException(413, too_large(most).message)
            file.write(piece)


async def _arriving(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for piece in body:
            yield piece
    except ClientDisconnect:
        raise HTTPException(GONE, "The body was cut off. Send it again.") from None


@asynccontextmanager
async def _in_time() -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield
    except TimeoutError:
        raise HTTPException(408, f"The body did not arrive within {DEADLINE_S:.0f} s. Send it again.") from None
