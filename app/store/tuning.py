"""Hyperparameter tuning jobs and their trials: rows in and out as core values."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import asyncpg

from app.core.reports import Measurement
from app.core.scope import Scope
from app.core.times import WorldTime
from app.core.trials import Run
from app.core.tuning import Trial, Tuning
from app.core.world import World
from app.store import worlds
from app.store.db import Tx
from app.store.rows import Shape, dollars, insert_rows

TUNING, TRIAL = Shape(Tuning), Shape(Trial)
_KEY = "world = $1 AND account = $2 AND region = $3 AND tuning_id = $4"
_CHANGING = [
    "updated_at",
    "started_at",
    "exhausted_at",
    "cancel_at",
    "ended_at",
    "outcome",
    "error_code",
    "error_message",
    "deleted_at",
]
_read_changing = TUNING.getter(_CHANGING)
_TRIAL_KEY = ("world", "account", "region", "tuning_id", "number")
_TRIAL_COLUMNS = (*_TRIAL_KEY, *(column for column in TRIAL.columns if column != "number"))
_read_trial = TRIAL.getter(_TRIAL_COLUMNS[4:])
_FINAL, _MEASUREMENTS = TRIAL.columns.index("final"), TRIAL.columns.index("measurements")
_OUTLINE = ", ".join("NULL" if column == "measurements" else column for column in TRIAL.columns)

CLAIM = f"""SELECT {TUNING.select}, due_at FROM tuning_job
    WHERE world = $1 AND due_at <= $2 AND (not_before_wall IS NULL OR not_before_wall <= clock_timestamp())
    ORDER BY due_at, account, region, number LIMIT 1 FOR UPDATE"""
LOCK = f"SELECT {TUNING.select}, due_at FROM tuning_job WHERE {_KEY} AND deleted_at IS NULL FOR UPDATE"
SEEN = f"""SELECT {", ".join(f"w.{name}" for name in worlds.NAMES)}, {", ".join(f"t.{name}" for name in TUNING.columns)}
    FROM (SELECT {worlds.COLUMNS} FROM world WHERE name = $1) w LEFT JOIN tuning_job t
    ON t.world = w.name AND t.account = $2 AND t.region = $3 AND t.tuning_id = $4 AND t.deleted_at IS NULL"""
LISTED = f"""SELECT {TUNING.select} FROM tuning_job WHERE world = $1 AND account = $2 AND region = $3
    AND deleted_at IS NULL AND ($4::bigint IS NULL OR number < $4) ORDER BY number DESC LIMIT $5"""
SAVE = f"""UPDATE tuning_job SET {TUNING.assignments(_CHANGING, 6)}, due_at = $5, failures = 0, error = NULL,
    not_before_wall = NULL WHERE {_KEY}"""
# A job that was deleted is there still, for its bill.
RUNS = """SELECT j.job_id, j.ended_at, j.shown_at, j.outcome, j.error_code, j.error_message,
        CASE WHEN r.status IN ('Running', 'Done') THEN r.run_at END, coalesce(r.saved_ms, 0)
    FROM custom_job j LEFT JOIN job_replica r ON (r.world, r.account, r.region, r.job_id, r.pool, r.ordinal)
        = (j.world, j.account, j.region, j.job_id, 0, 0)
    WHERE j.world = $1 AND j.account = $2 AND j.region = $3 AND j.job_id = ANY($4)"""


class Claimed(NamedTuple):
    """A tuning job, locked until the transaction ends, and the instant for which it is due."""

    tuning: Tuning
    due_at: WorldTime | None


def _key(scope: Scope, tuning_id: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, tuning_id


def _claimed(row: Iterable[Any] | None) -> Claimed | None:
    if row is None:
        return None
    *facts, due_at = row
    return Claimed(Tuning(*facts), due_at)


async def insert(tx: Tx, world: str, tuning: Tuning, due_at: WorldTime) -> None:
    await tx.execute(
        f"""INSERT INTO tuning_job (world, due_at, {TUNING.select})
        VALUES ($1, $2, {dollars(3, len(TUNING.columns))})""",
        world,
        due_at,
        *TUNING.values(tuning),
    )


async def claim_due(tx: Tx, world: str, now: WorldTime, *, wait: bool) -> Claimed | None:
    """The tuning job that has been due the longest: one that another holds is passed over, or waited for."""
    return _claimed(await tx.fetchrow(CLAIM if wait else f"{CLAIM} SKIP LOCKED", world, now))


async def lock(tx: Tx, scope: Scope, tuning_id: str) -> Claimed | None:
    """The tuning job, locked until the transaction ends."""
    return _claimed(await tx.fetchrow(LOCK, *_key(scope, tuning_id)))


async def seen(tx: Tx, scope: Scope, tuning_id: str) -> tuple[World, Tuning | None] | None:
    """The world and the tuning job, as one statement sees them; None: no such world."""
    row = await tx.fetchrow(SEEN, *_key(scope, tuning_id))
    if row is None:
        return None
    facts, split = tuple(row), len(worlds.NAMES)
    return worlds.from_row(facts[:split]), None if facts[split] is None else Tuning(*facts[split:])


async def listed(tx: Tx, scope: Scope, before: int | None, limit: int) -> list[Tuning]:
    """The newest tuning jobs first, of those with numbers below `before` if that is given."""
    rows = await tx.fetch(LISTED, scope.world, scope.account, scope.region, before, limit)
    return [Tuning(*row) for row in rows]


async def save(tx: Tx, world: str, tuning: Tuning, due_at: WorldTime | None) -> None:
    """A former failure of a pass is over."""
    scope = Scope(world, tuning.account, tuning.region)
    await tx.execute(SAVE, *_key(scope, tuning.tuning_id), due_at, *_read_changing(tuning))


async def trials(tx: Tx, scope: Scope, tuning_ids: Sequence[str]) -> dict[str, list[Trial]]:
    """The trials of these tuning jobs, by number, with all that they measured."""
    found: dict[str, list[Trial]] = {tuning_id: [] for tuning_id in tuning_ids}
    rows = await tx.fetch(
        f"""SELECT tuning_id, {TRIAL.select} FROM trial WHERE world = $1 AND account = $2 AND region = $3
        AND tuning_id = ANY($4) ORDER BY tuning_id, number""",
        scope.world,
        scope.account,
        scope.region,
        list(tuning_ids),
    )
    for tuning_id, *facts in rows:
        found[tuning_id].append(_trial(facts))
    return found


async def outlines(tx: Tx, scope: Scope, tuning_id: str) -> list[Trial]:
    """The trials, by number; of those that have ended only the measurement that counts."""
    rows = await tx.fetch(
        f"""SELECT {_OUTLINE.replace("NULL", "CASE WHEN ended_at IS NULL THEN measurements END")} FROM trial
        WHERE {_KEY} ORDER BY number""",
        *_key(scope, tuning_id),
    )
    return [_trial(row) for row in rows]


def _trial(row: Iterable[Any]) -> Trial:
    values = list(row)
    if values[_FINAL] is not None:
        values[_FINAL] = Measurement(**values[_FINAL])
    if values[_MEASUREMENTS] is not None:
        values[_MEASUREMENTS] = tuple(Measurement(**one) for one in values[_MEASUREMENTS])
    return Trial(*values)


async def save_trials(tx: Tx, scope: Scope, tuning_id: str, changed: Iterable[Trial]) -> None:
    """Write trials, new ones too."""
    columns = _TRIAL_COLUMNS[5:]
    await insert_rows(
        tx,
        "trial",
        _TRIAL_COLUMNS,
        [(*_key(scope, tuning_id), *_read_trial(trial)) for trial in changed],
        on_conflict=f"""ON CONFLICT ({", ".join(_TRIAL_KEY)})
            DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in columns)}""",
    )


async def remove_trials(tx: Tx, scope: Scope, tuning_id: str, numbers: Sequence[int] | None = None) -> None:
    """Of these numbers, or all."""
    await tx.execute(
        f"DELETE FROM trial WHERE {_KEY} AND ($5::int[] IS NULL OR number = ANY($5))", *_key(scope, tuning_id), numbers
    )


async def runs(tx: Tx, scope: Scope, job_ids: Sequence[str]) -> dict[str, Run]:
    """What the custom jobs of trials do, by job id."""
    rows = await tx.fetch(RUNS, scope.world, scope.account, scope.region, list(job_ids)) if job_ids else []
    return {job_id: Run(*facts) for job_id, *facts in rows}


async def postpone(tx: Tx, scope: Scope, tuning_id: str, error: str) -> None:
    """A pass over the tuning job failed: leave it alone for 50 ms of wall time, twice as long each time up to a
    minute."""
    await tx.execute(
        f"""UPDATE tuning_job SET failures = failures + 1, error = $5, not_before_wall = clock_timestamp()
            + make_interval(secs => least(60, 0.05 * 2 ^ least(failures, 20) * (0.5 + random() / 2)))
        WHERE {_KEY}""",
        *_key(scope, tuning_id),
        error,
    )


async def failing(tx: Tx, world: str) -> list[asyncpg.Record]:
    """The tuning jobs whose last pass failed, with the reason."""
    return await tx.fetch(
        """SELECT account, region, tuning_id, display_name AS name, failures, error, not_before_wall FROM tuning_job
        WHERE world = $1 AND failures > 0 ORDER BY account, region, number""",
        world,
    )


async def hurry(tx: Tx, scope: Scope, tuning_id: str, at: WorldTime) -> None:
    """The tuning job, unless it has ended, needs looking at by `at`, or earlier if it was due earlier."""
    await tx.execute(
        f"UPDATE tuning_job SET due_at = least(due_at, $5) WHERE {_KEY} AND ended_at IS NULL",
        *_key(scope, tuning_id),
        at,
    )
