"""Nodes that arrive in their new group, at the moment at which they have left the old one."""

from collections.abc import Mapping

from app.core.cluster import Cluster, Group
from app.core.instance import next_due
from app.core.moves import arrived, bill
from app.core.scope import Scope
from app.core.times import WorldTime
from app.core.world import World
from app.store import instances, ledger, moves
from app.store.db import Tx
from app.usecases.prices import rates


async def take_in(
    tx: Tx, scope: Scope, world: World, cluster: Cluster, groups: Mapping[str, Group], at: WorldTime
) -> None:
    """Part of a pass over the cluster: the group has had their places since the request."""
    due = await moves.take_due(tx, scope, cluster.cluster_id, at)
    if not due:
        return
    last = await moves.last_bills(tx, scope, cluster.cluster_id, [one.logical_id for one in due])
    nodes = [arrived(one, groups[one.group], cluster, last.get(one.logical_id, (0, None))[0]) for one in due]
    dues = [next_due(node, world.timings.delays) for node in nodes]
    await instances.insert(tx, scope, cluster.cluster_id, nodes, dues)
    await moves.bring_interfaces(tx, scope, cluster.cluster_id, [one.instance_id for one in due])
    prices = await rates(tx, scope.world, scope.region, {node.instance_type for node in nodes})
    bills = [bill(node, last.get(node.logical_id, (0, None))[1]) for node in nodes]
    await ledger.insert(tx, scope, cluster.cluster_id, bills, prices)
