"""Custom jobs of Vertex AI, and fault rules that strike them."""

from collections.abc import Iterable

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0013"
down_revision = "0017"
branch_labels = None
depends_on = None

_TEXT = sa.Text(collation="C")
_TIME = sa.DateTime(timezone=True)
_TENANT = ("world", "account", "region")
_FAULT_WORDS = ("job", "replica")


def _columns(kind: object, names: str, *, nullable: bool = True) -> list[sa.Column[object]]:
    return [sa.Column(name, kind, nullable=nullable) for name in names.split()]  # type: ignore[arg-type]


def _table(name: str, key: str, *columns: Iterable[sa.Column[object]]) -> None:
    heads = _columns(_TEXT, " ".join(_TENANT), nullable=False)
    names = [*_TENANT, *key.split()]
    op.create_table(
        name,
        *heads,
        *(column for some in columns for column in some),
        sa.PrimaryKeyConstraint(*names, name=f"pk_{name}"),
    )


def upgrade() -> None:
    _jobs()
    _replicas()
    _table(
        "fleet", "fleet", _columns(_TEXT, "fleet", nullable=False), _columns(sa.BigInteger(), "jobs", nullable=False)
    )
    _table(
        "wake",
        "kind subject at",
        _columns(_TEXT, "kind subject", nullable=False),
        _columns(_TIME, "at", nullable=False),
    )
    op.create_index("ix_wake_at", "wake", ["world", "at"])
    _table(
        "log_line",
        "job_id seq",
        _columns(_TEXT, "job_id", nullable=False),
        _columns(sa.BigInteger(), "seq", nullable=False),
        _columns(_TIME, "at", nullable=False),
        _columns(_TEXT, "task severity text", nullable=False),
        _columns(JSONB(), "payload"),
    )
    for name in _FAULT_WORDS:
        op.add_column("fault_rule", sa.Column(name, _TEXT, nullable=True))


def _jobs() -> None:
    _table(
        "custom_job",
        "job_id",
        _columns(_TEXT, "job_id", nullable=False),
        _columns(sa.BigInteger(), "number", nullable=False),
        _columns(_TEXT, "display_name", nullable=False),
        _columns(JSONB(), "spec labels", nullable=False),
        _columns(_TIME, "created_at queued_at updated_at", nullable=False),
        _columns(_TEXT, "strategy fleet fleet_account fleet_region", nullable=False),
        _columns(JSONB(), "needs environment", nullable=False),
        _columns(_TEXT, "encryption budget"),
        _columns(sa.Integer(), "min_runtime"),
        _columns(_TEXT, "tuning_id trial_id pipeline_id"),
        _columns(_TIME, "admitted_at"),
        _columns(sa.Integer(), "attempt", nullable=False),
        _columns(_TIME, "attempt_at running_at started_at"),
        _columns(sa.BigInteger(), "ran_ms", nullable=False),
        _columns(JSONB(), "retries", nullable=False),
        _columns(_TEXT, "failure failure_replica"),
        _columns(sa.Integer(), "failure_code"),
        _columns(_TIME, "decide_at retry_at internal_at cancel_at ended_at"),
        _columns(_TEXT, "outcome"),
        _columns(sa.Integer(), "error_code"),
        _columns(_TEXT, "error_message"),
        _columns(_TIME, "shown_at"),
        _columns(sa.BigInteger(), "log_seq", nullable=False),
        _columns(_TIME, "deleted_at acted_at due_at"),
        [sa.Column("failures", sa.Integer(), nullable=False, server_default="0")],
        _columns(_TIME, "not_before_wall"),
        _columns(_TEXT, "error"),
    )
    op.create_index("uq_custom_job_number", "custom_job", [*_TENANT, "number"], unique=True)
    for name in ("due", "shown"):
        column = f"{name}_at"
        where = sa.text(f"{column} IS NOT NULL")
        op.create_index(f"ix_custom_job_{name}", "custom_job", ["world", column], postgresql_where=where)
    waits = ["world", "fleet_account", "fleet_region", "fleet", "queued_at"]
    op.create_index("ix_custom_job_fleet", "custom_job", waits, postgresql_where=sa.text("ended_at IS NULL"))


def _replicas() -> None:
    _table(
        "job_replica",
        "job_id pool ordinal",
        _columns(_TEXT, "job_id", nullable=False),
        _columns(sa.Integer(), "pool ordinal", nullable=False),
        _columns(_TEXT, "status", nullable=False),
        _columns(_TIME, "since", nullable=False),
        _columns(_TIME, "launch_after waiting_since"),
        _columns(_TEXT, "machine_type", nullable=False),
        _columns(_TEXT, "zone node machine"),
        _columns(sa.Integer(), "machines", nullable=False),
        _columns(_TIME, "boot_after up_at run_at"),
        _columns(sa.Integer(), "runs restarts", nullable=False),
        _columns(_TIME, "done_at exit_at"),
        _columns(sa.Integer(), "exit_code"),
        _columns(_TIME, "lost_at"),
        _columns(_TEXT, "lost_to"),
        _columns(_TIME, "stop_at"),
        _columns(sa.BigInteger(), "saved_ms lost_ms", nullable=False),
        _columns(sa.Integer(), "billings", nullable=False),
        _columns(_TIME, "billed_from billed_until"),
    )
    for name, column in (("waiting", "waiting_since"), ("held", "zone"), ("node", "node")):
        columns = ["world", "node"] if name == "node" else ["world", "region", "machine_type"]
        op.create_index(
            f"ix_job_replica_{name}",
            "job_replica",
            [*columns, "waiting_since"] if name == "waiting" else columns,
            postgresql_where=sa.text(f"{column} IS NOT NULL"),
        )


def downgrade() -> None:
    for name in _FAULT_WORDS:
        op.drop_column("fault_rule", name)
    for name in ("log_line", "wake", "fleet", "job_replica", "custom_job"):
        op.drop_table(name)
