"""Cluster extensions, volumes, network interfaces, operations, nodes on the move."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("instance", sa.Column("move_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "cluster_operation",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster_id", sa.Text(collation="C"), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("operation_id", sa.Text(collation="C"), nullable=False),
        sa.Column("kind", sa.Text(collation="C"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("superseded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("details", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.CheckConstraint("done_at IS NULL OR superseded_at IS NULL", name=op.f("ck_cluster_operation_one_end")),
        sa.PrimaryKeyConstraint(
            "world", "account", "region", "cluster_id", "number", name=op.f("pk_cluster_operation")
        ),
    )
    op.create_index(
        "ix_cluster_operation_open",
        "cluster_operation",
        ["world", "account", "region", "cluster_id"],
        unique=False,
        postgresql_where=sa.text("done_at IS NULL AND superseded_at IS NULL"),
    )
    op.create_index(
        "uq_cluster_operation_id",
        "cluster_operation",
        ["world", "account", "region", "cluster_id", "operation_id"],
        unique=True,
    )
    op.create_table(
        "cluster_extension",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster_id", sa.Text(collation="C"), nullable=False),
        sa.Column("name", sa.Text(collation="C"), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("arn", sa.Text(collation="C"), nullable=False),
        sa.Column("version", sa.Text(collation="C"), nullable=False),
        sa.Column("settings", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("modified_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempt", sa.Text(collation="C"), nullable=False),
        sa.Column("delete_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failures", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("earlier", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("settles_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("world", "account", "region", "cluster_id", "name", name=op.f("pk_cluster_extension")),
    )
    op.create_index(
        "ix_cluster_extension_settles",
        "cluster_extension",
        ["world", "settles_at"],
        unique=False,
        postgresql_where=sa.text("settles_at IS NOT NULL"),
    )
    op.create_table(
        "node_volume",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("volume_id", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster_id", sa.Text(collation="C"), nullable=False),
        sa.Column("instance_id", sa.Text(collation="C"), nullable=False),
        sa.Column("device", sa.Text(collation="C"), nullable=False),
        sa.Column("attach_requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("detach_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("busy_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("settles_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("world", "account", "region", "volume_id", name=op.f("pk_node_volume")),
    )
    op.create_index(
        "ix_node_volume_node", "node_volume", ["world", "account", "region", "cluster_id", "instance_id"], unique=False
    )
    op.create_index(
        "ix_node_volume_settles",
        "node_volume",
        ["world", "settles_at"],
        unique=False,
        postgresql_where=sa.text("settles_at IS NOT NULL"),
    )
    op.create_table(
        "node_interface",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("interface_id", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster_id", sa.Text(collation="C"), nullable=False),
        sa.Column("instance_id", sa.Text(collation="C"), nullable=False),
        sa.Column("attachment_id", sa.Text(collation="C"), nullable=False),
        sa.Column("attached_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("world", "account", "region", "interface_id", name=op.f("pk_node_interface")),
    )
    op.create_index(
        "ix_node_interface_node",
        "node_interface",
        ["world", "account", "region", "cluster_id", "instance_id"],
        unique=False,
    )
    op.create_table(
        "node_move",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster_id", sa.Text(collation="C"), nullable=False),
        sa.Column("logical_id", sa.Text(collation="C"), nullable=False),
        sa.Column("group_name", sa.Text(collation="C"), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("arrives_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("instance_id", sa.Text(collation="C"), nullable=False),
        sa.Column("instance_type", sa.Text(collation="C"), nullable=False),
        sa.Column("zone", sa.Text(collation="C"), nullable=True),
        sa.Column("launched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("image", sa.Text(collation="C"), nullable=True),
        sa.Column("patched_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("world", "account", "region", "cluster_id", "logical_id", name=op.f("pk_node_move")),
    )
    op.create_index(
        "ix_node_move_arrives", "node_move", ["world", "account", "region", "cluster_id", "arrives_at"], unique=False
    )


def downgrade() -> None:
    op.drop_table("node_move")
    op.drop_table("node_interface")
    op.drop_table("node_volume")
    op.drop_table("cluster_extension")
    op.drop_table("cluster_operation")
    op.drop_column("instance", "move_at")
