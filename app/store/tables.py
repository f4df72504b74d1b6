"""Every table. The world leads every key, then account and region, so that the database can be sharded by account.

Times are `timestamptz` in UTC. Columns named `*_wall` and leases hold wall time; all others hold the world's time.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    UniqueConstraint,
    text,
)
from sqlalchemy import Text as AnyText
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

Text = AnyText(collation="C")
"""Sorted by code point in every database, so that equal worlds are equal whatever the server's locale."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _time(name: str, nullable: bool = True) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=nullable)


def _tenant() -> list[Column[str]]:
    """World, account and region: the head of every key of what an account owns."""
    return [Column(name, Text, primary_key=True) for name in ("world", "account", "region")]


TENANT = ("world", "account", "region")
CLUSTER_KEY = (*TENANT, "cluster_id")

world = Table(
    "world",
    metadata,
    Column("name", Text, primary_key=True),
    Column("seed", BigInteger, nullable=False),
    Column("profile", Text, nullable=False),
    _time("started_at", nullable=False),
    _time("base", nullable=False),
    _time("base_wall", nullable=False),
    Column("rate", Double, nullable=False),
    Column("frozen", Boolean, nullable=False),
    Column("lease_owner", Text),
    Column("lease_epoch", BigInteger, nullable=False, server_default=text("0")),
    _time("lease_until_wall"),
    CheckConstraint("rate > 0", name="rate"),
)

