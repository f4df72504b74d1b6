"""Hosts are emptied before their nodes are repaired, and what follows once one is: its node is rebooted or
replaced, and returns without a mark (FS-11)."""

from collections.abc import Sequence

from app.core import repair
from app.core.cluster import Cluster
from app.core.health import action, appoint_cure
from app.core.instance import next_due
from app.core.launching import Batch
from app.core.node import Node
from app.core.scheduling import events
from app.core.scheduling.packing import Host
from app.core.scope import Scope
from app.core.times import WorldTime, to_millis
from app.core.world import World
from app.store import clusters, hosts, instances
from app.store.db import Tx
from app.usecases.fleet_memory import Loaded

REBOOT, REPLACE = "reboot", "replace"
CURES = {REBOOT: repair.reboot, REPLACE: repair.replace}


async def empty(tx: Tx, scope: Scope, cluster: Cluster, batch: Batch, at: WorldTime) -> None:
    """Hosts of degraded nodes are emptied before they are repaired; without NodeRecovery they stay empty then. A node
    that is no host is repaired at once. The cluster is locked; the fleet is to be woken."""
    others = []
    for node in batch.degraded:
        cure = action(node.fault or "").lower() if cluster.recovers else None
        name, since = node.logical_id, to_millis(at)
        if not await hosts.mark(tx, scope, cluster.cluster_id, name, since, node.message, cure) and cure is not None:
            others.append(name)
    if others:
        await _cure(tx, scope, cluster.cluster_id, others, at)


async def _cure(tx: Tx, scope: Scope, cluster_id: str, names: Sequence[str], at: WorldTime) -> None:
    nodes = await instances.find(tx, scope, cluster_id, by="logical_id", values=names)
    cured = [appoint_cure(node, at) for node in nodes if node.status is Node.RUNNING and node.terminate_at is None]
    await instances.save(tx, scope, cluster_id, cured, [at] * len(cured))
    await clusters.hurry(tx, scope, cluster_id, at)


async def begin(tx: Tx, world: World, scope: Scope, fleet: str, loaded: Loaded, at: WorldTime) -> None:
    """Reboot and replace the nodes whose hosts are drained; the cluster and the fleet are locked, and the nodes run.
    From now on the scheduler does not have them: they return as new ones."""
    known = loaded.state.hosts
    cures = {
        name: CURES[row.repair]
        for name, row in loaded.hosts.items()
        if row.repair in CURES and known[name].state == Host.DRAINED
    }
    if not cures:
        return
    nodes = await instances.find(tx, scope, fleet, by="logical_id", values=sorted(cures))
    cured = [cures[node.logical_id](node, at) for node in nodes]
    await instances.save(tx, scope, fleet, cured, [next_due(node, world.timings.delays) for node in cured])
    await clusters.hurry(tx, scope, fleet, at)
    for name in cures:
        events.node_lost(loaded.state, name, to_millis(at))
        loaded.hosts.pop(name)
