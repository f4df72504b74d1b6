"""Lines of jobs' logs are found by their time."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_log_line_at", "log_line", ["world", "account", "at", "job_id", "seq"])


def downgrade() -> None:
    op.drop_index("ix_log_line_at", "log_line")
