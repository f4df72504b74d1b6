"""Hosts as requests see them: the GPU nodes of clusters with what runs there; marked for maintenance, and back again
(FS-11, CT-10)."""

from typing import NamedTuple

from app import catalog
from app.core.cluster import Cluster
from app.core.errors import Conflict, Invalid, NotFound
from app.core.ids import cluster_arn
from app.core.node import Node, vendor_status
from app.core.scheduling.packing import Host
from app.core.scope import Scope
from app.core.times import to_millis
from app.store import clusters, hosts, sessions, wakes
from app.store.db import Tx
from app.store.hosts import HostOf
from app.usecases import clocks, known_clusters

AWAY = "away"
"""The scheduler does not have the node: it does not run, or something is about to happen to it."""
NOTHING = "nothing"


class Shown(NamedTuple):
    """A host of a cluster. `state` is the scheduler's word, or `away`; `empty_at` is when the protection of what runs
    on a marked one has ended, in milliseconds; None: nothing does, or nothing of it is protected."""

    cluster: Cluster
    of: HostOf
    state: str
    empty_at: int | None

    @property
    def status(self) -> str:
        """AWS's word for the node."""
        return vendor_status(self.of.status)


async def listed(tx: Tx, world: str, cluster: str | None) -> list[Shown]:
    """The GPU nodes of the clusters that have had workloads, of one by name, id or ARN if it is given."""
    await sessions.see_one_state(tx)
    found = await known_clusters.living(tx, world, cluster)
    if cluster is not None and not found:
        raise NotFound(f"There is no cluster {cluster[:120]!r}. `windtunnel fleet list` shows those with GPUs.")
    return [one for each in found if each.hosts for one in await _of(tx, world, each)]


async def _of(tx: Tx, world: str, cluster: Cluster) -> list[Shown]:
    rows = await hosts.shown(tx, Scope(world, cluster.account, cluster.region), cluster.cluster_id)
    return [_shown(cluster, row) for row in rows if catalog.instance_type(row.instance_type).gpu is not None]


def _shown(cluster: Cluster, row: HostOf) -> Shown:
    state = AWAY if row.state is None or row.left_for is not None or row.status is not Node.RUNNING else row.state
    if state == Host.HEALTHY and row.marked_at is not None:
        state = Host.DRAINING  # the next pass will say so
    ends = [one.protected_until for one in row.residents if one.protected_until is not None]
    return Shown(cluster, row, state, max(ends, default=None) if state == Host.DRAINING else None)


async def show(tx: Tx, world: str, node: str) -> Shown:
    """The host by its node's logical id or instance id; NotFound without one."""
    await sessions.see_one_state(tx)
    await clocks.read(tx, world)
    return await _read(tx, *await _find(tx, world, node))


async def _find(tx: Tx, world: str, node: str) -> tuple[Scope, str, str]:
    found = await hosts.find(tx, world, node)
    if found is None:
        raise NotFound(
            f"There is no node {node[:80]!r} in any cluster of this world. `windtunnel host list` shows the hosts; "
            "give a host's NODE, or its instance id."
        )
    return found


async def _read(tx: Tx, scope: Scope, cluster_id: str, node: str) -> Shown:
    cluster = await clusters.get(tx, scope, cluster_arn(scope.region, scope.account, cluster_id))
    rows = [] if cluster is None else await hosts.shown(tx, scope, cluster_id)
    found = next((row for row in rows if row.node == node), None)
    if cluster is None or found is None:
        raise NotFound(f"Node {node} has just gone. `windtunnel host list` shows the hosts.")
    return _shown(cluster, found)


async def drain(tx: Tx, world: str, node: str, reason: str | None, then: str) -> Shown:
    """The host takes no new work, and is rebooted or replaced once it is empty; `nothing`: it stays empty until it is
    resumed. Marked again it gets the new reason and repair."""
    scope, cluster_id, name, at = await _hold(tx, world, node)
    if not await hosts.mark(tx, scope, cluster_id, name, at, reason, None if then == NOTHING else then):
        raise await _no_host(tx, scope, cluster_id, name)
    return await _told(tx, scope, cluster_id, name)


async def resume(tx: Tx, world: str, node: str) -> Shown:
    """The host takes work again. Conflict: it is not marked."""
    scope, cluster_id, name, _ = await _hold(tx, world, node)
    if not await hosts.unmark(tx, scope, cluster_id, name):
        raise Conflict(f"Host {name} is not marked for maintenance, so there is nothing to resume.")
    return await _told(tx, scope, cluster_id, name)


async def _hold(tx: Tx, world: str, node: str) -> tuple[Scope, str, str, int]:
    """The node's cluster, locked, so that no pass over it or its fleet goes on meanwhile; and the instant."""
    kept = await clocks.kept(tx, world)
    scope, cluster_id, name = await _find(tx, world, node)
    await clusters.lock(tx, scope, cluster_arn(scope.region, scope.account, cluster_id))
    return scope, cluster_id, name, to_millis(kept.now)


async def _told(tx: Tx, scope: Scope, cluster_id: str, node: str) -> Shown:
    found = await _read(tx, scope, cluster_id, node)
    await wakes.leave(tx, scope, wakes.FLEET, cluster_id, (await clocks.read(tx, scope.world)).now)
    return found


async def _no_host(tx: Tx, scope: Scope, cluster_id: str, node: str) -> Conflict | Invalid:
    """Why the scheduler does not have the node."""
    found = await _read(tx, scope, cluster_id, node)
    if not found.cluster.hosts:
        return Invalid(
            f"Cluster '{found.cluster.name}' has had no workload yet, so nothing need leave node {node}. "
            "BatchRebootClusterNodes and BatchReplaceClusterNodes act at once."
        )
    if catalog.instance_type(found.of.instance_type).gpu is None:
        return Invalid(f"Node {node} has no GPUs, so the scheduler puts no workloads there.")
    return Conflict(
        f"Node {node} takes no work now (it is {found.status}), so it cannot be drained. Mark it when it runs again."
    )
