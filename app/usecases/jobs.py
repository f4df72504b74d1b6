"""Custom jobs as requests see them: create, get, list, cancel, delete (VX-1, VX-14, VX-15)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from app.core import job_spec
from app.core.admission import check_needs
from app.core.cluster import Cluster
from app.core.errors import FailedPrecondition, NotFound
from app.core.ids import job_id
from app.core.job import FINAL, POOL, Job, JobState, job_name, ran_ms, state
from app.core.job_labels import Home, check_budget, wish_of
from app.core.machines import check_machine, metrics
from app.core.managed_pools import Demand, demanded, fleet_of
from app.core.program import program
from app.core.replica import Replica, Worker
from app.core.scope import Scope
from app.core.world import World
from app.store import budgets, capacity, jobs, replicas
from app.store import fleets as fleet_rows
from app.store.db import Tx
from app.usecases import admission, fleets
from app.usecases.clusters import hold_world, no_world
from app.usecases.machines import machine, place

MOST_LISTED = 1000


@dataclass(frozen=True, slots=True)
class JobIntent:
    """What a request wants. `spec` is a CustomJobSpec in canonical JSON; `environment` is added to every replica's."""

    display_name: str
    spec: Mapping[str, Any]
    labels: Mapping[str, str] = field(default_factory=dict)
    encryption: str | None = None
    tuning_id: str | None = None
    trial_id: str | None = None
    pipeline_id: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    home: Home = field(default_factory=Home)


async def create(tx: Tx, scope: Scope, intent: JobIntent) -> Job:
    """Write down what is wanted; it is PENDING at once if the quota has room, or else QUEUED. On a cluster's nodes, and
    with a budget, it is QUEUED until the scheduler has looked.

    LimitExceeded when it needs more than the quota itself; Invalid for a spec that cannot be.
    """
    world = await hold_world(tx, scope)
    uses = check(scope, intent, world)
    cluster = await hold_cluster(tx, scope, intent)
    budget = await _budget(tx, world, intent, cluster)
    if cluster is not None:
        return await _create_on(tx, scope, intent, world, cluster)
    needs, limits = _sum(uses), await capacity.quotas(tx, scope)
    check_needs(needs, limits)
    demand = None if budget is None else demanded(uses, _strategy(intent), limits)
    if demand is not None:
        return await _create_managed(tx, scope, intent, world, needs, demand)
    number = await fleet_rows.number_job(tx, scope)
    job = replace(_build(scope, intent, world, number), needs=needs)
    if not limits:
        job = replace(job, admitted_at=world.now)
    await jobs.insert(tx, scope.world, job, job.admitted_at)
    await replicas.insert(tx, scope, job.job_id, _replicas(job))
    if limits:
        await admission.admit(tx, world, scope, POOL)
        job = (await _locked(tx, scope, job.job_id)).job
    return job


async def hold_cluster(tx: Tx, scope: Scope, intent: JobIntent) -> Cluster | None:
    """The cluster that the job's labels name, locked until the transaction ends; None: the region's pool."""
    wish = wish_of(intent.labels, job_spec.scheduling(intent.spec).strategy)
    return None if wish.cluster is None else await fleets.choose(tx, scope.world, wish, intent.home)


async def _create_on(tx: Tx, scope: Scope, intent: JobIntent, world: World, cluster: Cluster) -> Job:
    """VX-24: the scheduler gives it nodes of the cluster, which no quota of Vertex AI limits."""
    job = replace(
        _build(scope, intent, world, await fleet_rows.number_job(tx, scope)),
        fleet=cluster.cluster_id,
        fleet_account=cluster.account,
        fleet_region=cluster.region,
    )
    return await _enlist(tx, scope, world, job, fleets.gang(job.spec))


async def _create_managed(
    tx: Tx, scope: Scope, intent: JobIntent, world: World, needs: Mapping[str, int], demand: Demand
) -> Job:
    """FS-20: the scheduler gives it its part of the project's quota."""
    built = _build(scope, intent, world, await fleet_rows.number_job(tx, scope))
    job = replace(built, fleet=fleet_of(demand.metric), needs=needs)
    return await _enlist(tx, scope, world, job, fleets.Gang(demand.gpus, demand.replicas))


async def _enlist(tx: Tx, scope: Scope, world: World, job: Job, gang: fleets.Gang) -> Job:
    await jobs.insert(tx, scope.world, job, None)
    await replicas.insert(tx, scope, job.job_id, _replicas(job))
    await fleets.enlist(tx, world, Scope(scope.world, job.fleet_account, job.fleet_region), job.fleet, job, gang)
    return job


async def check_now(tx: Tx, scope: Scope, intent: JobIntent, world: World) -> None:
    """Refuse what `create` would refuse now; nothing is written down."""
    uses = check(scope, intent, world)
    cluster = await hold_cluster(tx, scope, intent)
    budget = await _budget(tx, world, intent, cluster)
    if cluster is None:
        limits = await capacity.quotas(tx, scope)
        check_needs(_sum(uses), limits)
        if budget is not None:
            demanded(uses, _strategy(intent), limits)


async def _budget(tx: Tx, world: World, intent: JobIntent, cluster: Cluster | None) -> str | None:
    """The budget that the job is charged to; None in a world without budgets, too. Invalid: it cannot be."""
    wish = wish_of(intent.labels, _strategy(intent))
    if wish.budget is None and not wish.min_runtime:
        return None
    if cluster is None:
        parents = await budgets.parents(tx, world.name)
    else:
        home = Scope(world.name, cluster.account, cluster.region)
        parents = await fleets.parents(tx, home, cluster.cluster_id, world.now)
    check_budget(wish, parents)
    return wish.budget if parents else None


