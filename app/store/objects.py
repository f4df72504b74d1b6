"""Buckets and objects of Cloud Storage; their bytes are in `app.store.contents`."""

from app.core.objects import Bucket, Entry, Listing, StoredObject
from app.store.db import Tx
from app.store.rows import Shape, dollars

BUCKET = Shape(Bucket)
OBJECT = Shape(StoredObject)
_ADD_BUCKET = f"""INSERT INTO storage_bucket (world, {BUCKET.select})
    VALUES ($1, {dollars(2, len(BUCKET.columns))}) ON CONFLICT DO NOTHING RETURNING true"""
_BUCKET = f"SELECT {BUCKET.select} FROM storage_bucket WHERE world = $1 AND name = $2"
_PUT_OBJECT = f"""INSERT INTO storage_object (world, {OBJECT.select})
    VALUES ($1, {dollars(2, len(OBJECT.columns))}) ON CONFLICT (world, bucket, name) DO UPDATE
    SET {", ".join(f"{column} = excluded.{column}" for column in OBJECT.columns[2:])}"""
# An object whose name goes on behind a delimiter is told by the folder it is in, once for all that is there.
_ENTRIES = f"""WITH named AS (
        SELECT *, substr(name, length($3) + 1) AS rest FROM storage_object
        WHERE world = $1 AND bucket = $2 AND name >= $3 AND starts_with(name, $3)
            AND ($5::text IS NULL OR name >= $5) AND ($6::text IS NULL OR name < $6)
    ), told AS (
        SELECT *, CASE WHEN $4 <> '' AND strpos(rest, $4) > 0 THEN $3 || split_part(rest, $4, 1) || $4 END AS folder
        FROM named
    ), entry AS (SELECT *, coalesce(folder, name) AS entry FROM told)
    SELECT DISTINCT ON (entry) folder, {OBJECT.select} FROM entry
    WHERE $7::text IS NULL OR entry > $7 ORDER BY entry, name LIMIT $8"""


async def add_bucket(tx: Tx, world: str, bucket: Bucket) -> bool:
    """True when the bucket was made, False when its name was taken."""
    return bool(await tx.fetchval(_ADD_BUCKET, world, *BUCKET.values(bucket)))


async def bucket(tx: Tx, world: str, name: str) -> Bucket | None:
    """The bucket, without a lock."""
    return await _bucket(tx, _BUCKET, world, name)


async def keep_bucket(tx: Tx, world: str, name: str) -> Bucket | None:
    """The same, and nobody may delete it until this transaction ends."""
    return await _bucket(tx, f"{_BUCKET} FOR KEY SHARE", world, name)


async def lock_bucket(tx: Tx, world: str, name: str) -> Bucket | None:
    """The same, and nobody else may write to it."""
    return await _bucket(tx, f"{_BUCKET} FOR NO KEY UPDATE", world, name)


async def seize_bucket(tx: Tx, world: str, name: str) -> Bucket | None:
    """The same, and no upload to it is under way: it may be deleted."""
    return await _bucket(tx, f"{_BUCKET} FOR UPDATE", world, name)


async def _bucket(tx: Tx, statement: str, world: str, name: str) -> Bucket | None:
    row = await tx.fetchrow(statement, world, name)
    return Bucket(*row) if row else None


async def buckets(tx: Tx, world: str, project: str, prefix: str, after: str, limit: int) -> list[Bucket]:
    """The buckets of the project and of none, by name, behind `after`; without a project all."""
    rows = await tx.fetch(
        f"""SELECT {BUCKET.select} FROM storage_bucket WHERE world = $1 AND ($2 = '' OR project IN ($2, ''))
        AND starts_with(name, $3) AND name > $4 ORDER BY name LIMIT $5""",
        world,
        project,
        prefix,
        after,
        limit,
    )
    return [Bucket(*row) for row in rows]


async def count_up(tx: Tx, world: str, name: str, generation: int) -> None:
    """Note the last number that was given in the locked bucket."""
    await tx.execute(
        "UPDATE storage_bucket SET generation = $3 WHERE world = $1 AND name = $2", world, name, generation
    )


async def has_objects(tx: Tx, world: str, bucket: str) -> bool:
    """True unless the bucket is empty."""
    statement = "SELECT EXISTS (SELECT 1 FROM storage_object WHERE world = $1 AND bucket = $2)"
    found: bool = await tx.fetchval(statement, world, bucket)
    return found


async def remove_bucket(tx: Tx, world: str, name: str) -> None:
    """Delete the seized bucket, which has no object, and what was uploaded to it in vain."""
    for table in ("storage_chunk", "storage_upload"):
        await tx.execute(f"DELETE FROM {table} WHERE world = $1 AND bucket = $2", world, name)
    await tx.execute("DELETE FROM storage_bucket WHERE world = $1 AND name = $2", world, name)


async def get(tx: Tx, world: str, bucket: str, name: str) -> StoredObject | None:
    row = await tx.fetchrow(
        f"SELECT {OBJECT.select} FROM storage_object WHERE world = $1 AND bucket = $2 AND name = $3",
        world,
        bucket,
        name,
    )
    return StoredObject(*row) if row else None


async def put(tx: Tx, world: str, stored: StoredObject) -> None:
    """Write the object, over one of its name, whose bytes are the caller's to remove."""
    await tx.execute(_PUT_OBJECT, world, *OBJECT.values(stored))


async def remove(tx: Tx, world: str, bucket: str, name: str) -> None:
    """Delete the object; its bytes are the caller's to remove."""
    await tx.execute("DELETE FROM storage_object WHERE world = $1 AND bucket = $2 AND name = $3", world, bucket, name)


async def listed(tx: Tx, world: str, bucket: str, asked: Listing, limit: int) -> list[Entry]:
    """The first lines of the list, by name."""
    rows = await tx.fetch(_ENTRIES, world, bucket, *asked, limit)
    return [Entry(row[0], StoredObject(*tuple(row)[1:])) for row in rows]
