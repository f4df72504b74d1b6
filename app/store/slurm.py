"""What of a cluster's slurm.conf is kept: the user's last edit, and how the groups were then."""

from collections.abc import Collection
from typing import NamedTuple

from app.core.scope import Scope
from app.core.slurm_conf import GroupView, Views
from app.core.times import WorldTime
from app.store.db import Tx

_KEY = "world = $1 AND account = $2 AND region = $3 AND cluster_id = $4"


class Edit(NamedTuple):
    """The file as it was edited, and the groups as they were in it."""

    content: str
    groups: Views
    edited_at: WorldTime


class JoinedNode(NamedTuple):
    """A node that the Slurm cluster has."""

    group: str
    instance_type: str
    instance_id: str


async def read(tx: Tx, scope: Scope, cluster_id: str) -> Edit | None:
    row = await tx.fetchrow(
        f"SELECT content, groups, edited_at FROM slurm_conf WHERE {_KEY}",
        scope.world,
        scope.account,
        scope.region,
        cluster_id,
    )
    if row is None:
        return None
    content, groups, edited_at = row
    views = {
        name: GroupView(
            tuple(its["partitions"]),
            {options: tuple(names) for options, names in its["nodes"].items()},
            its["generation"],
        )
        for name, its in groups.items()
    }
    return Edit(content, views, edited_at)


async def save(tx: Tx, scope: Scope, cluster_id: str, edit: Edit) -> None:
    groups = {
        name: {"partitions": its.partitions, "nodes": dict(its.nodes), "generation": its.generation}
        for name, its in edit.groups.items()
    }
    await tx.execute(
        """INSERT INTO slurm_conf (world, account, region, cluster_id, content, groups, edited_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (world, account, region, cluster_id)
        DO UPDATE SET content = $5, groups = $6, edited_at = $7""",
        scope.world,
        scope.account,
        scope.region,
        cluster_id,
        edit.content,
        groups,
        edit.edited_at,
    )


async def joined(tx: Tx, scope: Scope, cluster_id: str, statuses: Collection[str]) -> list[JoinedNode]:
    """The nodes in these statuses that have an instance, in the order of their groups' ordinals."""
    rows = await tx.fetch(
        f"""SELECT group_name, instance_type, instance_id FROM instance
        WHERE {_KEY} AND status = ANY($5) AND instance_id IS NOT NULL ORDER BY group_name, ordinal""",
        scope.world,
        scope.account,
        scope.region,
        cluster_id,
        list(statuses),
    )
    return [JoinedNode(*row) for row in rows]
