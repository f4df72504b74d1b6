"""Events out: webhooks and their positions."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

KEY = ("world", "account", "region", "cluster_id")


def _text(name: str, nullable: bool = False) -> "sa.Column[str]":
    return sa.Column(name, sa.Text(collation="C"), nullable=nullable)


def _number(name: str, kind: type = sa.BigInteger, nullable: bool = False) -> "sa.Column[int]":
    return sa.Column(name, kind(), nullable=nullable)


def _counter(name: str, kind: type = sa.BigInteger) -> "sa.Column[int]":
    return sa.Column(name, kind(), server_default=sa.text("0"), nullable=False)


def _time(name: str, nullable: bool = False) -> "sa.Column[object]":
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    gone = sa.text("deleted_at IS NOT NULL")
    op.create_index("ix_cluster_deleted", "cluster", ["world", "deleted_at"], postgresql_where=gone)
    for name in ("first_event", "last_event", "position"):
        op.add_column("outbox", _number(name, nullable=True))
    op.add_column("outbox", _time("first_at", nullable=True))
    op.create_check_constraint(op.f("ck_outbox_events"), "outbox", "(first_event IS NULL) = (last_event IS NULL)")
    op.create_index("ix_outbox_position", "outbox", ["world", "position"])
    op.create_index("ix_outbox_pending", "outbox", ["world"], postgresql_where=sa.text("position IS NULL"))
    op.create_table(
        "feed",
        _text("world"),
        _number("head"),
        _counter("webhooks", sa.Integer),
        sa.PrimaryKeyConstraint("world", name=op.f("pk_feed")),
    )
    _create_webhooks()


def _create_webhooks() -> None:
    op.create_table(
        "webhook",
        _text("world"),
        _number("number", sa.Integer),
        _text("url"),
        _text("secret"),
        _text("detail_type", nullable=True),
        _text("cluster", nullable=True),
        _time("created_wall"),
        _number("position"),
        _number("place"),
        _counter("delivered"),
        _counter("failed"),
        _counter("given_up"),
        sa.PrimaryKeyConstraint("world", "number", name=op.f("pk_webhook")),
    )
    op.create_table(
        "webhook_lane",
        *map(_text, KEY),
        _number("number", sa.Integer),
        _number("position"),
        _number("place"),
        _number("attempts", sa.Integer),
        _time("not_before_wall"),
        sa.PrimaryKeyConstraint(*KEY, "number", name=op.f("pk_webhook_lane")),
    )
    op.create_index("ix_webhook_lane_hook", "webhook_lane", ["world", "number", "not_before_wall"])
    op.create_table(
        "webhook_attempt",
        _text("world"),
        _number("number", sa.Integer),
        _number("attempt"),
        _time("at_wall"),
        _text("envelope_id"),
        _text("detail_type"),
        _text("cluster"),
        _text("outcome"),
        _number("status", sa.Integer, nullable=True),
        _text("error", nullable=True),
        sa.PrimaryKeyConstraint("world", "number", "attempt", name=op.f("pk_webhook_attempt")),
    )


def downgrade() -> None:
    for table in ("webhook_attempt", "webhook_lane", "webhook", "feed"):
        op.drop_table(table)
    op.drop_index("ix_outbox_pending", table_name="outbox", postgresql_where=sa.text("position IS NULL"))
    op.drop_index("ix_outbox_position", table_name="outbox")
    op.drop_constraint(op.f("ck_outbox_events"), "outbox")
    op.execute("DELETE FROM outbox WHERE first_event IS NOT NULL")  # events that the table then cannot tell of
    for name in ("first_at", "position", "last_event", "first_event"):
        op.drop_column("outbox", name)
    op.drop_index("ix_cluster_deleted", table_name="cluster", postgresql_where=sa.text("deleted_at IS NOT NULL"))
