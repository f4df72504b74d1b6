"""Hosts are emptied before their nodes are repaired, and what follows once one is: its node is rebooted or
replaced, and returns without a mark (FS-11)."""

from collections.abc import Iterable, Sequence

from app.core import repair
from app.core.cluster import Cluster
from app.core.health import action, appoint_cure
from app.core.instance import Instance, next_due
from app.core.node import Node
from app.core.scheduling import events
from app.core.scheduling.packing import Host
from app.core.scope import Scope
from app.core.times import WorldTime, to_millis
from app.core.world import World
from app.store import clusters, hosts, instances, wakes
from app.store.db import Tx
from app.usecases.fleet_memory import Loaded

REBOOT, REPLACE = "reboot", "replace"
CURES = {REBOOT: repair.reboot, REPLACE: repair.replace}


async def empty(tx: Tx, scope: Scope, cluster: Cluster, degraded: Iterable[Instance], at: WorldTime) -> list[Instance]:
    """Hosts of degraded nodes are emptied before they are repaired; without NodeRecovery they stay empty then. The
    nodes that are no hosts: nothing need leave them. The cluster is locked; leaves a wake."""
    others, marked = [], False
    for node in degraded:
        cure = action(node.fault or "").lower() if cluster.recovers else None
        since = to_millis(at)
        done = await hosts.mark(tx, scope, cluster.cluster_id, node.logical_id, since, node.message, cure)
        marked |= done
        others += [] if done else [node]
    if marked:
        await wakes.leave(tx, scope, wakes.FLEET, cluster.cluster_id, at)
    return others


async def cure(tx: Tx, scope: Scope, cluster_id: str, others: Sequence[Instance], at: WorldTime) -> None:
    """Reboot or replace degraded nodes that are no hosts, unless they have left Running meanwhile."""
    if not others:
        return
    names = [node.logical_id for node in others]
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
