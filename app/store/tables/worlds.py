"""Worlds and what they consist of besides clusters."""

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, DateTime, Double, Integer, Table, text
from sqlalchemy.dialects.postgresql import JSONB

from app.store.tables.base import Text, metadata, tenant, time_column

world = Table(
    "world",
    metadata,
    Column("name", Text, primary_key=True),
    Column("seed", BigInteger, nullable=False),
    Column("profile", Text, nullable=False),
    time_column("started_at", nullable=False),
    time_column("base", nullable=False),
    time_column("base_wall", nullable=False),
    Column("rate", Double, nullable=False),
    Column("frozen", Boolean, nullable=False),
    Column("lease_owner", Text),
    Column("lease_epoch", BigInteger, nullable=False, server_default=text("0")),
    time_column("lease_until_wall"),
    CheckConstraint("rate > 0", name="rate"),
)

tag = Table(
    "tag",
    metadata,
    *tenant(),
    Column("arn", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("position", Integer, nullable=False),
)

idempotency = Table(
    "idempotency",
    metadata,
    *tenant(),
    Column("operation", Text, primary_key=True),
    Column("token", Text, primary_key=True),
    Column("request_hash", Text, nullable=False),
    Column("answer", JSONB, nullable=False),
    time_column("expires_at", nullable=False),
)

quota = Table(
    "quota",
    metadata,
    *tenant(),
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

capacity_pool = Table(
    "capacity_pool",
    metadata,
    Column("world", Text, primary_key=True),
    Column("region", Text, primary_key=True),
    Column("zone", Text, primary_key=True),
    Column("instance_type", Text, primary_key=True),
    Column("total", Integer, nullable=False),
    Column("used", Integer, nullable=False),
    time_column("freed_at"),
    CheckConstraint("used >= 0 AND total >= 0", name="counts"),
)

capacity_change = Table(
    "capacity_change",
    metadata,
    Column("world", Text, primary_key=True),
    Column("at", DateTime(timezone=True), primary_key=True),
    Column("region", Text, primary_key=True),
    Column("zone", Text, primary_key=True),
    Column("instance_type", Text, primary_key=True),
    Column("total", Integer),
)

capacity_wake = Table(
    "capacity_wake",
    metadata,
    Column("world", Text, primary_key=True),
    Column("region", Text, primary_key=True),
    Column("instance_type", Text, primary_key=True),
    time_column("at", nullable=False),
    Column("times", Integer, nullable=False, server_default=text("1")),
)

price_override = Table(
    "price_override",
    metadata,
    Column("world", Text, primary_key=True),
    Column("region", Text, primary_key=True),
    Column("instance_type", Text, primary_key=True),
    Column("micro_usd_per_hour", BigInteger, nullable=False),
    CheckConstraint("micro_usd_per_hour >= 0", name="price"),
)

fault_rule = Table(
    "fault_rule",
    metadata,
    Column("world", Text, primary_key=True),
    Column("rule_id", Text, primary_key=True),
    Column("effect", Text, nullable=False),
    Column("account", Text),
    Column("region", Text),
    Column("cluster", Text),
    Column("group_name", Text),
    Column("instance_type", Text),
    Column("node", Text),
    Column("attempt", Integer),
    Column("operation", Text),
    Column("api", Text),
    Column("job", Text),
    Column("replica", Text),
    Column("code", Text),
    Column("message", Text),
    Column("probability", Integer, nullable=False),
    Column("every", Integer, nullable=False),
    Column("times", Integer),
    time_column("after"),
    time_column("before"),
    Column("seconds", Integer),
    Column("milliseconds", Integer),
    Column("seed", BigInteger),
    Column("matches", Integer, nullable=False),
    Column("hits", Integer, nullable=False),
)

fault_hit = Table(
    "fault_hit",
    metadata,
    Column("world", Text, primary_key=True),
    Column("rule_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("effect", Text, nullable=False),
    time_column("at", nullable=False),
    Column("account", Text, nullable=False),
    Column("region", Text, nullable=False),
    Column("cluster", Text, nullable=False),
    Column("group_name", Text, nullable=False),
    Column("logical_id", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("operation", Text, nullable=False),
)
