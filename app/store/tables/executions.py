"""Programs of jobs that really run, on whichever machine has their executor."""

from sqlalchemy import BigInteger, Column, Integer, Table

from app.store.tables.base import Text, metadata, tenant

execution = Table(
    "execution",
    metadata,
    *tenant(),
    Column("job_id", Text, primary_key=True),
    Column("pool", Integer, primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    # The replica's `runs` when its program began.
    Column("run", Integer, nullable=False),
    # The process that runs it, and the number of the claim by which it does.
    Column("executor", Text),
    Column("claim", BigInteger),
)
