"""Faults of requests and of running nodes."""

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


def downgrade() -> None:
    op.drop_column("fault_hit", "operation")
    for name in ("seed", "milliseconds", "message", "code", "api", "operation"):
        op.drop_column("fault_rule", name)
