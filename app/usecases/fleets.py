"""Fleets for jobs: which cluster a job means, what it needs of its nodes, and how it comes to wait there (VX-24)."""

from typing import NamedTuple

from app.core.budget_tree import ROOT
from app.core.cluster import Cluster
from app.core.errors import Invalid
from app.core.job import Job
from app.core.job_labels import CHECKPOINT, PRIORITY, Home, Wish, chosen, duration
from app.core.job_spec import Pool, Spec, pools, scheduling
from app.core.machines import gpus
from app.core.scheduling.workload import Kind
from app.core.scope import Scope
from app.core.times import WorldTime, to_millis
from app.core.world import World
from app.store import budgets, clusters, wakes, workloads
from app.store import scheduling as fleet_rows
from app.store.db import Tx
from app.store.workloads import Row
from app.usecases import governance, team_quotas
from app.usecases.machines import machine


class Need(NamedTuple):
    """A replica that needs `gpus` GPUs of `model` on one node. Without GPUs it needs a node and takes none of it."""

    replica: str
    model: str | None
    gpus: int


async def choose(tx: Tx, world: str, wish: Wish, home: Home) -> Cluster:
    """The cluster that is meant, locked until the transaction ends; from now on its passes look after jobs. Invalid
    when none is, or several are, or it is going."""
    found = chosen(wish, await clusters.called(tx, world, wish.cluster or "", wish.account, wish.region), home)
    scope = Scope(world, found.account, found.region)
    held = await clusters.lock(tx, scope, found.arn)
    cluster = chosen(wish, [] if held is None else [held.cluster], home)
    await host(tx, world, cluster)
    return cluster


async def host(tx: Tx, world: str, cluster: Cluster) -> None:
    """From now on passes over the locked cluster look after work on its nodes."""
    if not cluster.hosts:
        scope = Scope(world, cluster.account, cluster.region)
        await clusters.take_jobs(tx, scope, cluster.cluster_id)
        await fleet_rows.lock(tx, scope, cluster.cluster_id)  # its passes leave wakes, though no work has come yet


def needs(spec: Spec) -> list[Need]:
    """What each replica of a job needs of a node: as many GPUs of the same model as its machine type has.

    Invalid for an accelerator that no node has, and for GPUs of several models.
    """
    found = [
        Need(f"workerpool{pool.index}-{ordinal}", *need)
        for pool in pools(spec)
        for need in [_need(pool)]
        for ordinal in range(pool.replicas)
    ]
    models = sorted({need.model for need in found if need.model is not None})
    if len(models) > 1:
        raise Invalid(
            f"The job's machines have GPUs of several models, {' and '.join(models)}; on a HyperPod cluster all of a "
            "job's GPUs are of one. Use one model, or leave the label windtunnel-cluster out."
        )
    return found


def _need(pool: Pool) -> tuple[str | None, int]:
    kind = machine(pool.machine_type)
    found = gpus(kind, pool.accelerator, pool.accelerators)
    if found is None and (pool.accelerators or kind.built_in is not None):
        raise Invalid(
            f"Machine type {pool.machine_type} has accelerators that no node of a HyperPod cluster has. Use a machine "
            "type with GPUs, or leave the label windtunnel-cluster out."
        )
    return found or (None, 0)


async def parents(tx: Tx, scope: Scope, cluster_id: str, now: WorldTime) -> dict[str, str]:
    """What work on the cluster may be charged to, and what each is below: its teams, if it has compute quotas (FS-17),
    or else the world's budgets."""
    teams = await team_quotas.teams(tx, scope, cluster_id, now)
    return dict.fromkeys(teams, ROOT) if teams else await budgets.parents(tx, scope.world)


class Gang(NamedTuple):
    """Replicas with so many GPUs of a model each; without a name of any model."""

    gpus: int
    replicas: int
    model: str = ""


def gang(spec: Spec) -> Gang:
    """The job's gang on a cluster. Its replicas are of one size, that of its largest (chosen); those without GPUs are
    no part of it."""
    wanted = [need for need in needs(spec) if need.gpus]
    most = max((need.gpus for need in wanted), default=0)
    return Gang(most, len(wanted) or 1, next((need.model for need in wanted if need.model), ""))


async def enlist(tx: Tx, world: World, scope: Scope, fleet: str, job: Job, gang: Gang) -> None:
    """The job waits for the fleet's scheduler."""
    checkpoint = duration(job.labels, CHECKPOINT)
    row = Row(
        name=job.job_id,
        number=await fleet_rows.number_workload(tx, scope, fleet),
        leaf=job.budget if job.budget in await parents(tx, scope, fleet, world.now) else None,
        gpus=gang.gpus,
        replicas=gang.replicas,
        min_runtime=(job.min_runtime or 0) * 1000,
        priority=await _priority(tx, scope, fleet, job, world.now),
        submit=to_millis(world.now),
        resumable=not scheduling(job.spec).disable_retries,
        kind=Kind.BATCH.value,
        checkpoint=None if checkpoint is None else checkpoint * 1000,
        model=gang.model,
        project=job.account,
        location=job.region,
        job_id=job.job_id,
    )
    await workloads.insert(tx, scope, fleet, row, row.submit)
    await wakes.leave(tx, scope, wakes.FLEET, fleet, world.now)


async def _priority(tx: Tx, scope: Scope, fleet: str, job: Job, now: WorldTime) -> int:
    """A number, or the weight of a class of the cluster's scheduler config (FS-17)."""
    text = job.labels.get(PRIORITY)
    if text is None or text.isdecimal():
        return int(text or 0)
    return team_quotas.priority(await governance.active(tx, scope, fleet, now), text)
