"""Faults and repair of running nodes."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

MOMENTS = (
    "check_fault_at",
    "hardware_fault_at",
    "examine_at",
    "reboot_at",
    "reboot_fault_at",
    "replace_at",
    "replaced_at",
    "terminate_fault_at",
)


def upgrade() -> None:
    for name in MOMENTS:
        op.add_column("instance", sa.Column(name, sa.DateTime(timezone=True), nullable=True))
    op.add_column("instance_group", sa.Column("ill", sa.Integer(), server_default=sa.text("0"), nullable=False))
    op.add_column("instance", sa.Column("fault", sa.Text(collation="C"), nullable=True))


def downgrade() -> None:
    op.drop_column("instance", "fault")
    op.drop_column("instance_group", "ill")
    for name in reversed(MOMENTS):
        op.drop_column("instance", name)
