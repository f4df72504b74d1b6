"""Named snapshots."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "snapshot",
        sa.Column("of_world", sa.Text(collation="C"), nullable=False),
        sa.Column("name", sa.Text(collation="C"), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("profile", sa.Text(collation="C"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rate", sa.Double(), nullable=False),
        sa.Column("frozen", sa.Boolean(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("of_world", "name", name=op.f("pk_snapshot")),
    )


def downgrade() -> None:
    op.drop_table("snapshot")
