"""The emulated slurm.conf of clusters whose file somebody has edited."""

from sqlalchemy import Column, Table
from sqlalchemy.dialects.postgresql import JSONB

from app.store.tables.base import Text, metadata, tenant, time_column

slurm_conf = Table(
    "slurm_conf",
    metadata,
    *tenant(),
    Column("cluster_id", Text, primary_key=True),
    Column("content", Text, nullable=False),
    Column("groups", JSONB, nullable=False),
    time_column("edited_at", nullable=False),
)
