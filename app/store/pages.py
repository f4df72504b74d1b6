"""Pages of lists: one statement each, one range of an index, and no more columns than the answer shows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from app.core.node import Node
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.clusters import reference
from app.store.db import Tx

_TENANT = "c.world = $1 AND c.account = $2 AND c.region = $3 AND c.deleted_at IS NULL"
_SAME = "(g.world, g.account, g.region, g.cluster_id) = (c.world, c.account, c.region, c.cluster_id)"
_PLANS = (
    f"ARRAY(SELECT DISTINCT training_plan FROM instance_group g WHERE {_SAME} AND training_plan IS NOT NULL ORDER BY 1)"
)


class ListedCluster(NamedTuple):
    """What a list shows of a cluster, and the facts that its status is computed from."""

    cluster_id: str
    name: str
    created_at: WorldTime
    continuous: bool
    operation: str | None
    in_service_at: WorldTime | None
    failed_at: WorldTime | None
    rolling_back_at: WorldTime | None
    delete_requested_at: WorldTime | None
    plans: list[str]


class ListedNode(NamedTuple):
    """What a list shows of a node."""

    group: str
    ordinal: int
    logical_id: str
    instance_id: str | None
    instance_type: str
    created_at: WorldTime
    listed_at: WorldTime
    status: Node
    message: str | None
    zone: str | None
    image: str | None
    patched_at: WorldTime | None


_NODE_COLUMNS = [f"n.{'group_name' if name == 'group' else name}" for name in ListedNode._fields]
_STATUS = ListedNode._fields.index("status")


class NodePage(NamedTuple):
    """A page of nodes, the seed of their world, and whether their cluster is continuous."""

    seed: int
    continuous: bool
    nodes: list[ListedNode]


class Question:
    """Conditions and their values, numbered as the driver wants them."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)
        self.conditions: list[str] = []

    def where(self, condition: str, *values: Any) -> None:
        """Add a condition; each `{}` in it stands for a value."""
        places = [f"${len(self.values) + 1 + place}" for place in range(len(values))]
        self.conditions.append(condition.format(*places))
        self.values.extend(values)

    def beyond(self, columns: Sequence[str], after: Sequence[Any] | None, descending: bool) -> str:
        """Begin behind `after`; gives the ORDER BY."""
        if after is not None:
            self.where(f"({', '.join(columns)}) {'<' if descending else '>'} ({{}}, {{}})", *after)
        return ", ".join(f"{column} {'DESC' if descending else 'ASC'}" for column in columns)

    def between(self, column: str, after: WorldTime | None, before: WorldTime | None) -> None:
        """Later than `after` and earlier than `before`, as far as they are given."""
        if after is not None:
            self.where(f"{column} > {{}}", after)
        if before is not None:
            self.where(f"{column} < {{}}", before)

    @property
    def text(self) -> str:
        return "".join(f" AND {condition}" for condition in self.conditions)


async def clusters(
    tx: Tx,
    scope: Scope,
    *,
    by_name: bool,
    descending: bool,
    after: Sequence[Any] | None,
    limit: int,
    created_after: WorldTime | None,
    created_before: WorldTime | None,
    name_contains: str | None,
    plan_arn: str | None,
) -> list[ListedCluster]:
    """Up to `limit` live clusters by creation time or name, from behind `after` = (sort value, cluster id)."""
    question = Question(scope.world, scope.account, scope.region)
    order = question.beyond(("c.name" if by_name else "c.created_at", "c.cluster_id"), after, descending)
    question.between("c.created_at", created_after, created_before)
    if name_contains:
        question.where("strpos(c.name, {}) > 0", name_contains)
    if plan_arn is not None:
        question.where(f"EXISTS (SELECT 1 FROM instance_group g WHERE {_SAME} AND g.training_plan = {{}})", plan_arn)
    rows = await tx.fetch(
        f"""SELECT {", ".join(f"c.{name}" for name in ListedCluster._fields[:-1])}, {_PLANS} FROM cluster c
        WHERE {_TENANT}{question.text} ORDER BY {order} LIMIT {int(limit)}""",
        *question.values,
    )
    return [ListedCluster(*row) for row in rows]


async def nodes(
    tx: Tx,
    scope: Scope,
    name_or_arn: str,
    *,
    by_name: bool,
    descending: bool,
    after: Sequence[Any] | None,
    limit: int,
    group_contains: str | None,
    created_after: WorldTime | None,
    created_before: WorldTime | None,
    unlaunched: bool,
    terminating: bool = True,
) -> NodePage | None:
    """Up to `limit` nodes by creation of their place or by (group, ordinal), neither of which ever changes, so that a
    page misses and repeats nothing; None when there is no such cluster. `unlaunched` and `terminating` say whether such
    nodes are told of."""
    by, value = reference(scope, name_or_arn)
    question = Question(scope.world, scope.account, scope.region, value)
    sort = ("group_name", "ordinal") if by_name else ("n.created_at", "logical_id")
    order = question.beyond(sort, after, descending)
    question.between("listed_at", created_after, created_before)
    if group_contains is not None:
        question.where(
            f"group_name IN (SELECT g.name FROM instance_group g WHERE {_SAME} AND strpos(g.name, {{}}) > 0)",
            group_contains,
        )
    if not terminating:
        question.where("n.status <> {}", Node.TERMINATING.value)
    if not unlaunched:
        question.where("instance_id IS NOT NULL")
    columns = ", ".join(_NODE_COLUMNS)
    rows = await tx.fetch(
        f"""SELECT (SELECT seed FROM world WHERE world.name = $1), c.continuous, i.*
        FROM cluster c LEFT JOIN LATERAL (
            SELECT {columns} FROM instance n WHERE n.world = $1 AND n.account = $2 AND n.region = $3
                AND n.cluster_id = c.cluster_id{question.text} ORDER BY {order} LIMIT {int(limit)}) i ON true
        WHERE {_TENANT} AND c.{by} = $4""",
        *question.values,
    )
    if not rows:
        return None
    seed, continuous, *_ = rows[0]
    return NodePage(seed, continuous, [_node(facts) for _, _, *facts in rows if facts[0] is not None])


def _node(facts: list[Any]) -> ListedNode:
    facts[_STATUS] = Node(facts[_STATUS])
    return ListedNode(*facts)
