"""Jobs that run on a cluster's nodes, in the passes that move the one or the other (VX-7, VX-24)."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from app.core.binding import bereft
from app.core.cluster import Cluster
from app.core.gang import Gang
from app.core.instance import Instance
from app.core.job import Job
from app.core.job_errors import CLUSTER_GONE
from app.core.launching import Batch
from app.core.provisioning import Decision
from app.core.replica import Replica
from app.core.scheduling.decisions import Code
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import fleet_jobs, hosts, placements, replicas, wakes
from app.store.db import Tx
from app.store.fleet_jobs import JobKey
from app.usecases import host_repairs


async def hold(tx: Tx, scope: Scope, cluster: Cluster, nodes: Sequence[Instance]) -> list[JobKey]:
    """Lock the jobs that a pass over the cluster may touch, before anything that comes behind jobs is locked."""
    if cluster.delete_requested_at is not None and cluster.deletion_begun_at is None:
        return await fleet_jobs.lock_all(tx, scope, [cluster.cluster_id])
    return await fleet_jobs.lock_on(tx, scope, cluster.cluster_id, [node.logical_id for node in nodes])


async def hold_all(tx: Tx, scope: Scope, late: Iterable[Cluster]) -> None:
    """Lock all jobs of the locked clusters, several of whose passes are to be made up for in one transaction: the
    first of them locks what comes behind jobs."""
    hosts = [cluster.cluster_id for cluster in late if cluster.hosts]
    if hosts:
        await fleet_jobs.lock_all(tx, scope, hosts)


async def follow(tx: Tx, scope: Scope, was: Cluster, batch: Batch, made: Decision, held: Sequence[JobKey]) -> None:
    """What the pass means for the cluster's jobs: nodes that have left Running, or come to it, or the cluster's end.

    Last of all in the pass, since it leaves a wake.
    """
    cluster = made.cluster
    if batch.left:
        await _lose(tx, scope, cluster.cluster_id, held, batch.left, made.at)
    if was.deletion_begun_at is None and cluster.deletion_begun_at is not None:
        await fleet_jobs.fail(tx, scope, cluster.cluster_id, CLUSTER_GONE, made.at)
    if batch.degraded:
        others = await host_repairs.empty(tx, scope, cluster, batch.degraded, made.at)
        if cluster.recovers:
            await host_repairs.cure(tx, scope, cluster.cluster_id, others, made.at)
    if batch.left or batch.came or _is_another(was, cluster):
        await wakes.leave(tx, scope, wakes.FLEET, cluster.cluster_id, made.at)


def _is_another(was: Cluster, now: Cluster) -> bool:
    """It has come into service, or begun to go."""
    return was.in_service_at is not now.in_service_at or was.deletion_begun_at is not now.deletion_begun_at


async def taken_away(tx: Tx, scope: Scope, cluster_id: str, nodes: Sequence[str], at: WorldTime) -> None:
    """A request takes the nodes out of Running; the cluster is locked."""
    held = await fleet_jobs.lock_on(tx, scope, cluster_id, nodes)
    await _lose(tx, scope, cluster_id, held, dict.fromkeys(nodes, Code.MOVED), at)
    await wakes.leave(tx, scope, wakes.FLEET, cluster_id, at)


async def _lose(
    tx: Tx, scope: Scope, cluster_id: str, held: Iterable[JobKey], nodes: Mapping[str, str], at: WorldTime
) -> None:
    """The nodes left Running at `at`, each for a reason: their workers are lost, and hold no GPUs any more. The jobs
    are locked."""
    for tenant, keys in groupby(held, key=lambda key: key[:2]):
        home = Scope(scope.world, *tenant)
        found = await replicas.of_jobs(tx, home, [job_id for _, _, job_id in keys])
        lost = {job_id: [bereft(one, at) for one in some if one.node in nodes] for job_id, some in found.items()}
        await replicas.save(tx, home, lost)
        await fleet_jobs.hurry(tx, scope.world, [(*tenant, job_id) for job_id, some in lost.items() if some], at)
    await placements.leave_nodes(tx, scope, cluster_id, list(nodes), at)
    await hosts.leave(tx, scope, cluster_id, list(nodes.items()))


async def depart(tx: Tx, world: str, moved: Iterable[tuple[Job, Sequence[Replica], Gang]], at: WorldTime) -> None:
    """Who needs his node no more gives it back: all workers of a job that has ended or queues again, and one that was
    lost though its node was not. Each job is given as it was, with its workers, and as it has become."""
    for was, before, gang in moved:
        if not was.on_cluster or was.admitted_at is None or was.ended_at is not None:
            continue
        job = gang.job
        over = job.ended_at is not None or job.admitted_at is None
        left = [
            new.name
            for old, new in zip(before, gang.replicas, strict=True)
            if over or (old.node is not None and new.node is None)
        ]
        if left:
            home, key = Scope(world, job.fleet_account, job.fleet_region), (job.account, job.region, job.job_id)
            await placements.leave(tx, home, job.fleet, key, left, at)
