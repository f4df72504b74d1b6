"""Training plans."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TENANT = ("world", "account", "region")


def _text(name: str, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(collation="C"), nullable=nullable)


def _time(name: str, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _plans() -> None:
    op.create_table(
        "training_plan",
        *(_text(name) for name in (*TENANT, "name", "target", "instance_type")),
        sa.Column("total", sa.Integer(), nullable=False),
        _text("ultra_type"),
        sa.Column("ultra_count", sa.Integer(), nullable=False),
        sa.Column("spares", sa.Integer(), nullable=False),
        _text("zone"),
        _time("created_at"),
        _time("settles_at"),
        _time("declined_at", nullable=True),
        _text("failure", nullable=True),
        sa.Column("fee", sa.BigInteger(), nullable=False),
        _text("fee_evidence"),
        _time("starts_at"),
        _time("ends_at"),
        sa.CheckConstraint("0 <= spares AND spares * ultra_count < total", name=op.f("ck_training_plan_spares")),
        sa.PrimaryKeyConstraint(*TENANT, "name", name=op.f("pk_training_plan")),
    )
    op.create_index("ix_training_plan_starts", "training_plan", [*TENANT, "starts_at", "name"])


def upgrade() -> None:
    _plans()
    op.create_table(
        "reserved_capacity",
        *(_text(name) for name in (*TENANT, "plan")),
        sa.Column("number", sa.Integer(), nullable=False),
        _text("reservation_id"),
        _time("starts_at"),
        _time("ends_at"),
        sa.PrimaryKeyConstraint(*TENANT, "plan", "number", name=op.f("pk_reserved_capacity")),
    )
    op.create_index("uq_reserved_capacity_id", "reserved_capacity", [*TENANT, "reservation_id"], unique=True)
    op.create_table(
        "plan_extension",
        *(_text(name) for name in (*TENANT, "plan")),
        sa.Column("number", sa.Integer(), nullable=False),
        _text("offering_id"),
        _time("extended_at"),
        _time("starts_at"),
        _time("ends_at"),
        _time("declined_at", nullable=True),
        sa.Column("fee", sa.BigInteger(), nullable=False),
        _text("fee_evidence"),
        sa.PrimaryKeyConstraint(*TENANT, "plan", "number", name=op.f("pk_plan_extension")),
    )
    op.add_column("instance", _text("reservation", nullable=True))
    op.add_column("instance", sa.Column("server", sa.Integer(), nullable=True))
    op.create_index(
        "ix_instance_reserved",
        "instance",
        [*TENANT, "reservation"],
        postgresql_where=sa.text("reservation IS NOT NULL AND zone IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_instance_reserved", "instance")
    op.drop_column("instance", "server")
    op.drop_column("instance", "reservation")
    for table in ("plan_extension", "reserved_capacity", "training_plan"):
        op.drop_table(table)
