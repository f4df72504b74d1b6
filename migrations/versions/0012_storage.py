"""Cloud Storage."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_TEXT = sa.Text(collation="C")
_TIME = sa.DateTime(timezone=True)


def _table(name: str, key: tuple[str, ...], *columns: "sa.Column[object]") -> None:
    op.create_table(name, *columns, sa.PrimaryKeyConstraint(*key, name=f"pk_{name}"))


def _column(name: str, kind: "sa.types.TypeEngine[object]", nullable: bool = False) -> "sa.Column[object]":
    return sa.Column(name, kind, nullable=nullable)


def upgrade() -> None:
    _table(
        "storage_bucket",
        ("world", "name"),
        *(_column(name, _TEXT) for name in ("world", "name", "project", "location", "storage_class")),
        _column("labels", JSONB()),
        _column("created_at", _TIME),
        _column("generation", sa.BigInteger()),
    )
    op.create_index("ix_storage_bucket_project", "storage_bucket", ["world", "project", "name"])
    _table(
        "storage_object",
        ("world", "bucket", "name"),
        *(_column(name, _TEXT) for name in ("world", "bucket", "name")),
        *(_column(name, sa.BigInteger()) for name in ("generation", "metageneration", "content", "size")),
        _column("crc32c", _TEXT),
        _column("md5", _TEXT, nullable=True),
        _column("components", sa.Integer(), nullable=True),
        _column("attributes", JSONB()),
        _column("created_at", _TIME),
        _column("updated_at", _TIME),
    )
    _table(
        "storage_chunk",
        ("world", "bucket", "content", "start"),
        *(_column(name, _TEXT) for name in ("world", "bucket")),
        *(_column(name, sa.BigInteger()) for name in ("content", "start")),
        _column("bytes", sa.LargeBinary()),
    )
    # Most bytes are compressed or random already: to try again would take longer than to write them.
    op.execute("ALTER TABLE storage_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL")
    _table(
        "storage_upload",
        ("world", "bucket", "upload_id"),
        *(_column(name, _TEXT) for name in ("world", "bucket", "upload_id")),
        _column("content", sa.BigInteger()),
        _column("name", _TEXT),
        *(_column(name, JSONB()) for name in ("attributes", "checksums", "conditions")),
        _column("began_at", _TIME),
        _column("total", sa.BigInteger(), nullable=True),
        _column("received", sa.BigInteger()),
        _column("generation", sa.BigInteger(), nullable=True),
    )


def downgrade() -> None:
    for table in ("storage_upload", "storage_chunk", "storage_object", "storage_bucket"):
        op.drop_table(table)
