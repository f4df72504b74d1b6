"""Training plans that were bought, their reserved capacities and extensions."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Integer, Table

from app.store.tables.base import TENANT, Text, metadata, tenant, time_column

training_plan = Table(
    "training_plan",
    metadata,
    *tenant(),
    Column("name", Text, primary_key=True),
    Column("target", Text, nullable=False),
    Column("instance_type", Text, nullable=False),
    Column("total", Integer, nullable=False),
    Column("ultra_type", Text, nullable=False),
    Column("ultra_count", Integer, nullable=False),
    Column("spares", Integer, nullable=False),
    Column("zone", Text, nullable=False),
    time_column("created_at", nullable=False),
    time_column("settles_at", nullable=False),
    time_column("declined_at"),
    Column("failure", Text),
    Column("fee", BigInteger, nullable=False),
    Column("fee_evidence", Text, nullable=False),
    time_column("starts_at", nullable=False),
    time_column("ends_at", nullable=False),
    CheckConstraint("0 <= spares AND spares * ultra_count < total", name="spares"),
    Index("ix_training_plan_starts", *TENANT, "starts_at", "name"),
)

reserved_capacity = Table(
    "reserved_capacity",
    metadata,
    *tenant(),
    Column("plan", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("reservation_id", Text, nullable=False),
    time_column("starts_at", nullable=False),
    time_column("ends_at", nullable=False),
    Index("uq_reserved_capacity_id", *TENANT, "reservation_id", unique=True),
)

plan_extension = Table(
    "plan_extension",
    metadata,
    *tenant(),
    Column("plan", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("offering_id", Text, nullable=False),
    time_column("extended_at", nullable=False),
    time_column("starts_at", nullable=False),
    time_column("ends_at", nullable=False),
    time_column("declined_at"),
    Column("fee", BigInteger, nullable=False),
    Column("fee_evidence", Text, nullable=False),
)
