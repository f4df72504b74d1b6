"""Cluster scheduler configs, compute quotas, and their versions."""

from sqlalchemy import Column, Index, Integer, Table
from sqlalchemy.dialects.postgresql import JSONB

from app.store.tables.base import TENANT, Text, metadata, tenant, time_column

governance = Table(
    "governance",
    metadata,
    *tenant(),
    Column("kind", Text, primary_key=True),
    Column("resource_id", Text, primary_key=True),
    Column("cluster_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("team", Text),
    time_column("created_at", nullable=False),
    time_column("begun_at", nullable=False),
    time_column("settles_at", nullable=False),
    Column("doing", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("failure", Text),
    time_column("vanishes_at"),
    Column("version", Integer, nullable=False),
    Column("stable_version", Integer),
    Column("operations", Integer, nullable=False),
    Column("spec", JSONB, nullable=False),
    Index("ix_governance_cluster", *TENANT, "cluster_id", "kind", "name"),
    Index("ix_governance_created", *TENANT, "kind", "created_at", "resource_id"),
    Index("ix_governance_settles", "world", "settles_at"),
)

governance_version = Table(
    "governance_version",
    metadata,
    *tenant(),
    Column("kind", Text, primary_key=True),
    Column("resource_id", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    time_column("begun_at", nullable=False),
    Column("outcome", Text, nullable=False),
    Column("failure", Text),
    Column("spec", JSONB, nullable=False),
)
