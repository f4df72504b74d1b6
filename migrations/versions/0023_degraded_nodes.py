"""Nodes that work on with a fault."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("instance", sa.Column("degraded_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("instance", "degraded_at")
