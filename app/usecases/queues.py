"""Clusters' GPUs as workloads see them, and who waits, with the reason (VX-1, FS-13). Worked out when asked."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app import catalog
from app.core.admission import check_needs
from app.core.cluster import Cluster
from app.core.errors import LimitExceeded
from app.core.job import is_managed, job_name
from app.core.scheduling.explaining import Explanation
from app.core.scheduling.serving import in_turn
from app.core.scheduling.survey import Survey
from app.core.scheduling.workload import Status
from app.core.scope import Scope
from app.core.times import WorldTime, from_millis
from app.store import budget_use, capacity, fleet_jobs, placements, sessions, workloads
from app.store.db import Tx
from app.store.fleet_jobs import Guest
from app.store.placements import NodeRow
from app.store.workloads import NEW, Row
from app.usecases import known_clusters
from app.usecases.bills import of_cluster
from app.usecases.explanations import HOLE, reasoned
from app.usecases.fleet_memory import Loaded, look
from app.usecases.fleets import needs
from app.usecases.known_fleets import is_of

MOST_SHOWN = 1000
QUOTA_IN_USE = "quota-in-use"
QUOTA_MESSAGE = "Others use the project's quota in this region. It starts in its turn, when enough of it is free."
QUOTA_TOO_SMALL = "quota-too-small"


class Fleet(NamedTuple):
    """A cluster's GPUs of one model. `ready` are those of nodes that take work now, `taken` those that are held."""

    cluster: Cluster
    model: str
    nodes: int
    gpus: int
    ready: int
    taken: int


class Queued(NamedTuple):
    """What waits: a workload of a cluster's fleet or of a managed pool, or a job for the quota of its project; `gpus`
    in all; and why.

    `lacking` are the replicas that wait for nodes in the places of lost ones, None: all wait. `told` is what the
    cluster's scheduler says of it, `priority` its place within its budget.
    """

    name: str
    shown: str
    cluster: Cluster | None
    budget: str | None
    queued_at: WorldTime
    gpus: int
    lacking: Sequence[str] | None
    reason: str
    message: str
    priority: int = 0
    told: Explanation | None = None
    pool: str | None = None


async def fleets(tx: Tx, world: str, cluster: str | None) -> list[Fleet]:
    """The living clusters' GPUs by model, of one cluster by name, id or ARN if it is given."""
    found: list[Fleet] = []
    for one in await known_clusters.living(tx, world, cluster):
        rows = await placements.nodes(tx, Scope(world, one.account, one.region), one.cluster_id)
        found += _by_model(one, rows)
    return found


async def queue(
    tx: Tx, world: str, cluster: str | None, budget: str | None = None, limit: int = MOST_SHOWN
) -> list[Queued]:
    """Who waits, the first to be served first: on each cluster, and without one named for the quotas of regions."""
    await sessions.see_one_state(tx)
    found: list[Queued] = []
    for one in await known_clusters.living(tx, world, cluster):
        if one.hosts and len(found) < limit:
            scope = Scope(world, one.account, one.region)
            found += await _of_fleet(tx, scope, one.cluster_id, one, budget, limit - len(found))
    for scope, pool in await _managed(tx, world, cluster):
        if len(found) < limit:
            found += await _of_fleet(tx, scope, pool, None, budget, limit - len(found))
    if cluster is None and budget is None:
        found += await _for_quota(tx, world)
    return found[:limit]


async def _managed(tx: Tx, world: str, name: str | None) -> list[tuple[Scope, str]]:
    """The managed pools with work, of one name if it is given."""
    found = [(scope, fleet) for scope, fleet in await budget_use.fleets(tx, world) if is_managed(fleet)]
    owner = None if name is None else of_cluster(name)
    return [one for one in found if owner is None or is_of(*one, owner)]


async def _of_fleet(
    tx: Tx, scope: Scope, fleet: str, cluster: Cluster | None, budget: str | None, limit: int
) -> list[Queued]:
    holes = [] if cluster is None else await fleet_jobs.holes(tx, scope, fleet)
    guests = {guest.job_id: guest for guest in holes}
    names = await fleet_jobs.shown_names(tx, scope, fleet)
    rows = await workloads.living(tx, scope, fleet)
    loaded = await look(tx, scope, fleet)
    found: list[Queued] = []
    survey = Survey(loaded.state)
    for row in _in_turn(loaded, [row for row in rows if budget is None or budget in _path(loaded, row)])[:limit]:
        why = reasoned(loaded, survey, fleet, row)
        guest = guests.get(row.name)
        found.append(
            Queued(
                row.name if row.job is None else job_name(*row.job),
                names.get(row.name, row.name),
                cluster,
                row.leaf,
                from_millis(row.submit),
                why.wanted,
                guest.lacking if guest is not None and why.reason == HOLE else None,
                why.reason,
                why.message,
                row.priority,
                why.told,
                None if cluster else fleet,
            )
        )
    return found


def _path(loaded: Loaded, row: Row) -> list[str]:
    """The workload's budget and those above it."""
    if row.leaf is None:
        return []
    return [budget.id for budget in loaded.state.paths.get(row.leaf, ())] or [row.leaf]


def _in_turn(loaded: Loaded, rows: Sequence[Row]) -> list[Row]:
    """Those that wait: gangs that have lost nodes, who is about to start, then in the policy's order; at last those
    that need no GPUs, and those that no pass has seen."""
    state, known = loaded.state, {row.name: row for row in rows}
    held = [name for name, one in state.workloads.items() if one.status is Status.HELD]
    others = [row.name for row in rows if row.status == NEW or (row.gpus == 0 and row.status == "waiting")]
    names = [*state.holes, *held, *(one.id for one in in_turn(state)), *others]
    return [known[name] for name in dict.fromkeys(names) if name in known]


async def _for_quota(tx: Tx, world: str) -> list[Queued]:
    """Those in the regions' pools. A quota that was lowered after a job came may be smaller than the job."""
    found: list[Queued] = []
    limits: dict[Scope, dict[str, int]] = {}
    for guest, wanted in await fleet_jobs.queued_for_quota(tx, world, MOST_SHOWN):
        scope = Scope(world, guest.account, guest.region)
        if scope not in limits:
            limits[scope] = await capacity.quotas(tx, scope)
        try:
            check_needs(wanted, limits[scope])
        except LimitExceeded as error:
            found.append(_waits(guest, QUOTA_TOO_SMALL, f"{error}. It is passed over until the quota is raised."))
        else:
            found.append(_waits(guest, QUOTA_IN_USE, QUOTA_MESSAGE))
    return found


def _waits(guest: Guest, reason: str, message: str) -> Queued:
    gpus = sum(need.gpus for need in needs(guest.spec))
    return Queued(guest.name, guest.display_name, None, guest.budget, guest.queued_at, gpus, None, reason, message)


def _by_model(cluster: Cluster, rows: Sequence[NodeRow]) -> Iterator[Fleet]:
    """A cluster that is being created has no scheduler that could start anything (chosen)."""
    kinds = {row.logical_id: catalog.instance_type(row.instance_type) for row in rows}
    models = sorted({kind.gpu.name for kind in kinds.values() if kind.gpu is not None})
    for model in models:
        these = [row for row in rows if (gpu := kinds[row.logical_id].gpu) is not None and gpu.name == model]
        gpus = {row.logical_id: kinds[row.logical_id].accelerators for row in these}
        ready = sum(gpus[row.logical_id] for row in these if row.ready and cluster.in_service_at is not None)
        yield Fleet(cluster, model, len(these), sum(gpus.values()), ready, sum(row.taken for row in these))
