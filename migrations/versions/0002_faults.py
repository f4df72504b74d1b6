"""Faults of requests and of running nodes; how late counts are shown."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("operation", "api", "code", "message"):
        op.add_column("fault_rule", sa.Column(name, sa.Text(collation="C"), nullable=True))
    op.add_column("fault_rule", sa.Column("milliseconds", sa.Integer(), nullable=True))
    op.add_column("fault_rule", sa.Column("seed", sa.BigInteger(), nullable=True))
    # What was struck before was a launch, which is no operation.
    op.add_column("fault_hit", sa.Column("operation", sa.Text(collation="C"), nullable=False, server_default=""))
    op.alter_column("fault_hit", "operation", server_default=None)
    op.create_table(
        "read_lag",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("shown", sa.Text(collation="C"), nullable=False),
        sa.Column("seconds", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("world", "shown", name=op.f("pk_read_lag")),
    )
    key = ("world", "account", "region", "cluster_id", "group_name")
    op.create_table(
        "count_change",
        *(sa.Column(name, sa.Text(collation="C"), nullable=False) for name in key),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("was", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint(*key, "at", name=op.f("pk_count_change")),
    )


def downgrade() -> None:
    op.drop_table("count_change")
    op.drop_table("read_lag")
    op.drop_column("fault_hit", "operation")
    for name in ("seed", "milliseconds", "message", "code", "api", "operation"):
        op.drop_column("fault_rule", name)
