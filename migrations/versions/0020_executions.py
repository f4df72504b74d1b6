"""Programs of jobs that really run."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0016"
branch_labels = None
depends_on = None

_TEXT = sa.Text(collation="C")
_KEY = ("world", "account", "region", "job_id", "pool", "ordinal")


def upgrade() -> None:
    op.create_table(
        "execution",
        *(sa.Column(name, _TEXT, nullable=False) for name in _KEY[:4]),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in (*_KEY[4:], "run")),
        sa.Column("executor", _TEXT, nullable=True),
        sa.Column("claim", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint(*_KEY, name="pk_execution"),
    )


def downgrade() -> None:
    op.drop_table("execution")
