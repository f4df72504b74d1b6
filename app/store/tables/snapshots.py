"""Named snapshots of worlds: what their clocks were. Their rows lie among those of worlds, under a name of no world."""

from sqlalchemy import BigInteger, Boolean, Column, Double, Table

from app.store.tables.base import Text, metadata, time_column

# The first column is not called `world`: a snapshot is no part of its world, which it outlives through a reset.
snapshot = Table(
    "snapshot",
    metadata,
    Column("of_world", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("seed", BigInteger, nullable=False),
    Column("profile", Text, nullable=False),
    time_column("started_at", nullable=False),
    Column("rate", Double, nullable=False),
    Column("frozen", Boolean, nullable=False),
    time_column("at", nullable=False),
)
