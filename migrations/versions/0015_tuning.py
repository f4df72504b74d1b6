"""Hyperparameter tuning jobs, their trials, and training pipelines."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0015"
down_revision = "0012"
branch_labels = None
depends_on = None

_TEXT = sa.Text(collation="C")
_TIME = sa.DateTime(timezone=True)
_TENANT = ("world", "account", "region")


def _columns(kind: object, names: str, *, nullable: bool = True) -> list[sa.Column[object]]:
    return [sa.Column(name, kind, nullable=nullable) for name in names.split()]  # type: ignore[arg-type]


def upgrade() -> None:
    op.create_table(
        "tuning_job",
        *_columns(_TEXT, "world account region tuning_id", nullable=False),
        *_columns(sa.BigInteger(), "number", nullable=False),
        *_columns(_TEXT, "display_name", nullable=False),
        *_columns(JSONB(), "study_spec trial_job_spec", nullable=False),
        *_columns(sa.Integer(), "max_trials parallel_trials max_failed", nullable=False),
        *_columns(JSONB(), "labels", nullable=False),
        *_columns(_TEXT, "encryption pipeline_id"),
        *_columns(_TEXT, "home_account home_region", nullable=False),
        *_columns(_TIME, "created_at updated_at", nullable=False),
        *_columns(_TIME, "started_at exhausted_at cancel_at ended_at"),
        *_columns(_TEXT, "outcome"),
        *_columns(sa.Integer(), "error_code"),
        *_columns(_TEXT, "error_message"),
        *_columns(_TIME, "deleted_at due_at"),
        sa.Column("failures", sa.Integer(), nullable=False, server_default="0"),
        *_columns(_TIME, "not_before_wall"),
        *_columns(_TEXT, "error"),
        sa.PrimaryKeyConstraint(*_TENANT, "tuning_id", name="pk_tuning_job"),
    )
    op.create_index("uq_tuning_job_number", "tuning_job", [*_TENANT, "number"], unique=True)
    op.create_index(
        "ix_tuning_job_due", "tuning_job", ["world", "due_at"], postgresql_where=sa.text("due_at IS NOT NULL")
    )
    op.create_table(
        "trial",
        *_columns(_TEXT, "world account region tuning_id", nullable=False),
        *_columns(sa.Integer(), "number", nullable=False),
        *_columns(_TIME, "requested_at", nullable=False),
        *_columns(JSONB(), "parameters"),
        *_columns(_TEXT, "job_id"),
        *_columns(_TIME, "started_at stop_at ended_at"),
        *_columns(_TEXT, "outcome reason"),
        *_columns(sa.Integer(), "error_code"),
        *_columns(JSONB(), "final measurements"),
        sa.PrimaryKeyConstraint(*_TENANT, "tuning_id", "number", name="pk_trial"),
    )
    op.create_table(
        "training_pipeline",
        *_columns(_TEXT, "world account region pipeline_id", nullable=False),
        *_columns(sa.BigInteger(), "number", nullable=False),
        *_columns(_TEXT, "display_name", nullable=False),
        *_columns(JSONB(), "request labels", nullable=False),
        *_columns(_TEXT, "encryption job_id tuning_id"),
        *_columns(_TIME, "created_at", nullable=False),
        *_columns(sa.Integer(), "error_code"),
        *_columns(_TEXT, "error_message"),
        sa.PrimaryKeyConstraint(*_TENANT, "pipeline_id", name="pk_training_pipeline"),
    )
    op.create_index("uq_training_pipeline_number", "training_pipeline", [*_TENANT, "number"], unique=True)


def downgrade() -> None:
    for name in ("training_pipeline", "trial", "tuning_job"):
        op.drop_table(name)
