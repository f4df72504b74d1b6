"""Cluster scheduler configs and compute quotas."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TENANT = ("world", "account", "region")


def _text(name: str, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.Text(collation="C"), nullable=nullable)


def _time(name: str, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "governance",
        *(_text(name) for name in (*TENANT, "kind", "resource_id", "cluster_id", "name")),
        _text("team", nullable=True),
        _time("created_at"),
        _time("begun_at"),
        _time("settles_at"),
        _text("doing"),
        _text("outcome"),
        _text("failure", nullable=True),
        _time("vanishes_at", nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("stable_version", sa.Integer(), nullable=True),
        sa.Column("operations", sa.Integer(), nullable=False),
        sa.Column("spec", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.PrimaryKeyConstraint(*TENANT, "kind", "resource_id", name=op.f("pk_governance")),
    )
    op.create_index("ix_governance_cluster", "governance", [*TENANT, "cluster_id", "kind", "name"])
    op.create_index("ix_governance_created", "governance", [*TENANT, "kind", "created_at", "resource_id"])
    op.create_index("ix_governance_settles", "governance", ["world", "settles_at"])
    op.create_table(
        "governance_version",
        *(_text(name) for name in (*TENANT, "kind", "resource_id")),
        sa.Column("version", sa.Integer(), nullable=False),
        _time("begun_at"),
        _text("outcome"),
        _text("failure", nullable=True),
        sa.Column("spec", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.PrimaryKeyConstraint(*TENANT, "kind", "resource_id", "version", name=op.f("pk_governance_version")),
    )


def downgrade() -> None:
    op.drop_table("governance_version")
    op.drop_table("governance")
