"""Every table, for Alembic: one module a topic. Statements are whole SQL elsewhere in the store."""

from app.store.tables import (
    attachments,
    clusters,
    delivery,
    executions,
    google,
    governance,
    jobs,
    lag,
    placements,
    plans,
    scheduling,
    service,
    slurm,
    snapshots,
    software,
    storage,
    tuning,
    worlds,
)
from app.store.tables.base import metadata

__all__ = [
    "WORLD_TABLES",
    "attachments",
    "clusters",
    "delivery",
    "executions",
    "google",
    "governance",
    "jobs",
    "lag",
    "metadata",
    "placements",
    "plans",
    "scheduling",
    "service",
    "slurm",
    "snapshots",
    "software",
    "storage",
    "tuning",
    "worlds",
]

WORLD_TABLES = [t for t in metadata.sorted_tables if "world" in t.c]
"""What a world owns, in an order in which rows can be inserted."""
