"""The initial schema."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "capacity_change",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("zone", sa.Text(collation="C"), nullable=False),
        sa.Column("instance_type", sa.Text(collation="C"), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("world", "at", "region", "zone", "instance_type", name=op.f("pk_capacity_change")),
    )
    op.create_table(
        "capacity_pool",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("zone", sa.Text(collation="C"), nullable=False),
        sa.Column("instance_type", sa.Text(collation="C"), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("freed_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("used >= 0 AND total >= 0", name=op.f("ck_capacity_pool_counts")),
        sa.PrimaryKeyConstraint("world", "region", "zone", "instance_type", name=op.f("pk_capacity_pool")),
    )
    op.create_table(
        "capacity_wake",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("instance_type", sa.Text(collation="C"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("times", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.PrimaryKeyConstraint("world", "region", "instance_type", name=op.f("pk_capacity_wake")),
    )
    op.create_table(
        "cluster",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster_id", sa.Text(collation="C"), nullable=False),
        sa.Column("name", sa.Text(collation="C"), nullable=False),
        sa.Column("continuous", sa.Boolean(), nullable=False),
        sa.Column("orchestrator", sa.Text(collation="C"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("opens_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("controller_ready_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("in_service_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failure_message", sa.Text(collation="C"), nullable=True),
        sa.Column("rolling_back_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delete_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deletion_begun_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("operation", sa.Text(collation="C"), nullable=True),
        sa.Column("event_seq", sa.BigInteger(), nullable=False),
        sa.Column("eks_arn", sa.Text(collation="C"), nullable=True),
        sa.Column("spec", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "past_ordinals", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False
        ),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("not_before_wall", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(collation="C"), nullable=True),
        sa.PrimaryKeyConstraint("world", "account", "region", "cluster_id", name=op.f("pk_cluster")),
    )
    op.create_index(
        "ix_cluster_created",
        "cluster",
        ["world", "account", "region", "created_at", "cluster_id"],
        unique=False,
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_index("ix_cluster_name", "cluster", ["world", "account", "region", "name"], unique=False)
    op.create_index(
        "ix_cluster_due", "cluster", ["world", "due_at"], unique=False, postgresql_where=sa.text("due_at IS NOT NULL")
    )
    op.create_index(
        "uq_cluster_live_eks",
        "cluster",
        ["world", "account", "region", "eks_arn"],
        unique=True,
        postgresql_where=sa.text("deleted_at IS NULL AND eks_arn IS NOT NULL"),
    )
    op.create_index(
        "uq_cluster_live_name",
        "cluster",
        ["world", "account", "region", "name"],
        unique=True,
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_table(
        "cluster_event",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster_id", sa.Text(collation="C"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(collation="C"), nullable=False),
        sa.Column("group_name", sa.Text(collation="C"), nullable=True),
        sa.Column("instance_id", sa.Text(collation="C"), nullable=True),
        sa.Column("logical_id", sa.Text(collation="C"), nullable=True),
        sa.Column("params", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.PrimaryKeyConstraint("world", "account", "region", "cluster_id", "at", "seq", name=op.f("pk_cluster_event")),
    )
    op.create_table(
        "fault_hit",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("rule_id", sa.Text(collation="C"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("effect", sa.Text(collation="C"), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster", sa.Text(collation="C"), nullable=False),
        sa.Column("group_name", sa.Text(collation="C"), nullable=False),
        sa.Column("logical_id", sa.Text(collation="C"), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("world", "rule_id", "number", name=op.f("pk_fault_hit")),
    )
    op.create_table(
        "fault_rule",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("rule_id", sa.Text(collation="C"), nullable=False),
        sa.Column("effect", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=True),
        sa.Column("region", sa.Text(collation="C"), nullable=True),
        sa.Column("cluster", sa.Text(collation="C"), nullable=True),
        sa.Column("group_name", sa.Text(collation="C"), nullable=True),
        sa.Column("instance_type", sa.Text(collation="C"), nullable=True),
        sa.Column("node", sa.Text(collation="C"), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=True),
        sa.Column("probability", sa.Integer(), nullable=False),
        sa.Column("every", sa.Integer(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=True),
        sa.Column("after", sa.DateTime(timezone=True), nullable=True),
        sa.Column("before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("seconds", sa.Integer(), nullable=True),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("hits", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("world", "rule_id", name=op.f("pk_fault_rule")),
    )
    op.create_table(
        "idempotency",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("operation", sa.Text(collation="C"), nullable=False),
        sa.Column("token", sa.Text(collation="C"), nullable=False),
        sa.Column("request_hash", sa.Text(collation="C"), nullable=False),
        sa.Column("answer", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("world", "account", "region", "operation", "token", name=op.f("pk_idempotency")),
    )
    op.create_table(
        "instance",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster_id", sa.Text(collation="C"), nullable=False),
        sa.Column("group_name", sa.Text(collation="C"), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("logical_id", sa.Text(collation="C"), nullable=False),
        sa.Column("instance_type", sa.Text(collation="C"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("listed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.Text(collation="C"), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("instance_id", sa.Text(collation="C"), nullable=True),
        sa.Column("zone", sa.Text(collation="C"), nullable=True),
        sa.Column("launch_after", sa.DateTime(timezone=True), nullable=True),
        sa.Column("launched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("boot_after", sa.DateTime(timezone=True), nullable=True),
        sa.Column("script_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("script_returns_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deep_check_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("launch_fault_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("unhealthy_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("script_fault_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("script_hang_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("terminate_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("echo_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("waiting_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("message", sa.Text(collation="C"), nullable=True),
        sa.Column("billings", sa.Integer(), nullable=False),
        sa.Column("billed_from", sa.DateTime(timezone=True), nullable=True),
        sa.Column("billed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("wish", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint(
            "world", "account", "region", "cluster_id", "group_name", "ordinal", name=op.f("pk_instance")
        ),
    )
    op.create_index(
        "ix_instance_created",
        "instance",
        ["world", "account", "region", "cluster_id", "created_at", "logical_id"],
        unique=False,
    )
    op.create_index(
        "ix_instance_due",
        "instance",
        ["world", "account", "region", "cluster_id", "due_at"],
        unique=False,
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_index(
        "ix_instance_held",
        "instance",
        ["world", "region", "instance_type"],
        unique=False,
        postgresql_where=sa.text("zone IS NOT NULL"),
    )
    op.create_index(
        "ix_instance_id",
        "instance",
        ["world", "account", "region", "cluster_id", "instance_id"],
        unique=False,
        postgresql_where=sa.text("instance_id IS NOT NULL"),
    )
    op.create_index(
        "ix_instance_waiting",
        "instance",
        ["world", "region", "instance_type", "waiting_since"],
        unique=False,
        postgresql_where=sa.text("waiting_since IS NOT NULL"),
    )
    op.create_index(
        "uq_instance_logical_id", "instance", ["world", "account", "region", "cluster_id", "logical_id"], unique=True
    )
    op.create_table(
        "instance_group",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster_id", sa.Text(collation="C"), nullable=False),
        sa.Column("name", sa.Text(collation="C"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("instance_types", postgresql.ARRAY(sa.Text(collation="C")), nullable=False),
        sa.Column("node_type", sa.Text(collation="C"), nullable=True),
        sa.Column("target", sa.Integer(), nullable=False),
        sa.Column("minimum", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("has_script", sa.Boolean(), nullable=False),
        sa.Column("deep_check", sa.Boolean(), nullable=False),
        sa.Column("zones", postgresql.ARRAY(sa.Text(collation="C")), nullable=False),
        sa.Column("own_network", sa.Boolean(), nullable=False),
        sa.Column("in_service_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("min_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stable_target", sa.Integer(), nullable=False),
        sa.Column("stable_min", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("current", sa.Integer(), nullable=False),
        sa.Column("next_ordinal", sa.Integer(), nullable=False),
        sa.Column("operation", sa.Text(collation="C"), nullable=True),
        sa.Column("delete_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deletion_begun_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("training_plan", sa.Text(collation="C"), nullable=True),
        sa.Column("spec", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.CheckConstraint(
            "0 <= current AND current <= rows AND 0 <= slots AND slots <= rows", name=op.f("ck_instance_group_counts")
        ),
        sa.CheckConstraint("0 <= minimum AND minimum <= target", name=op.f("ck_instance_group_minimum")),
        sa.PrimaryKeyConstraint("world", "account", "region", "cluster_id", "name", name=op.f("pk_instance_group")),
    )
    op.create_index(
        "ix_instance_group_plan",
        "instance_group",
        ["world", "account", "region", "cluster_id", "training_plan"],
        unique=False,
        postgresql_where=sa.text("training_plan IS NOT NULL"),
    )
    op.create_table(
        "lease",
        sa.Column("name", sa.Text(collation="C"), nullable=False),
        sa.Column("owner", sa.Text(collation="C"), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("until_wall", sa.DateTime(timezone=True), nullable=False),
        sa.Column("passes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_lease")),
    )
    op.create_table(
        "ledger",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster_id", sa.Text(collation="C"), nullable=False),
        sa.Column("logical_id", sa.Text(collation="C"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("instance_id", sa.Text(collation="C"), nullable=False),
        sa.Column("group_name", sa.Text(collation="C"), nullable=False),
        sa.Column("instance_type", sa.Text(collation="C"), nullable=False),
        sa.Column("micro_usd_per_hour", sa.BigInteger(), nullable=False),
        sa.Column("price_evidence", sa.Text(collation="C"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("previous_number", sa.Integer(), nullable=True),
        sa.Column("previous_end", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(number = 1 AND previous_number IS NULL) OR "
            "(previous_number = number - 1 AND previous_number IS NOT NULL AND previous_end IS NOT NULL)",
            name=op.f("ck_ledger_chain"),
        ),
        sa.CheckConstraint("ended_at >= started_at", name=op.f("ck_ledger_forward")),
        sa.CheckConstraint("started_at >= previous_end", name=op.f("ck_ledger_no_overlap")),
        sa.ForeignKeyConstraint(
            ["world", "account", "region", "cluster_id", "logical_id", "previous_number", "previous_end"],
            [
                "ledger.world",
                "ledger.account",
                "ledger.region",
                "ledger.cluster_id",
                "ledger.logical_id",
                "ledger.number",
                "ledger.ended_at",
            ],
            name="fk_ledger_chain",
        ),
        sa.PrimaryKeyConstraint(
            "world", "account", "region", "cluster_id", "logical_id", "number", name=op.f("pk_ledger")
        ),
        sa.UniqueConstraint(
            "world", "account", "region", "cluster_id", "logical_id", "number", "ended_at", name="uq_ledger_chain"
        ),
    )
    op.create_index(
        "uq_ledger_open",
        "ledger",
        ["world", "account", "region", "cluster_id", "logical_id"],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_table(
        "outbox",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster_id", sa.Text(collation="C"), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("detail_type", sa.Text(collation="C"), nullable=False),
        sa.Column("detail", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.PrimaryKeyConstraint("world", "account", "region", "cluster_id", "seq", name=op.f("pk_outbox")),
    )
    op.create_table(
        "price_override",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("instance_type", sa.Text(collation="C"), nullable=False),
        sa.Column("micro_usd_per_hour", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("micro_usd_per_hour >= 0", name=op.f("ck_price_override_price")),
        sa.PrimaryKeyConstraint("world", "region", "instance_type", name=op.f("pk_price_override")),
    )
    op.create_table(
        "process",
        sa.Column("name", sa.Text(collation="C"), nullable=False),
        sa.Column("kind", sa.Text(collation="C"), nullable=False),
        sa.Column("started_wall", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_wall", sa.DateTime(timezone=True), nullable=False),
        sa.Column("passes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_process")),
    )
    op.create_table(
        "pulse",
        sa.Column("one", sa.Boolean(), nullable=False),
        sa.Column("seen_wall", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("one", name=op.f("ck_pulse_single")),
        sa.PrimaryKeyConstraint("one", name=op.f("pk_pulse")),
    )
    op.create_table(
        "quota",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("name", sa.Text(collation="C"), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("world", "account", "region", "name", name=op.f("pk_quota")),
    )
    op.create_table(
        "tag",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("arn", sa.Text(collation="C"), nullable=False),
        sa.Column("key", sa.Text(collation="C"), nullable=False),
        sa.Column("value", sa.Text(collation="C"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("world", "account", "region", "arn", "key", name=op.f("pk_tag")),
    )
    op.create_table(
        "world",
        sa.Column("name", sa.Text(collation="C"), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("profile", sa.Text(collation="C"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("base", sa.DateTime(timezone=True), nullable=False),
        sa.Column("base_wall", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rate", sa.Double(), nullable=False),
        sa.Column("frozen", sa.Boolean(), nullable=False),
        sa.Column("lease_owner", sa.Text(collation="C"), nullable=True),
        sa.Column("lease_epoch", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("lease_until_wall", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("rate > 0", name=op.f("ck_world_rate")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_world")),
    )


def downgrade() -> None:
    op.drop_table("world")
    op.drop_table("tag")
    op.drop_table("quota")
    op.drop_table("pulse")
    op.drop_table("process")
    op.drop_table("price_override")
    op.drop_table("outbox")
    op.drop_index("uq_ledger_open", table_name="ledger", postgresql_where=sa.text("ended_at IS NULL"))
    op.drop_table("ledger")
    op.drop_table("lease")
    op.drop_index(
        "ix_instance_group_plan", table_name="instance_group", postgresql_where=sa.text("training_plan IS NOT NULL")
    )
    op.drop_table("instance_group")
    op.drop_index("uq_instance_logical_id", table_name="instance")
    op.drop_index("ix_instance_waiting", table_name="instance", postgresql_where=sa.text("waiting_since IS NOT NULL"))
    op.drop_index("ix_instance_id", table_name="instance", postgresql_where=sa.text("instance_id IS NOT NULL"))
    op.drop_index("ix_instance_held", table_name="instance", postgresql_where=sa.text("zone IS NOT NULL"))
    op.drop_index("ix_instance_due", table_name="instance", postgresql_where=sa.text("due_at IS NOT NULL"))
    op.drop_index("ix_instance_created", table_name="instance")
    op.drop_table("instance")
    op.drop_table("idempotency")
    op.drop_table("fault_rule")
    op.drop_table("fault_hit")
    op.drop_table("cluster_event")
    op.drop_index("uq_cluster_live_name", table_name="cluster", postgresql_where=sa.text("deleted_at IS NULL"))
    op.drop_index(
        "uq_cluster_live_eks",
        table_name="cluster",
        postgresql_where=sa.text("deleted_at IS NULL AND eks_arn IS NOT NULL"),
    )
    op.drop_index("ix_cluster_name", table_name="cluster")
    op.drop_index("ix_cluster_due", table_name="cluster", postgresql_where=sa.text("due_at IS NOT NULL"))
    op.drop_index("ix_cluster_created", table_name="cluster", postgresql_where=sa.text("deleted_at IS NULL"))
    op.drop_table("cluster")
    op.drop_table("capacity_wake")
    op.drop_table("capacity_pool")
    op.drop_table("capacity_change")
