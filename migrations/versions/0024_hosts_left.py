"""A host whose node has left Running says why in a column of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("fleet_host", sa.Column("left_for", sa.Text(collation="C"), nullable=True))
    op.execute("UPDATE fleet_host SET left_for = reason, reason = NULL, repair = NULL WHERE repair = 'left'")


def downgrade() -> None:
    op.execute("UPDATE fleet_host SET repair = 'left', reason = left_for WHERE left_for IS NOT NULL")
    op.drop_column("fleet_host", "left_for")
