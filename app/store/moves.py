"""Nodes on their way into a group."""

from collections.abc import Iterable, Sequence

from app.core.moves import Move
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import Shape, insert_rows

SHAPE = Shape(Move)
_KEY_COLUMNS = ("world", "account", "region", "cluster_id")
_KEY = "world = $1 AND account = $2 AND region = $3 AND cluster_id = $4"


def _key(scope: Scope, cluster_id: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, cluster_id


async def insert(tx: Tx, scope: Scope, cluster_id: str, begun: Iterable[Move]) -> None:
    """They will arrive in this cluster."""
    records = [(*_key(scope, cluster_id), *SHAPE.values(one)) for one in begun]
    await insert_rows(tx, "node_move", (*_KEY_COLUMNS, *SHAPE.columns), records)


async def take_due(tx: Tx, scope: Scope, cluster_id: str, at: WorldTime) -> list[Move]:
    """Those that arrive by `at`, in their order, and are not on their way any more."""
    rows = await tx.fetch(
        f"DELETE FROM node_move WHERE {_KEY} AND arrives_at <= $5 RETURNING {SHAPE.select}",
        *_key(scope, cluster_id),
        at,
    )
    return sorted((Move(*row) for row in rows), key=lambda one: (one.arrives_at, one.group, one.ordinal))


async def bring_interfaces(tx: Tx, scope: Scope, cluster_id: str, instance_ids: Sequence[str]) -> None:
    """The instances' network interfaces belong to this cluster's nodes now."""
    await tx.execute(
        "UPDATE node_interface SET cluster_id = $4 WHERE world = $1 AND account = $2 AND region = $3 "
        "AND instance_id = ANY($5)",
        *_key(scope, cluster_id),
        list(instance_ids),
    )


async def last_bills(
    tx: Tx, scope: Scope, cluster_id: str, logical_ids: Sequence[str]
) -> dict[str, tuple[int, WorldTime | None]]:
    """Number and end of the last interval that each of the nodes has had in this cluster."""
    rows = await tx.fetch(
        f"""SELECT DISTINCT ON (logical_id) logical_id, number, ended_at FROM ledger
        WHERE {_KEY} AND logical_id = ANY($5) ORDER BY logical_id, number DESC""",
        *_key(scope, cluster_id),
        list(logical_ids),
    )
    return {name: (number, end) for name, number, end in rows}
