"""A wake that cannot be handled backs off, as clusters and jobs do."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("wake", sa.Column("failures", sa.Integer(), nullable=False, server_default=sa.text("0")))
    op.add_column("wake", sa.Column("not_before_wall", sa.DateTime(timezone=True), nullable=True))
    op.add_column("wake", sa.Column("error", sa.Text(collation="C"), nullable=True))


def downgrade() -> None:
    for name in ("error", "not_before_wall", "failures"):
        op.drop_column("wake", name)
