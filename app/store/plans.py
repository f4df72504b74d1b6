"""Training plans, their reserved capacities and extensions; and who uses them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from app.core.node import UNHEALTHY
from app.core.plans import Extension, Plan, Reserved
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.pages import Question
from app.store.rows import Shape, dollars, insert_rows

_COLUMNS = [column for column in Shape(Plan).columns if column != "reserved"]
_SELECT = ", ".join(_COLUMNS)
_values = Shape(Plan).getter(_COLUMNS)
RESERVED = Shape(Reserved)
EXTENSION = Shape(Extension)
_TENANT = "world = $1 AND account = $2 AND region = $3"
_KEY = ("world", "account", "region", "plan")
_SORTS = {"TrainingPlanName": "name", "StartTime": "starts_at", "Status": "status"}
STATUS = """CASE WHEN settles_at > $4 THEN 'Pending' WHEN declined_at IS NOT NULL THEN 'Failed'
    WHEN starts_at > $4 THEN 'Scheduled' WHEN ends_at > $4 THEN 'Active' ELSE 'Expired' END COLLATE "C" """
"""`core.plans.Plan.status` in SQL, so that a list can be filtered and cut by it."""


class Use(NamedTuple):
    """Machines of a reserved capacity, or of one of its UltraServers: held, and held by nodes that are ill."""

    held: int
    unhealthy: int


class Fee(NamedTuple):
    """What a plan cost upfront, or one of its extensions by number, in micro-dollars."""

    account: str
    region: str
    plan: str
    extension: int | None
    instance_type: str
    instances: int
    at: WorldTime
    micro_usd: int
    evidence: str


Uses = dict[tuple[str, int | None], Use]
"""By reservation id and UltraServer number (None without UltraServers)."""


def _tenant(scope: Scope) -> tuple[str, str, str]:
    return scope.world, scope.account, scope.region


async def insert(tx: Tx, scope: Scope, plan: Plan) -> bool:
    """True when the plan was written, False when its name was taken."""
    made = await tx.fetchval(
        f"""INSERT INTO training_plan (world, account, region, {_SELECT})
        VALUES ($1, $2, $3, {dollars(4, len(_COLUMNS))}) ON CONFLICT DO NOTHING RETURNING true""",
        *_tenant(scope),
        *_values(plan),
    )
    if made:
        records = [(*_tenant(scope), plan.name, *RESERVED.values(one)) for one in plan.reserved]
        await insert_rows(tx, "reserved_capacity", (*_KEY, *RESERVED.columns), records)
    return bool(made)


async def get(tx: Tx, scope: Scope, name: str) -> Plan | None:
    return (await read(tx, scope, [name])).get(name)


async def read(tx: Tx, scope: Scope, names: Iterable[str]) -> dict[str, Plan]:
    """The plans of these names that there are, by name."""
    rows = await tx.fetch(
        f"SELECT {_SELECT} FROM training_plan WHERE {_TENANT} AND name = ANY($4) ORDER BY name",
        *_tenant(scope),
        sorted(names),
    )
    return await _whole(tx, scope, [Plan(*row) for row in rows])


async def lock(tx: Tx, scope: Scope, names: Iterable[str]) -> dict[str, Plan]:
    """The same, locked until the transaction ends: who takes machines of a plan takes them alone. After all clusters,
    rules and pools."""
    wanted = sorted(names)
    await tx.execute(
        f"SELECT 1 FROM training_plan WHERE {_TENANT} AND name = ANY($4) ORDER BY name FOR UPDATE",
        *_tenant(scope),
        wanted,
    )
    return await read(tx, scope, wanted)


async def _whole(tx: Tx, scope: Scope, plans: Sequence[Plan]) -> dict[str, Plan]:
    rows = await tx.fetch(
        f"SELECT plan, {RESERVED.select} FROM reserved_capacity WHERE {_TENANT} AND plan = ANY($4) ORDER BY number",
        *_tenant(scope),
        [plan.name for plan in plans],
    )
    parts: dict[str, list[Reserved]] = {}
    for name, *facts in rows:
        parts.setdefault(name, []).append(Reserved(*facts))
    return {plan.name: replace(plan, reserved=tuple(parts.get(plan.name, ()))) for plan in plans}


async def owner(tx: Tx, scope: Scope, reservation_id: str) -> str | None:
    """The plan that the reserved capacity belongs to."""
    name: str | None = await tx.fetchval(
        f"SELECT plan FROM reserved_capacity WHERE {_TENANT} AND reservation_id = $4", *_tenant(scope), reservation_id
    )
    return name


async def page(
    tx: Tx,
    scope: Scope,
    now: WorldTime,
    *,
    sort: str,
    descending: bool,
    after: Sequence[Any] | None,
    limit: int,
    starts_after: WorldTime | None,
    starts_before: WorldTime | None,
    statuses: Sequence[str] | None,
) -> list[Plan]:
    """Up to `limit` plans from behind `after` = (sort value, name)."""
    question = Question(*_tenant(scope), now)
    order = question.beyond((_SORTS[sort], "name"), after, descending)
    question.between("starts_at", starts_after, starts_before)
    if statuses is not None:
        question.where("status = ANY({})", list(statuses))
    rows = await tx.fetch(
        f"""SELECT {_SELECT} FROM (SELECT *, {STATUS} AS status FROM training_plan WHERE {_TENANT}) AS t
        WHERE true{question.text} ORDER BY {order} LIMIT {int(limit)}""",
        *question.values,
    )
    return list((await _whole(tx, scope, [Plan(*row) for row in rows])).values())


async def live(tx: Tx, scope: Scope, now: WorldTime) -> dict[str, int]:
    """Instances reserved by each plan that has neither failed nor expired: what a quota counts."""
    rows = await tx.fetch(
        f"""SELECT name, instance_type, total FROM training_plan
        WHERE {_TENANT} AND ends_at > $4 AND (declined_at IS NULL OR settles_at > $4) ORDER BY name""",
        *_tenant(scope),
        now,
    )
    found: dict[str, int] = {"": len(rows)}
    for row in rows:
        found[row["instance_type"]] = found.get(row["instance_type"], 0) + row["total"]
    return found


async def uses(tx: Tx, scope: Scope, reservation_ids: Sequence[str]) -> Uses:
    """How many machines of these reserved capacities are held."""
    rows = await tx.fetch(
        f"""SELECT reservation, server, count(*), count(*) FILTER (WHERE status = ANY($5)) FROM instance
        WHERE {_TENANT} AND reservation = ANY($4) AND zone IS NOT NULL GROUP BY reservation, server""",
        *_tenant(scope),
        list(reservation_ids),
        list(UNHEALTHY),
    )
    return {(row[0], row[1]): Use(row[2], row[3]) for row in rows}


async def wanted(tx: Tx, scope: Scope, cluster_id: str | None, arns: Sequence[str]) -> dict[str, int]:
    """How many nodes the groups of other clusters want of each plan."""
    rows = await tx.fetch(
        f"""SELECT training_plan, sum(target) FROM instance_group WHERE {_TENANT} AND training_plan = ANY($4)
        AND delete_requested_at IS NULL AND cluster_id IS DISTINCT FROM $5 GROUP BY training_plan""",
        *_tenant(scope),
        list(arns),
        cluster_id,
    )
    return {arn: int(total) for arn, total in rows}


async def holders(tx: Tx, scope: Scope, arn: str) -> list[str]:
    """The ids of the clusters with a group on the plan, in the order in which they are locked."""
    rows = await tx.fetch(
        f"SELECT DISTINCT cluster_id FROM instance_group WHERE {_TENANT} AND training_plan = $4 ORDER BY 1",
        *_tenant(scope),
        arn,
    )
    return [row[0] for row in rows]


async def wake(tx: Tx, scope: Scope, cluster_id: str, arns: Sequence[str], at: WorldTime) -> None:
    """The nodes of the locked cluster that wait for these plans may try to launch at `at`."""
    await tx.execute(
        """UPDATE instance i SET launch_after = greatest(i.since, $6), due_at = least(i.due_at, greatest(i.since, $6))
        FROM instance_group g WHERE (g.world, g.account, g.region, g.cluster_id, g.name)
            = (i.world, i.account, i.region, i.cluster_id, i.group_name)
        AND i.world = $1 AND i.account = $2 AND i.region = $3 AND i.cluster_id = $4 AND g.training_plan = ANY($5)
        AND i.launch_after > $6 AND i.zone IS NULL AND i.terminate_at IS NULL""",
        *_tenant(scope),
        cluster_id,
        list(arns),
        at,
    )


async def fees(tx: Tx, world: str, since: WorldTime | None, until: WorldTime | None) -> list[Fee]:
    """What was charged upfront in [since, until); a payment that failed is none."""
    rows = await tx.fetch(
        """SELECT account, region, plan, extension, instance_type, instances, at, fee, fee_evidence FROM (
            SELECT account, region, name AS plan, NULL::int AS extension, instance_type, total AS instances,
                created_at AS at, fee, fee_evidence, declined_at FROM training_plan WHERE world = $1
            UNION ALL SELECT e.account, e.region, e.plan, e.number, p.instance_type, p.total, e.extended_at, e.fee,
                e.fee_evidence, e.declined_at FROM plan_extension e JOIN training_plan p
                ON (p.world, p.account, p.region, p.name) = (e.world, e.account, e.region, e.plan) WHERE e.world = $1
        ) AS charged WHERE declined_at IS NULL AND ($2::timestamptz IS NULL OR at >= $2)
            AND ($3::timestamptz IS NULL OR at < $3)
        ORDER BY at, account, region, plan, extension NULLS FIRST""",
        world,
        since,
        until,
    )
    return [Fee(*row) for row in rows]


async def extensions(tx: Tx, scope: Scope, plan: str, after: int = 0, limit: int | None = None) -> list[Extension]:
    """The plan's extensions, oldest first, from behind the number `after`."""
    rows = await tx.fetch(
        f"""SELECT {EXTENSION.select} FROM plan_extension WHERE {_TENANT} AND plan = $4 AND number > $5
        ORDER BY number LIMIT $6""",
        *_tenant(scope),
        plan,
        after,
        limit,
    )
    return [Extension(*row) for row in rows]


async def extend(tx: Tx, scope: Scope, plan: Plan, extension: Extension) -> None:
    """Write the extension; unless its payment failed, plan and last reserved capacity end when it does."""
    await insert_rows(
        tx,
        "plan_extension",
        (*_KEY, *EXTENSION.columns),
        [(*_tenant(scope), plan.name, *EXTENSION.values(extension))],
    )
    if extension.declined_at is not None:
        return
    await tx.execute(
        f"UPDATE training_plan SET ends_at = $5 WHERE {_TENANT} AND name = $4",
        *_tenant(scope),
        plan.name,
        extension.ends_at,
    )
    await tx.execute(
        f"UPDATE reserved_capacity SET ends_at = $6 WHERE {_TENANT} AND plan = $4 AND number = $5",
        *_tenant(scope),
        plan.name,
        plan.reserved[-1].number,
        extension.ends_at,
    )
