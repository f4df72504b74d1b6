"""The emulated slurm.conf of a cluster: read and edited (HP-12, CT-9).

The file is not written when nodes come and go. It is worked out when somebody looks, from the last edit and what has
become of the groups since: so a pass over ten thousand nodes has nothing to write, and no look changes anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from app import catalog
from app.core import ids, slurm_conf
from app.core.cluster import CONTROLLER, LOGIN, Cluster, Group
from app.core.errors import Conflict, Invalid
from app.core.intent import SLURM
from app.core.node import Node
from app.core.scope import Scope
from app.core.slurm_conf import GroupView, Views
from app.core.times import WorldTime
from app.core.world import World
from app.store import clusters, slurm
from app.store.db import Tx
from app.store.slurm import Edit, JoinedNode
from app.usecases.clusters import must_get, must_lock, world_of
from app.usecases.provisioning import Policy

JOINED = (Node.RUNNING, Node.ILL, Node.REBOOTING, Node.EXAMINED)
"""Where a node stands from its joining the Slurm cluster until it is told to leave."""


@dataclass(frozen=True, slots=True)
class SlurmConf:
    """The file; `version` is another whenever the content is, and `edited_at` None if no user has edited it."""

    cluster: str
    content: str
    version: str
    edited_at: WorldTime | None


async def show(tx: Tx, scope: Scope, name_or_arn: str) -> SlurmConf:
    """The file as it is now. Invalid, Conflict: the cluster has none, or none yet."""
    world = await world_of(tx, scope)
    cluster = await must_get(tx, scope, name_or_arn)
    return (await _file(tx, scope, world, cluster))[0]


async def edit(tx: Tx, scope: Scope, name_or_arn: str, content: str, version: str, policy: Policy) -> SlurmConf:
    """Replace the file. Conflict: it is no longer the one of that version, so something would be lost."""
    world, cluster = await must_lock(tx, scope, name_or_arn, policy)
    found, views = await _file(tx, scope, world, cluster)
    if found.version != version:
        raise Conflict(
            f"The slurm.conf of cluster '{cluster.name}' has changed: it is at version {found.version}, not "
            f"'{version[:80]}'. Read it again and edit what you then have."
        )
    slurm_conf.check(content)
    await slurm.save(tx, scope, cluster.cluster_id, Edit(content, views, world.now))
    return _shown(cluster, content, world.now)


async def _file(tx: Tx, scope: Scope, world: World, cluster: Cluster) -> tuple[SlurmConf, Views]:
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
    _check_has_file(cluster, groups)
    nodes = [
        node for node in await slurm.joined(tx, scope, cluster.cluster_id, JOINED) if node.group in groups
    ]  # a group may go between the two statements
    views = _views(groups, nodes, world.seed)
    edited = await slurm.read(tx, scope, cluster.cluster_id)
    if edited is None:
        controllers = [node for node in nodes if groups[node.group].node_type == CONTROLLER]
        host = ids.host_name(world.seed, controllers[0].instance_id) if controllers else None
        return _shown(cluster, slurm_conf.merge(slurm_conf.first_text(cluster.name, host), {}, views), None), views
    return _shown(cluster, slurm_conf.merge(edited.content, edited.groups, views), edited.edited_at), views


def _shown(cluster: Cluster, content: str, edited_at: WorldTime | None) -> SlurmConf:
    return SlurmConf(cluster.name, content, sha256(content.encode()).hexdigest()[:16], edited_at)


def _check_has_file(cluster: Cluster, groups: Mapping[str, Group]) -> None:
    if cluster.orchestrator != SLURM:
        raise Invalid(f"Cluster '{cluster.name}' is orchestrated by EKS and has no slurm.conf. Name a Slurm cluster.")
    if groups and all(group.node_type is None for group in groups.values()):
        raise Invalid(
            f"No instance group of cluster '{cluster.name}' has SlurmConfig, so its slurm.conf is made by its own "
            "lifecycle scripts, which are not emulated. Give the groups SlurmConfig with UpdateCluster."
        )
    if cluster.controller_ready_at is None and cluster.in_service_at is None:
        raise Conflict(
            f"Cluster '{cluster.name}' has no slurm.conf yet: it is there once the controller is up. Try again later."
        )


def _views(groups: Mapping[str, Group], nodes: list[JoinedNode], seed: int) -> Views:
    """The compute groups as the file has them. Two nodes that drew one address are one host."""
    hosts: dict[str, dict[str, list[str]]] = {
        name: {} for name, group in groups.items() if group.node_type not in (None, CONTROLLER, LOGIN)
    }
    seen: set[str] = set()
    for node in nodes:
        name = ids.host_name(seed, node.instance_id)
        if node.group in hosts and name not in seen:
            seen.add(name)
            hosts[node.group].setdefault(node.instance_type, []).append(name)
    return {
        name: GroupView(
            tuple(groups[name].spec["request"].get("SlurmConfig", {}).get("PartitionNames", ())),
            {_hardware(kind): tuple(names) for kind, names in by_type.items()},
            groups[name].next_ordinal,
        )
        for name, by_type in hosts.items()
    }


def _hardware(name: str) -> str:
    """What a NodeName line says of the machine."""
    kind = catalog.instance_type(name)
    gres = f" Gres=gpu:{kind.accelerators}" if kind.accelerators else ""
    return f"CPUs={kind.vcpu} RealMemory={kind.memory_mib}{gres}"
