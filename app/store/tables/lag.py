"""How late counts are shown, and what they were before."""

from sqlalchemy import Column, DateTime, Integer, Table

from app.store.tables.base import Text, metadata, tenant

read_lag = Table(
    "read_lag",
    metadata,
    Column("world", Text, primary_key=True),
    Column("shown", Text, primary_key=True),
    Column("seconds", Integer, nullable=False),
)

count_change = Table(
    "count_change",
    metadata,
    *tenant(),
    Column("cluster_id", Text, primary_key=True),
    Column("group_name", Text, primary_key=True),
    Column("at", DateTime(timezone=True), primary_key=True),
    Column("was", Integer, nullable=False),
)
