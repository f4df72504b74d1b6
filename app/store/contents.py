"""The bytes of objects, in pieces: none is ever held whole. Uploads that are not complete have theirs here too."""

from collections.abc import AsyncIterator

from app.core.objects import Upload
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import Shape, dollars

PIECE = 1024 * 1024
"""Bytes of one row at most."""
UPLOAD = Shape(Upload)
_UPLOAD = f"SELECT {UPLOAD.select} FROM storage_upload WHERE world = $1 AND bucket = $2 AND upload_id = $3"
_OF = "world = $1 AND bucket = $2 AND content = $3"
# The piece in which the first byte is, and all behind it.
_PIECES = f"""SELECT start, bytes FROM storage_chunk WHERE {_OF} AND start < $5 AND start >= coalesce(
        (SELECT max(start) FROM storage_chunk WHERE {_OF} AND start <= $4), 0) ORDER BY start"""


async def add(tx: Tx, world: str, bucket: str, content: int, start: int, piece: bytes) -> None:
    """Add a piece that begins with byte `start`."""
    await tx.execute(
        "INSERT INTO storage_chunk (world, bucket, content, start, bytes) VALUES ($1, $2, $3, $4, $5)",
        world,
        bucket,
        content,
        start,
        piece,
    )


async def copy(tx: Tx, world: str, source: tuple[str, int], target: tuple[str, int], shift: int) -> None:
    """Copy the pieces of one (bucket, content) to another, `shift` bytes further back."""
    await tx.execute(
        """INSERT INTO storage_chunk (world, bucket, content, start, bytes)
        SELECT world, $4, $5, start + $6, bytes FROM storage_chunk WHERE world = $1 AND bucket = $2 AND content = $3""",
        world,
        *source,
        *target,
        shift,
    )


async def read(tx: Tx, world: str, bucket: str, content: int, span: range) -> AsyncIterator[bytes]:
    """The bytes of the span, piece by piece, as they were when this began."""
    async for start, piece in tx.cursor(_PIECES, world, bucket, content, span.start, span.stop, prefetch=2):
        yield piece[max(0, span.start - start) : span.stop - start]


async def remove(tx: Tx, world: str, bucket: str, content: int) -> None:
    await tx.execute(f"DELETE FROM storage_chunk WHERE {_OF}", world, bucket, content)


async def begin(tx: Tx, world: str, upload: Upload) -> None:
    """Note an upload in pieces."""
    await tx.execute(
        f"""INSERT INTO storage_upload (world, {UPLOAD.select}) VALUES ($1, {dollars(2, len(UPLOAD.columns))})""",
        world,
        *UPLOAD.values(upload),
    )


async def lock_upload(tx: Tx, world: str, bucket: str, upload_id: str) -> Upload | None:
    """The upload, and nobody else adds to it until this transaction ends."""
    row = await tx.fetchrow(f"{_UPLOAD} FOR UPDATE", world, bucket, upload_id)
    return Upload(*row) if row else None


async def save(tx: Tx, world: str, changed: Upload) -> None:
    """Note how far the locked upload is."""
    await tx.execute(
        """UPDATE storage_upload SET total = $4, received = $5, generation = $6
        WHERE world = $1 AND bucket = $2 AND upload_id = $3""",
        world,
        changed.bucket,
        changed.upload_id,
        changed.total,
        changed.received,
        changed.generation,
    )


async def forget_before(tx: Tx, world: str, bucket: str, instant: WorldTime) -> None:
    """Delete the bucket's uploads that began by the instant, and the bytes of those that became no object."""
    await tx.execute(
        """WITH gone AS (DELETE FROM storage_upload WHERE world = $1 AND bucket = $2 AND began_at <= $3
            RETURNING content, generation)
        DELETE FROM storage_chunk c USING gone WHERE c.world = $1 AND c.bucket = $2 AND c.content = gone.content
            AND gone.generation IS NULL""",
        world,
        bucket,
        instant,
    )


async def forget(tx: Tx, world: str, of: Upload) -> None:
    """Delete the locked upload, and its bytes unless they are an object's by now."""
    if of.generation is None:
        await remove(tx, world, of.bucket, of.content)
    await tx.execute(
        "DELETE FROM storage_upload WHERE world = $1 AND bucket = $2 AND upload_id = $3",
        world,
        of.bucket,
        of.upload_id,
    )


async def size(tx: Tx, world: str) -> int:
    """How many bytes the world's objects and uploads have."""
    statement = "SELECT coalesce(sum(octet_length(bytes)), 0)::bigint FROM storage_chunk WHERE world = $1"
    found: int = await tx.fetchval(statement, world)
    return found
