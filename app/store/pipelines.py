"""Training pipelines: rows in and out as core values."""

from collections.abc import Sequence
from typing import NamedTuple

from app.core.job import Job
from app.core.pipeline import Pipeline
from app.core.scope import Scope
from app.core.tuning import Tuning
from app.store.db import Tx
from app.store.jobs import JOB
from app.store.rows import Shape, dollars
from app.store.tuning import TUNING

PIPELINE = Shape(Pipeline)
_KEY = "world = $1 AND account = $2 AND region = $3 AND pipeline_id = $4"
_TENANT = "(p.world, p.account, p.region)"


def _of(shape: Shape, alias: str) -> str:
    return ", ".join(f"{alias}.{column}" for column in shape.columns)


# What carried a pipeline out is there still when it was deleted.
_SEEN = f"""SELECT {_of(PIPELINE, "p")}, {_of(JOB, "j")}, {_of(TUNING, "t")} FROM training_pipeline p
    LEFT JOIN custom_job j ON (j.world, j.account, j.region) = {_TENANT} AND j.job_id = p.job_id
    LEFT JOIN tuning_job t ON (t.world, t.account, t.region) = {_TENANT} AND t.tuning_id = p.tuning_id
    WHERE p.world = $1 AND p.account = $2 AND p.region = $3"""
GET = f"{_SEEN} AND p.pipeline_id = $4"
LISTED = f"{_SEEN} AND ($4::bigint IS NULL OR p.number < $4) ORDER BY p.number DESC LIMIT $5"


class Seen(NamedTuple):
    """A pipeline and what carries it out."""

    pipeline: Pipeline
    job: Job | None
    tuning: Tuning | None


def _seen(row: Sequence[object]) -> Seen:
    first, second = len(PIPELINE.columns), len(PIPELINE.columns) + len(JOB.columns)
    pipeline, job, tuning = row[:first], row[first:second], row[second:]
    return Seen(
        Pipeline(*pipeline),  # type: ignore[arg-type]
        None if job[0] is None else Job(*job),  # type: ignore[arg-type]
        None if tuning[0] is None else Tuning(*tuning),  # type: ignore[arg-type]
    )


async def insert(tx: Tx, world: str, pipeline: Pipeline) -> None:
    await tx.execute(
        f"""INSERT INTO training_pipeline (world, {PIPELINE.select})
        VALUES ($1, {dollars(2, len(PIPELINE.columns))})""",
        world,
        *PIPELINE.values(pipeline),
    )


async def get(tx: Tx, scope: Scope, pipeline_id: str) -> Seen | None:
    row = await tx.fetchrow(GET, scope.world, scope.account, scope.region, pipeline_id)
    return None if row is None else _seen(tuple(row))


async def listed(tx: Tx, scope: Scope, before: int | None, limit: int) -> list[Seen]:
    """The newest pipelines first, of those with numbers below `before` if that is given."""
    rows = await tx.fetch(LISTED, scope.world, scope.account, scope.region, before, limit)
    return [_seen(tuple(row)) for row in rows]


async def remove(tx: Tx, scope: Scope, pipeline_id: str) -> None:
    await tx.execute(
        f"DELETE FROM training_pipeline WHERE {_KEY}", scope.world, scope.account, scope.region, pipeline_id
    )
