"""Volumes and network interfaces of the customer's, attached to nodes and detached."""

from dataclasses import replace

from app import catalog
from app.core import attachments as core
from app.core import ids
from app.core.attachments import Interface, Volume
from app.core.cluster import Cluster
from app.core.errors import Invalid, NotFound
from app.core.instance import Instance
from app.core.intent import EKS
from app.core.scope import Scope
from app.core.times import after, to_iso
from app.core.world import World
from app.store import attachments, clusters, instances
from app.store.db import Tx
from app.usecases import clocks, failing
from app.usecases.clusters import must_lock
from app.usecases.provisioning import Policy

DETACH = "DetachClusterNodeVolume"


async def attach_volume(
    tx: Tx, scope: Scope, arn: str, instance_id: str, volume_id: str, policy: Policy
) -> tuple[Volume, str]:
    """The volume and its status. Asked again it gives the status that has come about, as storage drivers expect."""
    world, cluster, node = await _locked(tx, scope, arn, instance_id, policy, "attach")
    _check_eks(cluster)
    await attachments.lock_name(tx, scope, volume_id)
    found = await attachments.volume(tx, scope, volume_id)
    if found is not None and (status := _status(found, world)) != core.DETACHED:
        _check_same(found, cluster, instance_id, status)
        return found, status
    core.check_node(node, "attach")
    others = await attachments.volumes_of(tx, scope, cluster.cluster_id, instance_id)
    used = {one.device for one in others if _status(one, world) != core.DETACHED}
    until = after(world.now, world.timings.delays["attach"])
    made = Volume(
        volume_id, cluster.cluster_id, instance_id, core.free_device(used), world.now, None, None, settles_at=until
    )
    await attachments.put_volume(tx, scope, made)
    return made, _status(made, world)


def _check_same(volume: Volume, cluster: Cluster, instance_id: str, status: str) -> None:
    if (volume.cluster_id, volume.instance_id) != (cluster.cluster_id, instance_id):
        raise Invalid(
            f"Volume '{volume.volume_id}' is not in the available state: it is {status} at node "
            f"'{volume.instance_id}'. Detach it there first."
        )
    if status in (core.DETACHING, core.BUSY):
        raise Invalid(f"Volume '{volume.volume_id}' is {status}. Attach it again when it is detached.")


async def detach_volume(
    tx: Tx, scope: Scope, arn: str, instance_id: str, volume_id: str, policy: Policy
) -> tuple[Volume, str]:
    """The volume and its status. Asked again it gives the status that has come about; a busy one is tried again."""
    world, cluster, _ = await _locked(tx, scope, arn, instance_id, policy, "detach")
    _check_eks(cluster)
    await attachments.lock_name(tx, scope, volume_id)
    found = await attachments.volume(tx, scope, volume_id)
    if found is None or (found.cluster_id, found.instance_id) != (cluster.cluster_id, instance_id):
        raise NotFound(
            f"Volume '{volume_id}' is not attached to node '{instance_id}' of cluster '{cluster.name}'. "
            "AttachClusterNodeVolume attaches it."
        )
    if (status := _status(found, world)) in (core.DETACHING, core.DETACHED):
        return found, status
    [struck] = await failing.strike(tx, world, [failing.subject(world, cluster, DETACH)])
    until = after(world.now, world.timings.delays["detach"])
    leaving = replace(found, detach_requested_at=world.now, busy_at=world.now if struck else None, settles_at=until)
    await attachments.put_volume(tx, scope, leaving)
    return leaving, _status(leaving, world)


async def attach_interface(
    tx: Tx, scope: Scope, name_or_arn: str, instance_id: str, interface_id: str, policy: Policy
) -> tuple[Cluster, Interface]:
    """The cluster and the attachment; asked again for the same node it gives the same."""
    world, cluster, node = await _locked(tx, scope, name_or_arn, instance_id, policy, "attach")
    await attachments.lock_name(tx, scope, interface_id)
    found = await attachments.interface(tx, scope, interface_id)
    if found is not None and found.held:
        if (found.cluster_id, found.instance_id) != (cluster.cluster_id, instance_id):
            raise Invalid(
                f"Network interface '{interface_id}' is attached to node '{found.instance_id}'. It comes free when "
                "that node ends; use another interface."
            )
        return cluster, found
    core.check_node(node, "attach")
    hardware = catalog.instance_type(node.instance_type)
    attached = await attachments.interfaces_of(tx, scope, cluster.cluster_id, instance_id)
    core.check_room(node, attached, core.interface_limit(hardware.vcpu, hardware.efa))
    name = ids.interface_attachment_id(world.seed, interface_id, instance_id)
    made = Interface(interface_id, cluster.cluster_id, instance_id, name, world.now)
    await attachments.put_interface(tx, scope, made)
    return cluster, made


async def _locked(
    tx: Tx, scope: Scope, name_or_arn: str, instance_id: str, policy: Policy, verb: str
) -> tuple[World, Cluster, Instance]:
    world, cluster = await must_lock(tx, scope, name_or_arn, policy)
    core.check_cluster(cluster, verb)
    nodes = await instances.find(tx, scope, cluster.cluster_id, by="instance_id", values=[instance_id])
    if not nodes:
        raise NotFound(f"Node '{instance_id}' not found in cluster '{cluster.name}'. ListClusterNodes shows its nodes.")
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
    if groups[nodes[0].group].spec.get("restricted"):
        raise Invalid(f"Node '{instance_id}' is in a restricted instance group, whose nodes take nothing.")
    return world, cluster, nodes[0]


def _check_eks(cluster: Cluster) -> None:
    if cluster.orchestrator != EKS:
        raise Invalid(
            f"Cluster '{cluster.name}' uses the Slurm orchestrator: volumes are attached to nodes of EKS clusters "
            "only. Give a group of it InstanceStorageConfigs."
        )


def _status(volume: Volume, world: World) -> str:
    return core.volume_status(volume, world.now, world.timings.delays)


async def listed(tx: Tx, name: str) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The volumes and the network interfaces of a world, as its control API shows them."""
    world = await clocks.read(tx, name)
    volumes = [
        {
            **_place(account, region, cluster, one.instance_id),
            "volume": one.volume_id,
            "device": one.device,
            "status": _status(one, world),
            "attached_at": to_iso(one.attach_requested_at),
        }
        for account, region, cluster, one in await attachments.all_volumes(tx, name)
    ]
    interfaces = [
        {
            **_place(account, region, cluster, one.instance_id),
            "interface": one.interface_id,
            "attachment": one.attachment_id,
            "status": core.ATTACHED if one.held else core.DETACHED,
            "attached_at": to_iso(one.attached_at),
        }
        for account, region, cluster, one in await attachments.all_interfaces(tx, name)
    ]
    return volumes, interfaces


def _place(account: str, region: str, cluster: str, node: str) -> dict[str, str]:
    return {"account": account, "region": region, "cluster": cluster, "node": node}
