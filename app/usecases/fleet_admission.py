"""Jobs get nodes of a cluster: whole gangs, first come, first served, under the locks of cluster and fleet (VX-24)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from app import catalog
from app.core.binding import bound, is_hole
from app.core.cluster import Cluster
from app.core.errors import Invalid
from app.core.fleet_queue import Gang, Service
from app.core.ids import cluster_arn
from app.core.job_labels import Home, Wish, chosen
from app.core.job_spec import Pool, Spec, pools
from app.core.machines import gpus
from app.core.placing import Host, Need
from app.core.replica import Replica
from app.core.scope import Scope
from app.core.times import WorldTime
from app.core.world import World
from app.store import clusters, fleet_jobs, fleets, jobs, placements, replicas, wakes
from app.store.db import Tx
from app.store.fleet_jobs import Guest
from app.store.placements import NodeRow, Place
from app.usecases.machines import machine

PAGE = 100
"""How many of those who wait are looked at together."""
MOST_SHOWN = 1000


@dataclass(slots=True)
class Seen:
    """A cluster's nodes, those of the jobs that need some of them, and what they get."""

    nodes: Sequence[NodeRow]
    service: Service
    guests: list[Guest]


async def choose(tx: Tx, world: str, wish: Wish, home: Home) -> Cluster:
    """The cluster that is meant, locked until the transaction ends; from now on its passes look after jobs. Invalid
    when none is, or several are, or it is going."""
    found = chosen(wish, await clusters.called(tx, world, wish.cluster or "", wish.account, wish.region), home)
    scope = Scope(world, found.account, found.region)
    held = await clusters.lock(tx, scope, found.arn)
    cluster = chosen(wish, [] if held is None else [held.cluster], home)
    if not cluster.hosts:
        await clusters.take_jobs(tx, scope, cluster.cluster_id)
    return cluster


async def admit(tx: Tx, world: World, scope: Scope, cluster_id: str) -> int:
    """Place those who lack a node, and then those who queue, in their turn; how many jobs got nodes.

    What the cluster has still to do for an earlier instant goes first: then it is looked at again.
    """
    held = await clusters.lock(tx, scope, cluster_arn(scope.region, scope.account, cluster_id))
    if held is None or held.cluster.delete_requested_at is not None:
        return 0
    if held.due_at is not None and held.due_at < world.now:
        await wakes.leave(tx, scope, wakes.FLEET, cluster_id, world.now)
        return 0
    await fleets.lock(tx, scope, cluster_id)
    seen = await _begin(tx, scope, held.cluster)
    await _serve_waiting(tx, scope, cluster_id, world.now, seen)
    count = await _bind(tx, world, scope, cluster_id, seen)
    later = await jobs.next_waiting(tx, scope, cluster_id, world.now)
    if later is not None:
        await wakes.leave(tx, scope, wakes.FLEET, cluster_id, later)
    return count


async def look(tx: Tx, scope: Scope, cluster: Cluster, now: WorldTime) -> Seen:
    """The cluster's queue, and how it would be served now; nothing is changed. The first of many are enough."""
    seen = await _begin(tx, scope, cluster)
    _serve(seen, await fleet_jobs.waiting(tx, scope, cluster.cluster_id, now, MOST_SHOWN))
    return seen


async def _begin(tx: Tx, scope: Scope, cluster: Cluster) -> Seen:
    """The jobs that have lost nodes are served first."""
    nodes = await placements.nodes(tx, scope, cluster.cluster_id)
    holes = await fleet_jobs.holes(tx, scope, cluster.cluster_id)
    service = Service([host_of(row, cluster) for row in nodes])
    service.fill(map(gang_of, holes))
    return Seen(nodes, service, holes)


