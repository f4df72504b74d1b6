"""Faults of requests and of running nodes."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("operation", "code", "message"):
        op.add_column("fault_rule", sa.Column(name, sa.Text(collation="C"), nullable=True))


def downgrade() -> None:
    for name in ("message", "code", "operation"):
        op.drop_column("fault_rule", name)
