"""What hangs on clusters and nodes: operations, extensions, volumes, network interfaces, nodes on the move."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Integer, Table, text
from sqlalchemy.dialects.postgresql import JSONB

from app.store.tables.base import CLUSTER_KEY, Text, metadata, tenant, time_column

cluster_operation = Table(
    "cluster_operation",
    metadata,
    *tenant(),
    Column("cluster_id", Text, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("operation_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    time_column("created_at", nullable=False),
    time_column("done_at"),
    time_column("superseded_at"),
    Column("details", JSONB, nullable=False),
    Index("uq_cluster_operation_id", *CLUSTER_KEY, "operation_id", unique=True),
    Index(
        "ix_cluster_operation_open",
        *CLUSTER_KEY,
        postgresql_where=text("done_at IS NULL AND superseded_at IS NULL"),
    ),
    CheckConstraint("done_at IS NULL OR superseded_at IS NULL", name="one_end"),
)

cluster_extension = Table(
    "cluster_extension",
    metadata,
    *tenant(),
    Column("cluster_id", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("generation", Integer, nullable=False),
    Column("arn", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("settings", JSONB, nullable=False),
    time_column("created_at", nullable=False),
    time_column("modified_at", nullable=False),
    time_column("changed_at", nullable=False),
    time_column("tried_at", nullable=False),
    Column("attempt", Text, nullable=False),
    time_column("delete_requested_at"),
    Column("failures", JSONB, nullable=False),
    Column("earlier", JSONB, nullable=False),
    time_column("settles_at"),
    Index("ix_cluster_extension_settles", "world", "settles_at", postgresql_where=text("settles_at IS NOT NULL")),
)

node_volume = Table(
    "node_volume",
    metadata,
    *tenant(),
    Column("volume_id", Text, primary_key=True),
    Column("cluster_id", Text, nullable=False),
    Column("instance_id", Text, nullable=False),
    Column("device", Text, nullable=False),
    time_column("attach_requested_at", nullable=False),
    time_column("detach_requested_at"),
    time_column("busy_at"),
    time_column("settles_at"),
    Index("ix_node_volume_node", *CLUSTER_KEY, "instance_id"),
    Index("ix_node_volume_settles", "world", "settles_at", postgresql_where=text("settles_at IS NOT NULL")),
)

node_interface = Table(
    "node_interface",
    metadata,
    *tenant(),
    Column("interface_id", Text, primary_key=True),
    Column("cluster_id", Text, nullable=False),
    Column("instance_id", Text, nullable=False),
    Column("attachment_id", Text, nullable=False),
    time_column("attached_at", nullable=False),
    Index("ix_node_interface_node", *CLUSTER_KEY, "instance_id"),
)

node_move = Table(
    "node_move",
    metadata,
    *tenant(),
    Column("cluster_id", Text, primary_key=True),
    Column("logical_id", Text, primary_key=True),
    Column("group_name", Text, nullable=False),
    Column("ordinal", Integer, nullable=False),
    time_column("arrives_at", nullable=False),
    time_column("created_at", nullable=False),
    Column("instance_id", Text, nullable=False),
    Column("instance_type", Text, nullable=False),
    Column("zone", Text),
    time_column("launched_at"),
    Column("attempt", Integer, nullable=False),
    Column("image", Text),
    time_column("patched_at"),
    Index("ix_node_move_arrives", *CLUSTER_KEY, "arrives_at"),
)
