"""The ledger: billable intervals, opened and closed by the transitions themselves. The schema forbids overlaps."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from app.core.metering import Interval
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import insert_rows, update_rows

_KEY = "world = $1 AND account = $2 AND region = $3 AND cluster_id = $4"
_COLUMNS = [
    "world",
    "account",
    "region",
    "cluster_id",
    "logical_id",
    "number",
    "instance_id",
    "group_name",
    "instance_type",
    "micro_usd_per_hour",
    "price_evidence",
    "started_at",
    "ended_at",
    "previous_number",
    "previous_end",
]
CLOSE = """UPDATE ledger l SET ended_at = u.ended_at
    FROM unnest($5::text[], $6::int[], $7::timestamptz[]) AS u(logical_id, number, ended_at)
    WHERE l.world = $1 AND l.account = $2 AND l.region = $3 AND l.cluster_id = $4
        AND l.logical_id = u.logical_id AND l.number = u.number AND l.ended_at IS NULL
        AND l.logical_id = ANY($5)"""
# An interval is of a node of a cluster, or of a worker of a job, whose id then stands in the place of the cluster's.
READ = """SELECT l.account, l.region, l.cluster_id, c.name, j.display_name, j.budget, l.group_name, l.logical_id,
        l.number, l.instance_id, l.instance_type, l.micro_usd_per_hour, l.price_evidence, l.started_at, l.ended_at
    FROM ledger l LEFT JOIN cluster c USING (world, account, region, cluster_id)
    LEFT JOIN custom_job j ON (j.world, j.account, j.region, j.job_id) = (l.world, l.account, l.region, l.cluster_id)
    WHERE l.world = $1 AND ($2::text IS NULL OR l.account = $2) AND ($3::text IS NULL OR l.region = $3)
        AND ($4::text IS NULL OR c.name = $4 OR c.cluster_id = $4)
        AND ($5::text IS NULL OR j.display_name = $5 OR j.job_id = $5)
        AND ($6::timestamptz IS NULL OR l.ended_at IS NULL OR l.ended_at > $6)
        AND ($7::timestamptz IS NULL OR l.started_at < $7)
    ORDER BY l.account, l.region, c.created_at, j.number, l.cluster_id, l.group_name, l.started_at, l.logical_id,
        l.number"""


EVER = """SELECT EXISTS (SELECT FROM cluster WHERE world = $1 AND ($2::text IS NULL OR account = $2)
    AND ($3::text IS NULL OR region = $3) AND (name = $4 OR cluster_id = $4))"""
EVER_JOB = """SELECT EXISTS (SELECT FROM custom_job WHERE world = $1 AND ($2::text IS NULL OR account = $2)
    AND ($3::text IS NULL OR region = $3) AND (display_name = $4 OR job_id = $4))"""


Owned = tuple[str, Interval]
"""An interval and the cluster or the job, by id, that it is of."""


class Rate(NamedTuple):
    """A price as it is written on an interval."""

    micro_usd_per_hour: int
    evidence: str


IN_PLAN = Rate(0, "training-plan")
"""An instance of a training plan costs nothing by the hour: the plan was paid upfront."""


class Entry(NamedTuple):
    """An interval of the ledger with its price: of a cluster, or of a job, whose names the other does not have.

    `owner_id` is the cluster's id or the job's.
    """

    account: str
    region: str
    owner_id: str
    cluster_name: str | None
    job_name: str | None
    budget: str | None
    group: str
    logical_id: str
    number: int
    instance_id: str
    instance_type: str
    micro_usd_per_hour: int
    price_evidence: str
    started_at: WorldTime
    ended_at: WorldTime | None

    @property
    def is_of_job(self) -> bool:
        return self.cluster_name is None


async def insert(tx: Tx, scope: Scope, owner_id: str, opened: Sequence[Interval], rates: Mapping[str, Rate]) -> None:
    """New intervals of a cluster, open or over already; each chained to its node's last one, which must have ended."""
    await insert_all(tx, scope, [(owner_id, one) for one in opened], rates)


async def insert_all(tx: Tx, scope: Scope, opened: Iterable[Owned], rates: Mapping[str, Rate]) -> None:
    """The same of several clusters or jobs of one account and region."""
    records = [
        (
            *(scope.world, scope.account, scope.region, owner_id),
            one.logical_id,
            one.number,
            one.instance_id,
            one.group,
            one.instance_type,
            *(IN_PLAN if one.reserved else rates[one.instance_type]),
            one.started_at,
            one.ended_at,
            one.number - 1 or None,
            one.previous_end,
        )
        for owner_id, one in opened
    ]
    await insert_rows(tx, "ledger", _COLUMNS, records)


async def close(tx: Tx, scope: Scope, owner_id: str, closed: Sequence[Interval]) -> None:
    """Close intervals of a cluster."""
    if not closed:
        return
    key = (scope.world, scope.account, scope.region, owner_id)
    ids, numbers, ends = zip(*((one.logical_id, one.number, one.ended_at) for one in closed), strict=True)
    touched = await tx.execute(CLOSE, *key, list(ids), list(numbers), list(ends))
    if touched != f"UPDATE {len(closed)}":
        raise AssertionError(f"{len(closed)} intervals should have been open in {owner_id}, but {touched}")


async def close_all(tx: Tx, scope: Scope, closed: Sequence[Owned]) -> None:
    """The same of several clusters or jobs of one account and region."""
    rows = [
        (scope.world, scope.account, scope.region, owner_id, one.logical_id, one.number, one.ended_at)
        for owner_id, one in closed
    ]
    touched = await update_rows(tx, "ledger", _COLUMNS[:6], ("ended_at",), rows, only="t.ended_at IS NULL")
    if touched != len(closed):
        owners = ", ".join(sorted({owner_id for owner_id, _ in closed})[:3])
        raise AssertionError(f"{len(closed)} intervals should have been open in {owners} ..., but {touched} were")


async def entries(
    tx: Tx,
    world: str,
    *,
    account: str | None = None,
    region: str | None = None,
    cluster: str | None = None,
    job: str | None = None,
    since: WorldTime | None = None,
    until: WorldTime | None = None,
) -> list[Entry]:
    """The intervals that touch [since, until), of a cluster or a job by name or id if one is given."""
    return [Entry(*row) for row in await tx.fetch(READ, world, account, region, cluster, job, since, until)]


async def is_known(tx: Tx, world: str, *, account: str | None, region: str | None, cluster: str) -> bool:
    """Whether a cluster, living or gone, has or had the name or id."""
    return bool(await tx.fetchval(EVER, world, account, region, cluster))


async def is_known_job(tx: Tx, world: str, *, account: str | None, region: str | None, job: str) -> bool:
    """Whether a job, there or deleted, has or had the name or id."""
    return bool(await tx.fetchval(EVER_JOB, world, account, region, job))
