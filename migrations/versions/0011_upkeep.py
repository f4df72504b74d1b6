"""Scheduled updates and automatic patches of instance groups.

A group that had its ScheduledUpdateConfig before does not follow it until an UpdateCluster gives it again: nobody had
checked what its expression says.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0014"
branch_labels = None
depends_on = None

_TIMES = ("schedule_since", "patch_found_at", "next_patch_at")


def upgrade() -> None:
    for name in _TIMES:
        op.add_column("instance_group", sa.Column(name, sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    for name in _TIMES:
        op.drop_column("instance_group", name)
