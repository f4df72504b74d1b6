"""The service's own rows: wall time, no world."""

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Table

from app.store.tables.base import Text, metadata, time_column

pulse = Table(
    "pulse",
    metadata,
    Column("one", Boolean, primary_key=True),
    time_column("seen_wall", nullable=False),
    CheckConstraint("one", name="single"),
)

process = Table(
    "process",
    metadata,
    Column("name", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    time_column("started_wall", nullable=False),
    time_column("seen_wall", nullable=False),
    Column("passes", BigInteger, nullable=False),
)

lease = Table(
    "lease",
    metadata,
    Column("name", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    time_column("until_wall", nullable=False),
    Column("passes", BigInteger, nullable=False),
)
