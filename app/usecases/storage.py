"""Objects of Cloud Storage: read, written, copied, composed, changed and deleted; no more than a piece of their bytes
is held at a time (VX-20, CT-14)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import IO, Any, NamedTuple

from app.core.errors import Invalid, LimitExceeded, NotFound
from app.core.objects import (
    MOST_BYTES,
    MOST_PARTS,
    Bucket,
    Entry,
    Listing,
    Sought,
    StoredObject,
    Wanted,
    check_bucket,
    check_conditions,
    check_object,
    check_reader,
    next_generation,
    span_of,
    told_anew,
)
from app.core.world import World
from app.store import contents, objects, sessions
from app.store.contents import PIECE
from app.store.db import Tx
from app.usecases import buckets
from app.usecases.buckets import kept, there
from app.usecases.checksums import Checksums

TRANSFER_SECONDS = 120
"""How long one statement may wait or run where bytes are moved."""


class Place(NamedTuple):
    """Where an object is written: its locked bucket, and what is there."""

    world: World
    bucket: Bucket
    former: StoredObject | None


async def look(tx: Tx, world: str, sought: Sought) -> StoredObject:
    """The object's facts. NotFound; Unmet or Unchanged: it is not as the reader demands."""
    check_bucket(sought.bucket)
    check_object(sought.name)
    found = await objects.get(tx, world, sought.bucket, sought.name)
    if found is None:
        there(await objects.bucket(tx, world, sought.bucket))
    found = _the_one(found, sought)
    check_reader(sought.conditions, found)
    return found


async def read(
    tx: Tx, world: str, sought: Sought, asked: str | None, into: IO[bytes]
) -> tuple[StoredObject, range | None]:
    """Write the bytes that the `Range` header asks for into a file; the object, and the span if it is not all of it.

    What is read is one object, whoever writes over it meanwhile. OutOfRange.
    """
    await sessions.see_one_state(tx)
    await sessions.allow(tx, TRANSFER_SECONDS)
    found = await look(tx, world, sought)
    span = span_of(asked, found.size)
    into.seek(0)
    into.truncate()
    async for piece in contents.read(tx, world, found.bucket, found.content, span or range(found.size)):
        into.write(piece)
    return found, span


async def listed(tx: Tx, world: str, bucket: str, asked: Listing, limit: int) -> list[Entry]:
    """The first lines of the list. NotFound: no such bucket."""
    await buckets.get(tx, world, bucket)
    return await objects.listed(tx, world, bucket, asked, limit)


async def put(tx: Tx, world: str, wanted: Wanted, file: IO[bytes]) -> StoredObject:
    """Write an object with the file's bytes. Invalid: they are not those that the writer summed up; Unmet."""
    await sessions.allow(tx, TRANSFER_SECONDS)
    await buckets.provide(tx, world, wanted.bucket)
    place = await open_place(tx, world, wanted)
    content = next_generation(place.bucket.generation, place.world.now)
    sums = Checksums()
    file.seek(0)
    while piece := file.read(PIECE):
        await contents.add(tx, world, wanted.bucket, content, sums.size, piece)
        sums.add(piece)
    return await settle(tx, place, wanted, content, sums)


async def copy(tx: Tx, world: str, source: Sought, wanted: Wanted) -> StoredObject:
    """Write `wanted` with the bytes of another object, and with its attributes if none are told anew."""
    for name in sorted({source.bucket, wanted.bucket}):
        check_bucket(name)
    await sessions.allow(tx, TRANSFER_SECONDS)
    await kept(tx, world)
    for name in sorted({source.bucket, wanted.bucket}):
        there(await objects.lock_bucket(tx, world, name))
    origin = await look(tx, world, source)
    place = await open_place(tx, world, wanted)
    content = next_generation(place.bucket.generation, place.world.now)
    await contents.copy(tx, world, (source.bucket, origin.content), (wanted.bucket, content), 0)
    named = replace(wanted, attributes=wanted.attributes or origin.attributes)
    facts = {"crc32c": origin.crc32c, "md5": origin.md5, "components": origin.components, "size": origin.size}
    return await _settle(tx, place, named, content, facts)


