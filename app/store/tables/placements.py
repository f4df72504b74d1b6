"""Which replicas of jobs have been on which nodes of clusters, from when to when, with how many of their GPUs."""

from sqlalchemy import CheckConstraint, Column, ForeignKeyConstraint, Index, Integer, Table, text

from app.store.tables.base import CLUSTER_KEY, Text, metadata, tenant, time_column

_JOB = ("project", "location", "job_id")

placement = Table(
    "placement",
    metadata,
    *tenant(),
    Column("cluster_id", Text, primary_key=True),
    *(Column(name, Text, primary_key=True) for name in (*_JOB, "replica")),
    Column("number", Integer, primary_key=True),
    Column("logical_id", Text, nullable=False),
    Column("billing", Integer, nullable=False),
    Column("gpus", Integer, nullable=False),
    Column("job_name", Text, nullable=False),
    Column("budget", Text),
    time_column("started_at", nullable=False),
    time_column("ended_at"),
    # Each lies in one billed interval of the node, and goes where that goes.
    ForeignKeyConstraint(
        [*CLUSTER_KEY, "logical_id", "billing"],
        [f"ledger.{name}" for name in (*CLUSTER_KEY, "logical_id", "number")],
        name="fk_placement_billing",
        ondelete="CASCADE",
    ),
    CheckConstraint("gpus >= 0", name="gpus"),
    CheckConstraint("ended_at >= started_at", name="forward"),
    Index("ix_placement_node", *CLUSTER_KEY, "logical_id", "billing"),
    Index("uq_placement_open", *CLUSTER_KEY, *_JOB, "replica", unique=True, postgresql_where=text("ended_at IS NULL")),
)
