"""The emulated slurm.conf."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "slurm_conf",
        sa.Column("world", sa.Text(collation="C"), nullable=False),
        sa.Column("account", sa.Text(collation="C"), nullable=False),
        sa.Column("region", sa.Text(collation="C"), nullable=False),
        sa.Column("cluster_id", sa.Text(collation="C"), nullable=False),
        sa.Column("content", sa.Text(collation="C"), nullable=False),
        sa.Column("groups", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("edited_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("world", "account", "region", "cluster_id", name=op.f("pk_slurm_conf")),
    )


def downgrade() -> None:
    op.drop_table("slurm_conf")
