"""Cloud Storage: buckets, objects, their bytes, and uploads that are not complete.

A bucket's name is unique in its world, whichever project and location it is of, so the name follows the world in every
key, and project and location are facts of the bucket.
"""

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, Table
from sqlalchemy.dialects.postgresql import JSONB

from app.store.tables.base import Text, metadata, time_column


def _of_bucket() -> list[Column[str]]:
    return [Column(name, Text, primary_key=True) for name in ("world", "bucket")]


storage_bucket = Table(
    "storage_bucket",
    metadata,
    Column("world", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("project", Text, nullable=False),
    Column("location", Text, nullable=False),
    Column("storage_class", Text, nullable=False),
    Column("labels", JSONB, nullable=False),
    time_column("created_at", nullable=False),
    Column("generation", BigInteger, nullable=False),
    Index("ix_storage_bucket_project", "world", "project", "name"),
)

storage_object = Table(
    "storage_object",
    metadata,
    *_of_bucket(),
    Column("name", Text, primary_key=True),
    Column("generation", BigInteger, nullable=False),
    Column("metageneration", BigInteger, nullable=False),
    Column("content", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("crc32c", Text, nullable=False),
    Column("md5", Text),
    Column("components", Integer),
    Column("attributes", JSONB, nullable=False),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
)

storage_chunk = Table(
    "storage_chunk",
    metadata,
    *_of_bucket(),
    Column("content", BigInteger, primary_key=True),
    Column("start", BigInteger, primary_key=True),
    Column("bytes", LargeBinary, nullable=False),
)

storage_upload = Table(
    "storage_upload",
    metadata,
    *_of_bucket(),
    Column("upload_id", Text, primary_key=True),
    Column("content", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("attributes", JSONB, nullable=False),
    Column("checksums", JSONB, nullable=False),
    Column("conditions", JSONB, nullable=False),
    time_column("began_at", nullable=False),
    Column("total", BigInteger),
    Column("received", BigInteger, nullable=False),
    Column("generation", BigInteger),
)