def _strategy(intent: JobIntent) -> str:
    return job_spec.scheduling(intent.spec).strategy


def check(scope: Scope, intent: JobIntent, world: World) -> list[tuple[Mapping[str, int], int]]:
    """How much of which quota metric a replica uses, and how many do, none on a cluster. Invalid for a spec that cannot
    be."""
    job_spec.check(intent.spec)
    plan = job_spec.scheduling(intent.spec)
    for pool in job_spec.pools(intent.spec):
        program(pool, intent.labels, intent.environment, world.timings.delays["program"])
    if wish_of(intent.labels, plan.strategy).cluster is not None:
        fleets.needs(intent.spec)
        return []
    uses: list[tuple[Mapping[str, int], int]] = []
    for pool in job_spec.pools(intent.spec):
        kind = machine(pool.machine_type)
        check_machine(
            kind, pool.accelerator, pool.accelerators, plan.strategy, place(scope.region), reserved=pool.reserved
        )
        uses.append((metrics(kind, pool.accelerator, pool.accelerators, plan.strategy), pool.replicas))
    return uses


def _sum(uses: Iterable[tuple[Mapping[str, int], int]]) -> dict[str, int]:
    needs: dict[str, int] = {}
    for one, count in uses:
        for metric, amount in one.items():
            needs[metric] = needs.get(metric, 0) + amount * count
    return needs


def _build(scope: Scope, intent: JobIntent, world: World, number: int) -> Job:
    wish = wish_of(intent.labels, job_spec.scheduling(intent.spec).strategy)
    return Job(
        account=scope.account,
        region=scope.region,
        job_id=job_id(world.seed, scope.account, scope.region, number),
        number=number,
        display_name=intent.display_name,
        spec=job_spec.settled(intent.spec),
        labels=intent.labels,
        created_at=world.now,
        queued_at=world.now,
        updated_at=world.now,
        strategy=job_spec.scheduling(intent.spec).strategy,
        fleet=POOL,
        fleet_account=scope.account,
        fleet_region=scope.region,
        environment=intent.environment,
        encryption=intent.encryption,
        budget=wish.budget,
        min_runtime=wish.min_runtime,
        tuning_id=intent.tuning_id,
        trial_id=intent.trial_id,
        pipeline_id=intent.pipeline_id,
    )


def _replicas(job: Job) -> list[Replica]:
    return [
        Replica(pool.index, ordinal, Worker.WAITING, job.created_at, pool.machine_type)
        for pool in job_spec.pools(job.spec)
        for ordinal in range(pool.replicas)
    ]


async def get(tx: Tx, scope: Scope, job_id: str) -> tuple[Job, World]:
    """The job, and the world, whose time says what is told of it. NotFound."""
    found = await jobs.seen(tx, scope, job_id)
    if found is None:
        raise no_world(scope)
    world, job = found
    if job is None:
        raise unknown(scope, job_id)
    return job, world


def unknown(scope: Scope, job_id: str) -> NotFound:
    """The service's words, and what to do."""
    name = job_name(scope.account, scope.region, job_id[:64])
    return NotFound(f"The custom job {name} was not found. List the jobs of this location.", ("job", job_id))


async def named(tx: Tx, world: str, name: str) -> Job:
    """The job by its id or its display name: then the newest of that name, in any project and region. NotFound."""
    found = await jobs.named(tx, world, name)
    if found is None:
        raise NotFound(f"There is no job '{name[:128]}' in world '{world}'. Name it by its id or its display name.")
    return found


class Inspected(NamedTuple):
    """A job, the state that is told of it, for how long it has run by now, and its workers."""

    job: Job
    state: JobState
    ran_ms: int
    replicas: Sequence[Replica]


async def inspect(tx: Tx, world: str, name: str) -> Inspected:
    """The job of the name, as `named` finds it, and all that is known of it."""
    known = await named(tx, world, name)
    scope = Scope(world, known.account, known.region)
    job, seen_in = await get(tx, scope, known.job_id)
    workers = await replicas.of_jobs(tx, scope, [job.job_id])
    return Inspected(job, state(job, seen_in.now), ran_ms(job, seen_in.now), workers[job.job_id])


async def listed(tx: Tx, scope: Scope, before: int | None = None, limit: int = MOST_LISTED) -> list[Job]:
    """The project's jobs in the region, the newest first: those with a `number` below `before` if that is given."""
    return await jobs.listed(tx, scope, before, limit)


async def _locked(tx: Tx, scope: Scope, job_id: str) -> jobs.Claimed:
    found = await jobs.lock(tx, scope, job_id)
    if found is None:
        raise unknown(scope, job_id)
    return found


async def cancel(tx: Tx, scope: Scope, job_id: str) -> None:
    """Ask for the job's end; of one that has ended, or that is being cancelled, nothing is asked."""
    world = await hold_world(tx, scope)
    job, due_at = await _locked(tx, scope, job_id)
    if job.ended_at is not None or job.cancel_at is not None:
        return
    asked = replace(job, cancel_at=world.now, updated_at=world.now)
    await jobs.save(tx, scope.world, [(asked, world.now if due_at is None else min(due_at, world.now))])


async def delete(tx: Tx, scope: Scope, job_id: str) -> None:
    """Delete the job. FailedPrecondition while it is active."""
    world = await hold_world(tx, scope)
    job, due_at = await _locked(tx, scope, job_id)
    told = state(job, world.now)
    if told not in FINAL:
        raise FailedPrecondition(
            f"The custom job {job_id} is in state {told}, and only a job that has ended can be deleted. "
            "Cancel it first, and wait until it has ended."
        )
    await jobs.save(tx, scope.world, [(replace(job, deleted_at=world.now), due_at)])
    if due_at is None:
        await jobs.forget(tx, scope, [job_id])