async def compose(tx: Tx, world: str, wanted: Wanted, sources: Sequence[Sought]) -> StoredObject:
    """Write `wanted` with the bytes of objects of its bucket, one behind the other."""
    if not 1 <= len(sources) <= MOST_PARTS:
        raise Invalid(f"An object is composed of 1 to {MOST_PARTS} others; {len(sources)} are named.")
    await sessions.allow(tx, TRANSFER_SECONDS)
    place = await open_place(tx, world, wanted)
    content = next_generation(place.bucket.generation, place.world.now)
    size, components = 0, 0
    for source in sources:
        part = await look(tx, world, source)
        check_size(size + part.size)
        await contents.copy(tx, world, (part.bucket, part.content), (wanted.bucket, content), size)
        size, components = size + part.size, components + (part.components or 1)
    sums = await summed(tx, world, wanted.bucket, content, size)
    facts = {"crc32c": sums.crc32c, "md5": None, "components": components, "size": size}
    return await _settle(tx, place, wanted, content, facts)


async def change(tx: Tx, world: str, sought: Sought, told: Mapping[str, Any]) -> StoredObject:
    """Tell something else about the object: what is None is taken away."""
    place, found = await _locked(tx, world, sought)
    changed = replace(
        found,
        attributes=told_anew(found.attributes, told),
        metageneration=found.metageneration + 1,
        updated_at=place.world.now,
    )
    await objects.put(tx, world, changed)
    return changed


async def delete(tx: Tx, world: str, sought: Sought) -> None:
    """NotFound; Unmet: it is not as the caller takes it for."""
    _, found = await _locked(tx, world, sought)
    await contents.remove(tx, world, found.bucket, found.content)
    await objects.remove(tx, world, found.bucket, found.name)


async def _locked(tx: Tx, world: str, sought: Sought) -> tuple[Place, StoredObject]:
    place = await open_place(tx, world, Wanted(sought.bucket, sought.name))
    found = _the_one(place.former, sought)
    check_conditions(sought.conditions, found)
    return place, found


async def open_place(tx: Tx, world: str, wanted: Wanted) -> Place:
    """Lock the bucket in which an object is written, and check what the writer demands of what is there."""
    check_bucket(wanted.bucket)
    check_object(wanted.name)
    held = await kept(tx, world)
    bucket = there(await objects.lock_bucket(tx, world, wanted.bucket))
    former = await objects.get(tx, world, wanted.bucket, wanted.name)
    check_conditions(wanted.conditions, former)
    return Place(held, bucket, former)


async def settle(tx: Tx, place: Place, wanted: Wanted, content: int, sums: Checksums) -> StoredObject:
    """The object with the bytes under `content`, now in its place. Invalid: they were damaged on their way."""
    sums.check(wanted.checksums)
    facts = {"crc32c": sums.crc32c, "md5": sums.md5, "components": None, "size": sums.size}
    return await _settle(tx, place, wanted, content, facts)


async def _settle(tx: Tx, place: Place, wanted: Wanted, content: int, facts: Mapping[str, Any]) -> StoredObject:
    world, now = place.world.name, place.world.now
    if place.former is not None:
        await contents.remove(tx, world, wanted.bucket, place.former.content)
    stored = StoredObject(
        bucket=wanted.bucket,
        name=wanted.name,
        generation=next_generation(place.bucket.generation, now),
        metageneration=1,
        content=content,
        attributes={"storageClass": place.bucket.storage_class, **wanted.attributes},
        created_at=now,
        updated_at=now,
        **facts,
    )
    await objects.put(tx, world, stored)
    await objects.count_up(tx, world, wanted.bucket, stored.generation)
    return stored


async def summed(tx: Tx, world: str, bucket: str, content: int, size: int) -> Checksums:
    """The checksums of bytes that are stored."""
    sums = Checksums()
    async for piece in contents.read(tx, world, bucket, content, range(size)):
        sums.add(piece)
    return sums


def check_size(size: int) -> None:
    """LimitExceeded: no object is so large here."""
    if size > MOST_BYTES:
        raise LimitExceeded(f"An object has at most {MOST_BYTES} bytes here; this one would have {size} or more.")


def _the_one(found: StoredObject | None, sought: Sought) -> StoredObject:
    """The object, if it is of the generation that is asked for: former ones are not kept."""
    if found is None or sought.generation not in (None, found.generation):
        number = "" if sought.generation is None else f"#{sought.generation}"
        raise NotFound(f"No such object: {sought.bucket}/{sought.name}{number}")
    return found
