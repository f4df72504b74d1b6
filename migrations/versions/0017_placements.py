"""Jobs on the nodes of clusters."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0010"
branch_labels = None
depends_on = None

_TEXT = sa.Text(collation="C")
_CLUSTER = ("world", "account", "region", "cluster_id")
_REPLICA = ("project", "location", "job_id", "replica")


def upgrade() -> None:
    op.add_column("cluster", sa.Column("hosts", sa.Boolean(), nullable=False, server_default=sa.text("false")))
    op.create_table(
        "placement",
        *(sa.Column(name, _TEXT, nullable=False) for name in (*_CLUSTER, *_REPLICA)),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("logical_id", _TEXT, nullable=False),
        sa.Column("billing", sa.Integer(), nullable=False),
        sa.Column("gpus", sa.Integer(), nullable=False),
        sa.Column("job_name", _TEXT, nullable=False),
        sa.Column("budget", _TEXT, nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("gpus >= 0", name=op.f("ck_placement_gpus")),
        sa.CheckConstraint("ended_at >= started_at", name=op.f("ck_placement_forward")),
        sa.ForeignKeyConstraint(
            [*_CLUSTER, "logical_id", "billing"],
            [f"ledger.{name}" for name in (*_CLUSTER, "logical_id", "number")],
            name="fk_placement_billing",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(*_CLUSTER, *_REPLICA, "number", name="pk_placement"),
    )
    op.create_index("ix_placement_node", "placement", [*_CLUSTER, "logical_id", "billing"])
    op.create_index(
        "uq_placement_open",
        "placement",
        [*_CLUSTER, *_REPLICA],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_table("placement")
    op.drop_column("cluster", "hosts")
