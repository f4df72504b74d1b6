"""Workloads as requests see them: submitted to a cluster's scheduler, listed, changed, taken back (CT-10, FS-13).

A request writes what is wanted, and leaves a wake; what becomes of it is the scheduler's to decide.
"""

from collections.abc import Sequence

from app import catalog
from app.core.budget_tree import ROOT, Change, Tree, grown
from app.core.cluster import Cluster
from app.core.errors import Conflict, InUse, Invalid, NotFound
from app.core.job_labels import Home
from app.core.own_workload import Wanted, check, meant
from app.core.scheduling.history import ChangeKind
from app.core.scheduling.policy import Policy
from app.core.scope import Scope
from app.core.times import WorldTime, to_millis
from app.core.values import evolve
from app.store import budgets, clusters, listed_workloads, scheduling, wakes, workloads
from app.store.db import Tx
from app.store.listed_workloads import Filter
from app.store.listed_workloads import Listed as Listed
from app.store.workloads import CANCEL, PRIORITY
from app.store.workloads import Row as Row
from app.usecases import clocks, fleets, known_clusters, team_quotas
from app.usecases.bills import of_cluster

MOST_LISTED = 1000


async def submit(tx: Tx, world_name: str, cluster: str | None, wanted: Wanted, home: Home) -> Listed:
    """The workload waits for the cluster's scheduler. Invalid, NotFound, InUse, Conflict: it cannot run there ever."""
    world = await clocks.kept(tx, world_name)
    wanted = evolve(wanted, model=_model(wanted.model))
    chosen = await _hold(tx, world_name, cluster, home)
    scope, fleet = Scope(world_name, chosen.account, chosen.region), chosen.cluster_id
    number = await scheduling.number_workload(tx, scope, fleet)
    row = await scheduling.read(tx, scope, fleet)
    check(wanted, Policy(**(row.policy if row is not None else {})), await _tree(tx, scope, fleet, world.now))
    await _check_free(tx, scope, fleet, wanted.name)
    made = _row(wanted, number, to_millis(world.now))
    await workloads.insert(tx, scope, fleet, made, made.submit)
    await wakes.leave(tx, scope, wakes.FLEET, fleet, world.now)
    return Listed(listed_workloads.FleetOf(scope, fleet, chosen.name), made.name, made)


def _row(wanted: Wanted, number: int, submit: int) -> Row:
    return Row(
        name=wanted.name,
        number=number,
        leaf=wanted.budget,
        gpus=wanted.gpus,
        replicas=wanted.replicas,
        min_runtime=wanted.min_runtime,
        priority=wanted.priority,
        submit=submit,
        resumable=wanted.resumable,
        kind=wanted.kind.value,
        checkpoint=wanted.checkpoint,
        model=wanted.model,
        zone=wanted.zone,
        runtime=wanted.runtime,
    )


def _model(name: str) -> str:
    if not name:
        return ""
    try:
        return catalog.gpu(name).name
    except LookupError as error:
        raise Invalid(f"{error} Leave the model out to take any that the cluster has.") from None


async def _hold(tx: Tx, world: str, cluster: str | None, home: Home) -> Cluster:
    """The cluster, locked; from now on its passes look after work on its nodes."""
    found = meant(cluster, await known_clusters.living(tx, world, cluster), home.account, home.region)
    held = await clusters.lock(tx, Scope(world, found.account, found.region), found.arn)
    locked = meant(cluster, [] if held is None else [held.cluster], home.account, home.region)
    await fleets.host(tx, world, locked)
    return locked


async def _tree(tx: Tx, scope: Scope, fleet: str, now: WorldTime) -> Tree:
    """The world's budgets, or on a cluster with compute quotas its teams (FS-17)."""
    teams = await team_quotas.teams(tx, scope, fleet, now)
    if not teams:
        return grown(await budgets.changes(tx, scope.world))
    return grown([Change(ChangeKind.CREATE, team, ROOT, 1, (), place) for place, team in enumerate(teams, 1)])


async def _check_free(tx: Tx, scope: Scope, fleet: str, name: str) -> None:
    """A name is a workload's for ever, since the ledger and the decisions name it (chosen)."""
    for row in await workloads.named(tx, scope, fleet, [name]):
        if row.ended_at is None:
            raise InUse(f"There is a workload {name} on this cluster already. Give this one another name.")
        raise InUse(
            f"There was a workload {name} on this cluster, and the ledger keeps its name. Give this one another, such "
            f"as {name}-2."
        )


async def listed(
    tx: Tx, world: str, cluster: str | None, budget: str | None, statuses: Sequence[str], limit: int
) -> list[Listed]:
    """The newest first, also those that have ended."""
    await clocks.read(tx, world)
    return await listed_workloads.page(
        tx, world, which(cluster), budget=budget, statuses=statuses, limit=min(limit, MOST_LISTED)
    )


def which(cluster: str | None) -> Filter:
    """The fleets that a cluster's name, id or ARN means; Invalid for an ARN that is none."""
    return Filter() if cluster is None else Filter(*of_cluster(cluster)[1:4])


async def find(tx: Tx, world: str, cluster: str | None, name: str) -> Listed:
    """The workload of that name, or of the job with that id or display name: the living one, else the newest.

    NotFound; Invalid when several live.
    """
    await clocks.read(tx, world)
    found = await listed_workloads.called(tx, world, which(cluster), name.rpartition("/")[2])
    if not found:
        where = "" if cluster is None else f" on {cluster[:120]!r}"
        raise NotFound(f"There is no workload {name[:120]!r}{where}. `windtunnel workload list` shows those there are.")
    living = [one for one in found if one.row.ended_at is None]
    if len(living) > 1:
        told = ", ".join(f"{one.row.name} on {one.of.cluster or one.of.fleet}" for one in living[:5])
        raise Invalid(f"{name[:120]!r} fits several workloads: {told}. Name one by its id, and its cluster.")
    return (living or found)[0]


async def cancel(tx: Tx, world_name: str, cluster: str | None, name: str) -> Listed:
    """Its owner takes the workload back, in the next pass. Conflict: it has ended. Invalid: it is a job's."""
    world = await clocks.kept(tx, world_name)
    found = await find(tx, world_name, cluster, name)
    if found.row.job is not None:
        raise Invalid(
            f"Workload {found.row.name} is a job of Vertex AI's. Cancel projects/{found.row.project}/locations/"
            f"{found.row.location}/customJobs/{found.row.name} there."
        )
    await _tell(tx, found, CANCEL, to_millis(world.now))
    await wakes.leave(tx, found.of.scope, wakes.FLEET, found.of.fleet, world.now)
    return found


async def prioritise(tx: Tx, world_name: str, cluster: str | None, name: str, priority: int) -> Listed:
    """Change the workload's place among those of its budget, from the next pass on. Conflict: it has ended."""
    world = await clocks.kept(tx, world_name)
    found = await find(tx, world_name, cluster, name)
    await _tell(tx, found, PRIORITY, to_millis(world.now), priority=priority)
    await wakes.leave(tx, found.of.scope, wakes.FLEET, found.of.fleet, world.now)
    return found


async def _tell(tx: Tx, found: Listed, kind: str, at: int, **facts: int) -> None:
    if not await workloads.tell(tx, found.of.scope, found.of.fleet, found.row.name, at, kind, **facts):
        raise Conflict(f"Workload {found.row.name} has ended ({found.row.end_reason}). Nothing can change it.")
