"""Extensions of clusters, and the nodes that they run on."""

from collections.abc import Sequence

from app.core.extensions import Census, Extension
from app.core.node import Node
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import Shape, dollars

SHAPE = Shape(Extension)
_KEY = "world = $1 AND account = $2 AND region = $3 AND cluster_id = $4"
_CHANGES = ", ".join(f"{column} = excluded.{column}" for column in SHAPE.columns if column != "name")
PUT = f"""INSERT INTO cluster_extension (world, account, region, cluster_id, {SHAPE.select})
    VALUES ({dollars(1, 4 + len(SHAPE.columns))})
    ON CONFLICT (world, account, region, cluster_id, name) DO UPDATE SET {_CHANGES}"""
CENSUS = f"""SELECT count(*), count(*) FILTER (WHERE since <= $6),
    coalesce(array_agg(instance_id) FILTER (WHERE instance_id = ANY($7)), '{{}}'),
    count(*) FILTER (WHERE since <= $6 AND instance_id = ANY($7))
    FROM instance WHERE {_KEY} AND status = $5"""


def _key(scope: Scope, cluster_id: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, cluster_id


async def of_cluster(tx: Tx, scope: Scope, cluster_id: str) -> list[Extension]:
    """All that the cluster has or had, one for each name, in the order of their creation."""
    rows = await tx.fetch(
        f"SELECT {SHAPE.select} FROM cluster_extension WHERE {_KEY} ORDER BY created_at, name", *_key(scope, cluster_id)
    )
    return [Extension(*row) for row in rows]


async def put(tx: Tx, scope: Scope, cluster_id: str, one: Extension) -> None:
    """Write it over the last one of its name."""
    await tx.execute(PUT, *_key(scope, cluster_id), *SHAPE.values(one))


async def census(tx: Tx, scope: Scope, cluster_id: str, ready_before: WorldTime, suspects: Sequence[str]) -> Census:
    """The running nodes, counted."""
    row = await tx.fetchrow(CENSUS, *_key(scope, cluster_id), Node.RUNNING, ready_before, list(suspects))
    assert row is not None
    total, ready, found, ready_found = row
    return Census(total, ready, frozenset(found), ready_found)