async def _serve_waiting(tx: Tx, scope: Scope, cluster_id: str, now: WorldTime, seen: Seen) -> None:
    """Those who queue, as long as anybody behind may get something."""
    skip = 0
    while not seen.service.is_over:
        page = await fleet_jobs.waiting(tx, scope, cluster_id, now, PAGE, skip=skip)
        _serve(seen, page)
        if len(page) < PAGE:
            return
        skip += PAGE


def _serve(seen: Seen, waiting: Sequence[Guest]) -> None:
    seen.service.start(map(gang_of, waiting))
    seen.guests += waiting


def host_of(row: NodeRow, cluster: Cluster) -> Host:
    """The node as a place for jobs. A cluster that is being created has no scheduler that could start any (chosen)."""
    kind = catalog.instance_type(row.instance_type)
    ready = row.ready and cluster.in_service_at is not None
    return Host(row.logical_id, kind.gpu.name if kind.gpu else None, kind.accelerators, row.taken, ready)


def gang_of(guest: Guest) -> Gang:
    """What has to be placed of the job."""
    found = needs(guest.spec)
    if guest.lacking is not None:
        lacking = set(guest.lacking)
        found = [need for need in found if need.replica in lacking]
    return Gang(guest.name, found)


def needs(spec: Spec) -> list[Need]:
    """What each replica of a job needs of a node: as many GPUs of the same model as its machine type has.

    Invalid for an accelerator that no node has.
    """
    return [
        Need(f"workerpool{pool.index}-{ordinal}", *need)
        for pool in pools(spec)
        for need in [_need(pool)]
        for ordinal in range(pool.replicas)
    ]


def _need(pool: Pool) -> tuple[str | None, int]:
    kind = machine(pool.machine_type)
    found = gpus(kind, pool.accelerator, pool.accelerators)
    if found is None and (pool.accelerators or kind.built_in is not None):
        raise Invalid(
            f"Machine type {pool.machine_type} has accelerators that no node of a HyperPod cluster has. Use a machine "
            "type with GPUs, or leave the label windtunnel-cluster out."
        )
    return found or (None, 0)


async def _bind(tx: Tx, world: World, scope: Scope, cluster_id: str, seen: Seen) -> int:
    """Write down who got which node, of those who want it still."""
    served = {guest.key: guest for guest in seen.guests if guest.name in seen.service.placed}
    wanting = await fleet_jobs.lock(tx, scope, cluster_id, served)
    places: list[Place] = []
    for tenant, keys in groupby(wanting, key=lambda key: key[:2]):
        home = Scope(world.name, *tenant)
        places += await _bind_tenant(tx, home, [served[key] for key in keys], seen, world.now)
    await placements.open_at(tx, scope, cluster_id, places, world.now)
    return len(wanting)


async def _bind_tenant(tx: Tx, home: Scope, guests: Sequence[Guest], seen: Seen, now: WorldTime) -> list[Place]:
    """The same for jobs of one project and region; the places that they take."""
    billing = {row.logical_id: row.billing for row in seen.nodes}
    workers = await replicas.of_jobs(tx, home, [guest.job_id for guest in guests])
    changed: dict[str, list[Replica]] = {}
    places: list[Place] = []
    for guest in guests:
        placed = seen.service.placed[guest.name]
        gpus_of = {need.replica: need.gpus for need in gang_of(guest).needs}
        taking = [one for one in workers[guest.job_id] if one.name in placed and (not guest.lacking or is_hole(one))]
        changed[guest.job_id] = [bound(one, placed[one.name], now) for one in taking]
        places += [
            Place(
                *guest.key,
                replica=one.name,
                number=one.machines,
                logical_id=placed[one.name],
                billing=billing[placed[one.name]],
                gpus=gpus_of[one.name],
                job_name=guest.display_name,
                budget=guest.budget,
            )
            for one in changed[guest.job_id]
        ]
    await replicas.save(tx, home, changed)
    await jobs.admit(tx, home, [guest.job_id for guest in guests if guest.lacking is None], now)
    await fleet_jobs.hurry(tx, home.world, [guest.key for guest in guests], now)
    return places