cluster = Table(
    "cluster",
    metadata,
    *_tenant(),
    Column("cluster_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("continuous", Boolean, nullable=False),
    Column("orchestrator", Text, nullable=False),
    _time("created_at", nullable=False),
    _time("opens_at", nullable=False),
    _time("opened_at"),
    _time("controller_ready_at"),
    _time("in_service_at"),
    _time("failed_at"),
    Column("failure_message", Text),
    _time("rolling_back_at"),
    _time("delete_requested_at"),
    _time("deletion_begun_at"),
    Column("operation", Text),
    Column("event_seq", BigInteger, nullable=False),
    Column("eks_arn", Text),
    Column("spec", JSONB, nullable=False),
    Column("past_ordinals", JSONB, nullable=False, server_default=text("'{}'")),
    _time("deleted_at"),
    _time("due_at"),
    Column("failures", Integer, nullable=False, server_default=text("0")),
    _time("not_before_wall"),
    Column("error", Text),
    Index("uq_cluster_live_name", *TENANT, "name", unique=True, postgresql_where=text("deleted_at IS NULL")),
    Index(
        "uq_cluster_live_eks",
        *TENANT,
        "eks_arn",
        unique=True,
        postgresql_where=text("deleted_at IS NULL AND eks_arn IS NOT NULL"),
    ),
    Index("ix_cluster_name", *TENANT, "name"),
    Index("ix_cluster_due", "world", "due_at", postgresql_where=text("due_at IS NOT NULL")),
    Index("ix_cluster_created", *TENANT, "created_at", "cluster_id", postgresql_where=text("deleted_at IS NULL")),
)

instance_group = Table(
    "instance_group",
    metadata,
    *_tenant(),
    Column("cluster_id", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("instance_types", ARRAY(Text), nullable=False),
    Column("node_type", Text),
    Column("target", Integer, nullable=False),
    Column("minimum", Integer, nullable=False),
    _time("created_at", nullable=False),
    Column("has_script", Boolean, nullable=False),
    Column("deep_check", Boolean, nullable=False),
    Column("zones", ARRAY(Text), nullable=False),
    Column("own_network", Boolean, nullable=False),
    _time("in_service_at"),
    _time("min_since"),
    Column("stable_target", Integer, nullable=False),
    Column("stable_min", Integer, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("current", Integer, nullable=False),
    Column("next_ordinal", Integer, nullable=False),
    Column("operation", Text),
    _time("delete_requested_at"),
    _time("deletion_begun_at"),
    Column("training_plan", Text),
    Column("spec", JSONB, nullable=False),
    Index("ix_instance_group_plan", *CLUSTER_KEY, "training_plan", postgresql_where=text("training_plan IS NOT NULL")),
    CheckConstraint("0 <= current AND current <= rows AND 0 <= slots AND slots <= rows", name="counts"),
    CheckConstraint("0 <= minimum AND minimum <= target", name="minimum"),
)

instance = Table(
    "instance",
    metadata,
    *_tenant(),
    Column("cluster_id", Text, primary_key=True),
    Column("group_name", Text, primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("logical_id", Text, nullable=False),
    Column("instance_type", Text, nullable=False),
    _time("created_at", nullable=False),
    _time("listed_at", nullable=False),
    Column("status", Text, nullable=False),
    _time("since", nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("instance_id", Text),
    Column("zone", Text),
    _time("launch_after"),
    _time("launched_at"),
    _time("boot_after"),
    _time("script_at"),
    _time("script_returns_at"),
    _time("deep_check_at"),
    _time("launch_fault_at"),
    _time("unhealthy_at"),
    _time("script_fault_at"),
    _time("script_hang_at"),
    _time("terminate_at"),
    _time("echo_at"),
    _time("waiting_since"),
    Column("message", Text),
    Column("billings", Integer, nullable=False),
    _time("billed_from"),
    _time("billed_until"),
    Column("wish", JSONB),
    _time("due_at"),
    Index("uq_instance_logical_id", *CLUSTER_KEY, "logical_id", unique=True),
    Index("ix_instance_due", *CLUSTER_KEY, "due_at", postgresql_where=text("due_at IS NOT NULL")),
    Index("ix_instance_created", *CLUSTER_KEY, "created_at", "logical_id"),
    Index("ix_instance_id", *CLUSTER_KEY, "instance_id", postgresql_where=text("instance_id IS NOT NULL")),
    Index(
        "ix_instance_waiting",
        "world",
        "region",
        "instance_type",
        "waiting_since",
        postgresql_where=text("waiting_since IS NOT NULL"),
    ),
    Index("ix_instance_held", "world", "region", "instance_type", postgresql_where=text("zone IS NOT NULL")),
)

cluster_event = Table(
    "cluster_event",
    metadata,
    *_tenant(),
    Column("cluster_id", Text, primary_key=True),
    Column("at", DateTime(timezone=True), primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("group_name", Text),
    Column("instance_id", Text),
    Column("logical_id", Text),
    Column("params", JSONB, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    *_tenant(),
    Column("cluster_id", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    _time("at", nullable=False),
    Column("detail_type", Text, nullable=False),
    Column("detail", JSONB, nullable=False),
)

ledger = Table(
    "ledger",
    metadata,
    *_tenant(),
    Column("cluster_id", Text, primary_key=True),
    Column("logical_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("instance_id", Text, nullable=False),
    Column("group_name", Text, nullable=False),
    Column("instance_type", Text, nullable=False),
    Column("micro_usd_per_hour", BigInteger, nullable=False),
    Column("price_evidence", Text, nullable=False),
    _time("started_at", nullable=False),
    _time("ended_at"),
    Column("previous_number", Integer),
    _time("previous_end"),
    UniqueConstraint(*CLUSTER_KEY, "logical_id", "number", "ended_at", name="uq_ledger_chain"),
    ForeignKeyConstraint(
        [*CLUSTER_KEY, "logical_id", "previous_number", "previous_end"],
        [f"ledger.{name}" for name in (*CLUSTER_KEY, "logical_id", "number", "ended_at")],
        name="fk_ledger_chain",
    ),
    CheckConstraint("ended_at >= started_at", name="forward"),
    CheckConstraint("started_at >= previous_end", name="no_overlap"),
    CheckConstraint(
        "(number = 1 AND previous_number IS NULL) OR "
        "(previous_number = number - 1 AND previous_number IS NOT NULL AND previous_end IS NOT NULL)",
        name="chain",
    ),
    Index("uq_ledger_open", *CLUSTER_KEY, "logical_id", unique=True, postgresql_where=text("ended_at IS NULL")),
)

tag = Table(
    "tag",
    metadata,
    *_tenant(),
    Column("arn", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("position", Integer, nullable=False),
)

idempotency = Table(
    "idempotency",
    metadata,
    *_tenant(),
    Column("operation", Text, primary_key=True),
    Column("token", Text, primary_key=True),
    Column("request_hash", Text, nullable=False),
    Column("answer", JSONB, nullable=False),
    _time("expires_at", nullable=False),
)

quota = Table(
    "quota",
    metadata,
    *_tenant(),
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
    _time("freed_at"),
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
    _time("at", nullable=False),
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
    Column("probability", Integer, nullable=False),
    Column("every", Integer, nullable=False),
    Column("times", Integer),
    _time("after"),
    _time("before"),
    Column("seconds", Integer),
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
    _time("at", nullable=False),
    Column("account", Text, nullable=False),
    Column("region", Text, nullable=False),
    Column("cluster", Text, nullable=False),
    Column("group_name", Text, nullable=False),
    Column("logical_id", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
)

# The service's own rows: wall time, no world.

pulse = Table(
    "pulse",
    metadata,
    Column("one", Boolean, primary_key=True),
    _time("seen_wall", nullable=False),
    CheckConstraint("one", name="single"),
)

process = Table(
    "process",
    metadata,
    Column("name", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    _time("started_wall", nullable=False),
    _time("seen_wall", nullable=False),
    Column("passes", BigInteger, nullable=False),
)

lease = Table(
    "lease",
    metadata,
    Column("name", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    _time("until_wall", nullable=False),
    Column("passes", BigInteger, nullable=False),
)

WORLD_TABLES = [t for t in metadata.sorted_tables if "world" in t.c]
"""What a world owns, in an order in which rows can be inserted."""
