"""Workloads and the scheduler's decisions as they are listed, over the fleets of a world (FS-13)."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from app.core.ids import cluster_arn
from app.core.job import is_managed
from app.core.scope import Scope
from app.store.db import Tx
from app.store.pages import Question
from app.store.workloads import ENDED, Row

_COLUMNS = [field.name for field in fields(Row)]
_LISTED = f"""SELECT w.account, w.region, w.fleet, c.name, j.display_name, {", ".join(f"w.{name}" for name in _COLUMNS)}
    FROM workload w
    LEFT JOIN cluster c ON (c.world, c.account, c.region, c.cluster_id) = (w.world, w.account, w.region, w.fleet)
    LEFT JOIN custom_job j ON (j.world, j.account, j.region, j.job_id) = (w.world, w.project, w.location, w.job_id)"""
_DECIDED = """SELECT w.account, w.region, w.fleet, c.name, w.seq, w.at, w.kind, w.code, w.workload, w.body
    FROM decision w
    LEFT JOIN cluster c ON (c.world, c.account, c.region, c.cluster_id) = (w.world, w.account, w.region, w.fleet)"""
# Preemptions name their victims in their bodies alone.
_CONCERNS = """(w.workload = {} OR w.kind = 'preempt' AND w.body->'victims' @> jsonb_build_array(
    jsonb_build_array({}::text)))"""


class FleetOf(NamedTuple):
    """The cluster that a fleet is, its name None once it is forgotten; or a managed pool."""

    scope: Scope
    fleet: str
    cluster: str | None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.scope.account, self.scope.region, self.fleet

    @property
    def pool(self) -> str | None:
        """The managed pool's name."""
        return self.fleet if is_managed(self.fleet) else None

    @property
    def arn(self) -> str | None:
        """The cluster's."""
        return None if self.pool else cluster_arn(self.scope.region, self.scope.account, self.fleet)


class Listed(NamedTuple):
    """A workload, and the name that its job shows."""

    of: FleetOf
    shown: str
    row: Row


class Decided(NamedTuple):
    """A decision of the scheduler's: numbered on its fleet, `at` in milliseconds."""

    of: FleetOf
    seq: int
    at: int
    kind: str
    code: str
    workload: str | None
    body: dict[str, Any]


class Filter(NamedTuple):
    """Of what is listed: a fleet's account, region and name or that of its cluster; None is any."""

    account: str | None = None
    region: str | None = None
    fleet: str | None = None


def _question(world: str, which: Filter) -> Question:
    question = Question(world)
    question.where("w.world = $1")
    for column, value in (("w.account", which.account), ("w.region", which.region)):
        if value is not None:
            question.where(f"{column} = {{}}", value)
    if which.fleet is not None:
        question.where("(w.fleet = {} OR c.name = {})", which.fleet, which.fleet)
    return question


async def page(
    tx: Tx, world: str, which: Filter, *, budget: str | None, statuses: Sequence[str], limit: int
) -> list[Listed]:
    """The newest first; of any status without one named."""
    question = _question(world, which)
    if budget is not None:
        question.where("w.leaf = {}", budget)
    if statuses and ENDED not in statuses:
        question.where("w.ended_at IS NULL")
    if statuses:
        question.where("w.status = ANY({})", list(statuses))
    order = f"ORDER BY w.submit DESC, w.account, w.region, w.fleet, w.number DESC LIMIT {int(limit)}"
    return await _read(tx, question, order)


async def called(tx: Tx, world: str, which: Filter, name: str) -> list[Listed]:
    """Those with the name or id, or whose jobs show it: the living ones first, each the newest first."""
    question = _question(world, which)
    question.where(
        """(w.name = {} OR (w.project, w.location, w.job_id) IN (SELECT account, region, job_id FROM custom_job
        WHERE world = $1 AND display_name = {}))""",
        name,
        name,
    )
    return await _read(tx, question, "ORDER BY w.ended_at IS NOT NULL, w.submit DESC, w.number DESC")


async def _read(tx: Tx, question: Question, order: str) -> list[Listed]:
    where = " AND ".join(question.conditions)
    rows = await tx.fetch(f"{_LISTED} WHERE {where} {order}", *question.values)
    world = question.values[0]
    found: list[Listed] = []
    for account, region, fleet, cluster, shown, *facts in rows:
        row = Row(*facts)
        found.append(Listed(FleetOf(Scope(world, account, region), fleet, cluster), shown or row.name, row))
    return found


async def decisions(
    tx: Tx, world: str, which: Filter, *, workload: str | None, kinds: Sequence[str], after: int | None, limit: int
) -> list[Decided]:
    """The newest, oldest first; with `after`, of one fleet, those with higher numbers, from there on."""
    question = _question(world, which)
    if workload is not None:
        question.where(_CONCERNS, workload, workload)
    if kinds:
        question.where("w.kind = ANY({})", list(kinds))
    if after is not None:
        question.where("w.seq > {}", after)
    way = "DESC" if after is None else "ASC"
    order = f"ORDER BY w.at {way}, w.account {way}, w.region {way}, w.fleet {way}, w.seq {way} LIMIT {int(limit)}"
    if which.fleet is not None and after is not None:
        order = f"ORDER BY w.seq LIMIT {int(limit)}"
    rows = await tx.fetch(f"{_DECIDED} WHERE {' AND '.join(question.conditions)} {order}", *question.values)
    found = [Decided(FleetOf(Scope(world, row[0], row[1]), row[2], row[3]), *tuple(row)[4:]) for row in rows]
    return found if after is not None else found[::-1]
