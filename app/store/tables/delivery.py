"""Events out: the order in which the outside is told, and the webhooks that are told.

Positions and webhooks are of the wall's time: no export and no fork has them (`app.store.copies`).
"""

from sqlalchemy import BigInteger, Column, Index, Integer, Table, text

from app.store.tables.base import Text, metadata, tenant, time_column

feed = Table(
    "feed",
    metadata,
    Column("world", Text, primary_key=True),
    Column("head", BigInteger, nullable=False),
    Column("webhooks", Integer, nullable=False, server_default=text("0")),
)

webhook = Table(
    "webhook",
    metadata,
    Column("world", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("url", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("detail_type", Text),
    Column("cluster", Text),
    time_column("created_wall", nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("place", BigInteger, nullable=False),
    Column("delivered", BigInteger, nullable=False, server_default=text("0")),
    Column("failed", BigInteger, nullable=False, server_default=text("0")),
    Column("given_up", BigInteger, nullable=False, server_default=text("0")),
)

webhook_lane = Table(
    "webhook_lane",
    metadata,
    *tenant(),
    Column("cluster_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("position", BigInteger, nullable=False),
    Column("place", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    time_column("not_before_wall", nullable=False),
    Index("ix_webhook_lane_hook", "world", "number", "not_before_wall"),
)

webhook_attempt = Table(
    "webhook_attempt",
    metadata,
    Column("world", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("attempt", BigInteger, primary_key=True),
    time_column("at_wall", nullable=False),
    Column("envelope_id", Text, nullable=False),
    Column("detail_type", Text, nullable=False),
    Column("cluster", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("status", Integer),
    Column("error", Text),
)
