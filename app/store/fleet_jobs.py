"""Jobs on the nodes of a cluster, as the cluster sees them: who waits, who lacks a node, who is on which."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from app.core.job import Job
from app.core.replica import Worker
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.jobs import JOB, Claimed

_FLEET = "j.world = $1 AND j.fleet_account = $2 AND j.fleet_region = $3 AND j.fleet = $4 AND j.ended_at IS NULL"
_OF_JOB = "(r.world, r.account, r.region, r.job_id) = (j.world, j.account, j.region, j.job_id)"
_FACTS = "j.account, j.region, j.job_id, j.display_name, j.budget, j.spec, j.queued_at"
_TURN = "ORDER BY j.queued_at, j.created_at, j.account, j.region, j.number"
_LOCKED = "ORDER BY j.account, j.region, j.number FOR UPDATE OF j"  # the order in which passes lock jobs, too
QUEUED = f"""SELECT {_FACTS}, NULL, j.needs FROM custom_job j WHERE j.world = $1 AND j.fleet = '' AND j.ended_at IS NULL
    AND j.admitted_at IS NULL AND j.cancel_at IS NULL {_TURN} LIMIT $2"""
HOLES = f"""SELECT {_FACTS}, h.names FROM custom_job j
    CROSS JOIN LATERAL (SELECT array_agg('workerpool' || r.pool || '-' || r.ordinal ORDER BY r.pool, r.ordinal) AS names
        FROM job_replica r WHERE {_OF_JOB} AND r.status = '{Worker.WAITING}' AND r.node IS NULL
            AND r.stop_at IS NULL) h
    WHERE {_FLEET} AND j.admitted_at IS NOT NULL AND j.cancel_at IS NULL AND h.names IS NOT NULL {_TURN}"""
_AMONG = "(j.account, j.region, j.job_id) IN (SELECT * FROM unnest({}::text[], {}::text[], {}::text[]))"
_KEY = "SELECT j.account, j.region, j.job_id FROM custom_job j"
LOCK_JOBS = f"""SELECT {", ".join(f"j.{column}" for column in JOB.columns)}, j.due_at FROM custom_job j
    WHERE {_FLEET} AND j.cancel_at IS NULL AND {_AMONG.format("$5", "$6", "$7")} {_LOCKED}"""
LOCK_ALL = f"{_KEY} WHERE {_FLEET.replace('= $4', '= ANY($4)')} {_LOCKED}"
LOCK_ON = f"""{_KEY} WHERE {_FLEET}
    AND EXISTS (SELECT 1 FROM job_replica r WHERE {_OF_JOB} AND r.node = ANY($5)) {_LOCKED}"""
HURRY = f"""UPDATE custom_job j SET due_at = least(due_at, $2)
    WHERE j.world = $1 AND {_AMONG.format("$3", "$4", "$5")}"""
FAIL = f"""UPDATE custom_job j SET failure = $6, failure_replica = NULL, failure_code = NULL, decide_at = $5,
    due_at = least(due_at, $5) WHERE {_FLEET}"""

JobKey = tuple[str, str, str]
"""A job's project, region and id."""


class Guest(NamedTuple):
    """A job that is to be placed: all of it, or the replicas that are `lacking` a node."""

    account: str
    region: str
    job_id: str
    display_name: str
    budget: str | None
    spec: Mapping[str, Any]
    queued_at: WorldTime
    lacking: Sequence[str] | None

    @property
    def key(self) -> JobKey:
        return self.account, self.region, self.job_id

    @property
    def name(self) -> str:
        return f"projects/{self.account}/locations/{self.region}/customJobs/{self.job_id}"


def _key(scope: Scope, cluster_id: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, cluster_id


def _columns(keys: Iterable[JobKey]) -> list[list[str]]:
    return [list(column) for column in zip(*keys, strict=True)]


async def queued_for_quota(tx: Tx, world: str, limit: int) -> list[tuple[Guest, dict[str, int]]]:
    """Jobs that queue in the pools of their regions, in the order in which they came, and what of each metric they
    need."""
    return [(Guest(*guest), needs) for *guest, needs in await tx.fetch(QUEUED, world, limit)]


async def holes(tx: Tx, scope: Scope, cluster_id: str) -> list[Guest]:
    """The jobs on the cluster that have lost nodes, in the order in which they came."""
    return [Guest(*row) for row in await tx.fetch(HOLES, *_key(scope, cluster_id))]


async def shown_names(tx: Tx, scope: Scope, cluster_id: str) -> dict[str, str]:
    """The display names of the cluster's jobs that have not ended, by id."""
    rows = await tx.fetch(f"SELECT j.job_id, j.display_name FROM custom_job j WHERE {_FLEET}", *_key(scope, cluster_id))
    return dict(map(tuple, rows))


async def lock_jobs(tx: Tx, scope: Scope, cluster_id: str, keys: Iterable[JobKey]) -> list[Claimed]:
    """Those of the jobs that have not ended meanwhile and are not to end, locked until the transaction ends; by
    project, region and number."""
    if not (columns := _columns(keys)):
        return []
    return [Claimed(Job(*facts), due) for *facts, due in await tx.fetch(LOCK_JOBS, *_key(scope, cluster_id), *columns)]


async def lock_all(tx: Tx, scope: Scope, cluster_ids: Sequence[str]) -> list[JobKey]:
    """Every job of these clusters that has not ended, locked."""
    rows = await tx.fetch(LOCK_ALL, scope.world, scope.account, scope.region, list(cluster_ids))
    return [tuple(row) for row in rows]


async def lock_on(tx: Tx, scope: Scope, cluster_id: str, nodes: Sequence[str]) -> list[JobKey]:
    """The jobs that have workers on these nodes, locked."""
    return [tuple(row) for row in await tx.fetch(LOCK_ON, *_key(scope, cluster_id), list(nodes))]


async def hurry(tx: Tx, world: str, keys: Iterable[JobKey], at: WorldTime) -> None:
    """The jobs need looking at by `at`, or earlier if they were due earlier."""
    if columns := _columns(keys):
        await tx.execute(HURRY, world, at, *columns)


async def fail(tx: Tx, scope: Scope, cluster_id: str, failure: str, at: WorldTime) -> None:
    """What becomes of every job of the cluster is decided at `at`, by this failure, whatever else befell it."""
    await tx.execute(FAIL, *_key(scope, cluster_id), at, failure)
