"""Google's long-running operations, and resources that are documents."""

from sqlalchemy import Column, Index, Table
from sqlalchemy.dialects.postgresql import JSONB

from app.store.tables.base import TENANT, Text, metadata, tenant, time_column

google_operation = Table(
    "google_operation",
    metadata,
    *tenant(),
    Column("operation_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("kind", Text, nullable=False),
    time_column("created_at", nullable=False),
    Column("response_kind", Text, nullable=False),
    Column("response", JSONB, nullable=False),
    Index("ix_google_operation_page", *TENANT, "created_at", "operation_id"),
)

google_document = Table(
    "google_document",
    metadata,
    *tenant(),
    Column("name", Text, primary_key=True),
    Column("collection", Text, nullable=False),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    Column("body", JSONB, nullable=False),
    Index("ix_google_document_page", *TENANT, "collection", "created_at", "name"),
)
