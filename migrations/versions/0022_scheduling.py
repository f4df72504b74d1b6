"""The scheduler: budgets as they changed, workloads, hosts, capacity, the ledger, decisions."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_TEXT = sa.Text(collation="C")
_FLEET = ("world", "account", "region", "fleet")
_COUNTERS = ("workloads", "segments", "decisions", "hosts", "capacities")


def _fleet() -> list[sa.Column]:
    return [sa.Column(name, _TEXT, nullable=False) for name in _FLEET]


def _text(name: str, nullable: bool = True) -> sa.Column:
    return sa.Column(name, _TEXT, nullable=nullable)


def _number(name: str, nullable: bool = True, kind: type = sa.BigInteger, default: str | None = None) -> sa.Column:
    return sa.Column(name, kind(), nullable=nullable, server_default=sa.text(default) if default else None)


def _json(name: str, default: str | None) -> sa.Column:
    server = sa.text(f"'{default}'::jsonb") if default else None
    return sa.Column(name, JSONB(), nullable=default is None and name == "limits", server_default=server)


def upgrade() -> None:
    for name in _COUNTERS:
        op.add_column("fleet", _number(name, False, default="0"))
    op.add_column("fleet", _json("state", "{}"))
    op.add_column("fleet", _json("policy", "{}"))
    op.add_column("fleet", sa.Column("due_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("fleet", _number("failures", False, sa.Integer, "0"))
    op.add_column("fleet", sa.Column("not_before_wall", sa.DateTime(timezone=True), nullable=True))
    op.add_column("fleet", _text("error"))
    op.add_column("fleet", _text("version_wall"))
    op.add_column("fleet", _text("leader_wall"))
    op.add_column("fleet", _number("epoch_wall", False, default="0"))
    op.add_column("fleet", sa.Column("leader_until_wall", sa.DateTime(timezone=True), nullable=True))
    op.create_index("ix_fleet_due", "fleet", ["world", "due_at"], postgresql_where=sa.text("due_at IS NOT NULL"))
    op.create_table(
        "budget_change",
        _text("world", False),
        _number("number", False),
        _number("at", False),
        _text("kind", False),
        _text("name", False),
        _text("parent"),
        _number("weight"),
        _json("limits", None),
        sa.PrimaryKeyConstraint("world", "number", name="pk_budget_change"),
    )
    _workload()
    op.create_table(
        "fleet_host",
        *_fleet(),
        _text("host", False),
        _number("number", False),
        _number("gpus", False, sa.Integer),
        _text("model", False),
        _text("zone", False),
        _text("state", False),
        _number("marked_at"),
        _text("reason"),
        _text("repair"),
        sa.PrimaryKeyConstraint(*_FLEET, "host", name="pk_fleet_host"),
    )
    op.create_table(
        "fleet_capacity",
        *_fleet(),
        _number("seq", False),
        _number("at", False),
        _number("gpus", False, sa.Integer),
        sa.PrimaryKeyConstraint(*_FLEET, "seq", name="pk_fleet_capacity"),
    )
    _segment()
    op.create_table(
        "decision",
        *_fleet(),
        _number("seq", False),
        _number("at", False),
        _text("kind", False),
        _text("code", False),
        _text("workload"),
        sa.Column("body", JSONB(), nullable=False),
        sa.PrimaryKeyConstraint(*_FLEET, "seq", name="pk_decision"),
    )
    op.create_index("ix_decision_workload", "decision", [*_FLEET, "workload", "seq"])


def _workload() -> None:
    op.create_table(
        "workload",
        *_fleet(),
        _text("name", False),
        _number("number", False),
        _text("leaf"),
        _number("gpus", False, sa.Integer),
        _number("replicas", False, sa.Integer),
        _number("min_runtime", False),
        _number("priority", False, sa.Integer),
        _number("submit", False),
        sa.Column("resumable", sa.Boolean(), nullable=False),
        _text("kind", False),
        _number("checkpoint"),
        _text("model", False),
        _text("zone", False),
        *(_text(name) for name in ("project", "location", "job_id")),
        _number("runtime"),
        _json("news", "[]"),
        _text("status", False),
        _json("state", "{}"),
        _number("attempt", False, sa.Integer, "0"),
        sa.Column("funded", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        _number("bound_at"),
        _number("protected_until"),
        _number("done", False, default="0"),
        _number("ends_at"),
        _number("first_bound_at"),
        _number("ended_at"),
        _text("end_reason"),
        sa.PrimaryKeyConstraint(*_FLEET, "name", name="pk_workload"),
        sa.CheckConstraint("gpus >= 0 AND replicas > 0 AND min_runtime >= 0", name=op.f("ck_workload_amounts")),
    )
    op.create_index("uq_workload_number", "workload", [*_FLEET, "number"], unique=True)
    op.create_index("ix_workload_living", "workload", [*_FLEET, "number"], postgresql_where=sa.text("ended_at IS NULL"))
    op.create_index("ix_workload_news", "workload", _FLEET, postgresql_where=sa.text("news <> '[]'::jsonb"))
    op.create_index(
        "ix_workload_job",
        "workload",
        ["world", "project", "location", "job_id"],
        unique=True,
        postgresql_where=sa.text("job_id IS NOT NULL AND ended_at IS NULL"),
    )


def _segment() -> None:
    op.create_table(
        "segment",
        *_fleet(),
        _number("seq", False),
        _text("leaf"),
        _text("workload", False),
        _number("attempt", False, sa.Integer),
        _number("gpus", False, sa.Integer),
        _number("started", False),
        _number("ended", False),
        sa.Column("funded", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint(*_FLEET, "seq", name="pk_segment"),
        sa.CheckConstraint("gpus > 0 AND ended > started", name=op.f("ck_segment_amounts")),
    )
    op.create_index("ix_segment_ended", "segment", [*_FLEET, "ended"])


def downgrade() -> None:
    for table in ("decision", "segment", "fleet_capacity", "fleet_host", "workload", "budget_change"):
        op.drop_table(table)
    op.drop_index("ix_fleet_due", "fleet")
    for name in ("leader_until_wall", "epoch_wall", "leader_wall", "version_wall", "error", "not_before_wall"):
        op.drop_column("fleet", name)
    for name in ("failures", "due_at", "policy", "state", *reversed(_COUNTERS)):
        op.drop_column("fleet", name)
