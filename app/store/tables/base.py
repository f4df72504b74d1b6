"""What all tables share. The world leads every key, then account and region: so the database can be sharded.

Times are `timestamptz` in UTC. Columns named `*_wall` and leases hold wall time; all others hold the world's time.
"""

from sqlalchemy import Column, DateTime, MetaData
from sqlalchemy import Text as AnyText

Text = AnyText(collation="C")
"""Sorted by code point in every database, so that equal worlds are equal whatever the server's locale."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def time_column(name: str, nullable: bool = True) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=nullable)


def tenant() -> list[Column[str]]:
    """World, account and region: the head of every key of what an account owns."""
    return [Column(name, Text, primary_key=True) for name in ("world", "account", "region")]


TENANT = ("world", "account", "region")
CLUSTER_KEY = (*TENANT, "cluster_id")
