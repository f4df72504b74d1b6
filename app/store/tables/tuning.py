"""Hyperparameter tuning jobs, their trials, and training pipelines."""

from sqlalchemy import BigInteger, Column, Index, Integer, Table, text
from sqlalchemy.dialects.postgresql import JSONB

from app.store.tables.base import TENANT, Text, metadata, tenant, time_column

tuning_job = Table(
    "tuning_job",
    metadata,
    *tenant(),
    Column("tuning_id", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("display_name", Text, nullable=False),
    Column("study_spec", JSONB, nullable=False),
    Column("trial_job_spec", JSONB, nullable=False),
    Column("max_trials", Integer, nullable=False),
    Column("parallel_trials", Integer, nullable=False),
    Column("max_failed", Integer, nullable=False),
    Column("labels", JSONB, nullable=False),
    Column("encryption", Text),
    Column("pipeline_id", Text),
    Column("home_account", Text, nullable=False),
    Column("home_region", Text, nullable=False),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    time_column("started_at"),
    time_column("exhausted_at"),
    time_column("cancel_at"),
    time_column("ended_at"),
    Column("outcome", Text),
    Column("error_code", Integer),
    Column("error_message", Text),
    time_column("deleted_at"),
    time_column("due_at"),
    Column("failures", Integer, nullable=False, server_default=text("0")),
    time_column("not_before_wall"),
    Column("error", Text),
    Index("uq_tuning_job_number", *TENANT, "number", unique=True),
    Index("ix_tuning_job_due", "world", "due_at", postgresql_where=text("due_at IS NOT NULL")),
)

trial = Table(
    "trial",
    metadata,
    *tenant(),
    Column("tuning_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    time_column("requested_at", nullable=False),
    Column("parameters", JSONB),
    Column("job_id", Text),
    time_column("started_at"),
    time_column("stop_at"),
    time_column("ended_at"),
    Column("outcome", Text),
    Column("reason", Text),
    Column("error_code", Integer),
    Column("final", JSONB),
    Column("measurements", JSONB),
)

training_pipeline = Table(
    "training_pipeline",
    metadata,
    *tenant(),
    Column("pipeline_id", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("display_name", Text, nullable=False),
    Column("request", JSONB, nullable=False),
    Column("labels", JSONB, nullable=False),
    Column("encryption", Text),
    Column("job_id", Text),
    Column("tuning_id", Text),
    time_column("created_at", nullable=False),
    Column("error_code", Integer),
    Column("error_message", Text),
    Index("uq_training_pipeline_number", *TENANT, "number", unique=True),
)
