"""Uploads in pieces (the service's "resumable" ones): begun, added to, asked about, and given up."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import IO

from app.core.errors import NotFound
from app.core.ids import upload_id
from app.core.objects import Piece, StoredObject, Upload, Wanted, next_generation, taken
from app.core.world import World
from app.store import contents, objects, sessions
from app.store.contents import PIECE
from app.store.db import Tx
from app.usecases import buckets
from app.usecases.buckets import kept, there
from app.usecases.storage import TRANSFER_SECONDS, check_size, open_place, settle, summed

KEPT = timedelta(days=7)
"""So long an upload may take, in the world's time, as on the real service."""


async def begin(tx: Tx, world: str, wanted: Wanted, total: int | None) -> Upload:
    """An upload of an object whose size is `total`, if that is known. LimitExceeded, Unmet."""
    check_size(total or 0)
    await buckets.provide(tx, world, wanted.bucket)
    place = await open_place(tx, world, wanted)
    await contents.forget_before(tx, world, wanted.bucket, place.world.now - KEPT)
    content = next_generation(place.bucket.generation, place.world.now)
    began = Upload(
        bucket=wanted.bucket,
        upload_id=upload_id(place.world.seed, wanted.bucket, content),
        content=content,
        name=wanted.name,
        attributes=wanted.attributes,
        checksums=wanted.checksums,
        conditions=wanted.conditions,
        began_at=place.world.now,
        total=total,
    )
    await contents.begin(tx, world, began)
    await objects.count_up(tx, world, wanted.bucket, content)
    return began


async def add(
    tx: Tx, world: str, bucket: str, upload_id: str, piece: Piece, checksums: Mapping[str, str], file: IO[bytes]
) -> Upload | StoredObject:
    """Add the file's bytes, which are the piece, and say how far the upload is: the object, when it is complete.

    NotFound; Invalid: the piece does not fit to what is there; LimitExceeded; Unmet.
    """
    await sessions.allow(tx, TRANSFER_SECONDS)
    held = await kept(tx, world)
    there(await objects.keep_bucket(tx, world, bucket))
    upload = _live(await contents.lock_upload(tx, world, bucket, upload_id), held)
    if upload.generation is not None:
        return await _outcome(tx, world, upload)
    span, is_last = taken(upload, piece)
    check_size(span.stop)
    file.seek(0 if piece.start is None else span.start - piece.start)
    for start in range(span.start, span.stop, PIECE):
        part = file.read(min(PIECE, span.stop - start))
        await contents.add(tx, world, bucket, upload.content, start, part)
    upload = replace(upload, received=span.stop, total=piece.total if upload.total is None else upload.total)
    if is_last:
        return await _complete(tx, world, upload, checksums)
    await contents.save(tx, world, upload)
    return upload


async def give_up(tx: Tx, world: str, bucket: str, upload_id: str) -> None:
    """Forget the upload; an object that it has become stays. NotFound."""
    held = await kept(tx, world)
    there(await objects.keep_bucket(tx, world, bucket))
    await contents.forget(tx, world, _live(await contents.lock_upload(tx, world, bucket, upload_id), held))


async def _complete(tx: Tx, world: str, upload: Upload, checksums: Mapping[str, str]) -> StoredObject:
    expected = {**upload.checksums, **checksums}
    wanted = Wanted(upload.bucket, upload.name, upload.attributes, expected, upload.conditions)
    place = await open_place(tx, world, wanted)
    sums = await summed(tx, world, upload.bucket, upload.content, upload.received)
    stored = await settle(tx, place, wanted, upload.content, sums)
    await contents.save(tx, world, replace(upload, generation=stored.generation))
    return stored


async def _outcome(tx: Tx, world: str, upload: Upload) -> Upload | StoredObject:
    if upload.generation is None:
        return upload
    found = await objects.get(tx, world, upload.bucket, upload.name)
    if found is None or found.generation != upload.generation:
        raise NotFound("The upload is complete, and its object was deleted or written over since.")
    return found


def _live(found: Upload | None, world: World) -> Upload:
    if found is None or found.began_at + KEPT <= world.now:
        raise NotFound(
            "No such upload in this bucket: it was given up, or began more than a week ago in the world's time. Begin "
            "another."
        )
    return found
