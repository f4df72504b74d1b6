"""What the scheduler knows: budgets as they changed, workloads, hosts, the ledger, and why it decided what.

Times here are integers, milliseconds since 1970 in the world's time, as the policy counts them (FS-14). What one pass
over a fleet writes, it writes in one transaction, under the lock of the fleet's row.
"""

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Index, Integer, Table, text
from sqlalchemy.dialects.postgresql import JSONB

from app.store.tables.base import TENANT, Text, metadata, tenant


def _fleet() -> list[Column[str]]:
    return [*tenant(), Column("fleet", Text, primary_key=True)]


FLEET_KEY = (*TENANT, "fleet")

budget_change = Table(
    "budget_change",
    metadata,
    Column("world", Text, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("at", BigInteger, nullable=False),
    # create, reweight, move, delete or limit
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("parent", Text),
    Column("weight", BigInteger),
    # Of a limit: a list of {amount, unit, period}
    Column("limits", JSONB),
)

workload = Table(
    "workload",
    metadata,
    *_fleet(),
    Column("name", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
    # What was asked for
    Column("leaf", Text),
    Column("gpus", Integer, nullable=False),
    Column("replicas", Integer, nullable=False),
    Column("min_runtime", BigInteger, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("submit", BigInteger, nullable=False),
    Column("resumable", Boolean, nullable=False),
    Column("kind", Text, nullable=False),
    Column("checkpoint", BigInteger),
    Column("model", Text, nullable=False),
    Column("zone", Text, nullable=False),
    # Whose it is: a custom job's (all three), or our own with its runtime, milliseconds
    Column("project", Text),
    Column("location", Text),
    Column("job_id", Text),
    Column("runtime", BigInteger),
    # What has been asked since, for the next pass to take: submit, cancel, finish, priority, evict
    Column("news", JSONB, nullable=False, server_default=text("'[]'::jsonb")),
    # Where it stands
    Column("status", Text, nullable=False),
    Column("state", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    Column("attempt", Integer, nullable=False, server_default=text("0")),
    Column("funded", Boolean, nullable=False, server_default=text("false")),
    Column("bound_at", BigInteger),
    Column("protected_until", BigInteger),
    # Of our own: what it has done of its runtime, and when it will be done
    Column("done", BigInteger, nullable=False, server_default=text("0")),
    Column("ends_at", BigInteger),
    Column("first_bound_at", BigInteger),
    Column("ended_at", BigInteger),
    Column("end_reason", Text),
    CheckConstraint("gpus >= 0 AND replicas > 0 AND min_runtime >= 0", name="amounts"),
    Index("uq_workload_number", *FLEET_KEY, "number", unique=True),
    Index("ix_workload_living", *FLEET_KEY, "number", postgresql_where=text("ended_at IS NULL")),
    Index("ix_workload_news", *FLEET_KEY, postgresql_where=text("news <> '[]'::jsonb")),
    Index(
        "ix_workload_job",
        "world",
        "project",
        "location",
        "job_id",
        unique=True,
        postgresql_where=text("job_id IS NOT NULL AND ended_at IS NULL"),
    ),
)

fleet_host = Table(
    "fleet_host",
    metadata,
    *_fleet(),
    Column("host", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("gpus", Integer, nullable=False),
    Column("model", Text, nullable=False),
    Column("zone", Text, nullable=False),
    # healthy, draining or drained
    Column("state", Text, nullable=False),
    # Somebody marked it for maintenance: when, why, and what is to be done once it is drained: reboot, replace, none
    Column("marked_at", BigInteger),
    Column("reason", Text),
    Column("repair", Text),
    # Its node has left Running since the fleet's last pass, for this reason
    Column("left_for", Text),
)

fleet_capacity = Table(
    "fleet_capacity",
    metadata,
    *_fleet(),
    Column("seq", BigInteger, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("gpus", Integer, nullable=False),
)

segment = Table(
    "segment",
    metadata,
    *_fleet(),
    Column("seq", BigInteger, primary_key=True),
    Column("leaf", Text),
    Column("workload", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("gpus", Integer, nullable=False),
    Column("started", BigInteger, nullable=False),
    Column("ended", BigInteger, nullable=False),
    Column("funded", Boolean, nullable=False),
    CheckConstraint("gpus > 0 AND ended > started", name="amounts"),
    Index("ix_segment_ended", *FLEET_KEY, "ended"),
)

decision = Table(
    "decision",
    metadata,
    *_fleet(),
    Column("seq", BigInteger, primary_key=True),
    Column("at", BigInteger, nullable=False),
    # The kind of decision (admit, preempt, ...), why it was taken, whom it is about, and all of it
    Column("kind", Text, nullable=False),
    Column("code", Text, nullable=False),
    Column("workload", Text),
    Column("body", JSONB, nullable=False),
    Index("ix_decision_workload", *FLEET_KEY, "workload", "seq"),
)
