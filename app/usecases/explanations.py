"""Where a workload stands and why, as its fleet's last pass left it (FS-13). Worked out when asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from app.core.job import is_managed
from app.core.scheduling.comparing import Rival, rivals
from app.core.scheduling.explaining import Explanation, Reason, explained
from app.core.scheduling.state import Reservation
from app.core.scheduling.survey import Survey
from app.core.scheduling.workload import Status
from app.store import listed_workloads, sessions
from app.store.db import Tx
from app.store.listed_workloads import Decided, Filter, Listed
from app.store.workloads import ENDED, NEW, Row
from app.usecases import workloads
from app.usecases.fleet_memory import Loaded, look

MOST_TOLD = 20
"""The last decisions that are told of a workload."""
NOT_SEEN = "not-seen-yet"
NOT_SEEN_MESSAGE = "The scheduler looks at it within a second of the world's time."
NO_NODE = "no-node"
NO_NODE_MESSAGE = "No node of the cluster takes work now. It starts when one does."
HOLE = "lost-nodes"
HOLE_MESSAGE = "Nodes of the running gang are lost. It gets others ahead of all who wait, or is requeued (FS-19)."
POOL_MESSAGE = "A larger quota, or the end of jobs without a budget that use it."
"""What unblocks work in a managed pool where on a cluster it were nodes."""
_OF_NODES = (Reason.NO_SUCH_NODE, Reason.REPLICA_TOO_LARGE, Reason.FLEET_TOO_SMALL)
RUNS, RUNS_MESSAGE = "runs", "Nothing: it runs."


class Reasoned(NamedTuple):
    """Why a workload does not run, or that it does; `wanted` are the GPUs that it waits for."""

    reason: str
    message: str
    wanted: int
    told: Explanation | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """All that is known of a workload. Times are milliseconds; `as_of` is that of the fleet's last pass, 0 before
    the first."""

    listed: Listed
    as_of: int
    why: Reasoned
    places: Mapping[str, int] = field(default_factory=dict)
    """How many replicas are on each host."""
    claim: Mapping[str, int] = field(default_factory=dict)
    """Likewise those for which GPUs are held there, until `starts_at`."""
    starts_at: int | None = None
    leaves_at: int | None = None
    """When the grace of an evicted one is over."""
    reservation: Reservation | None = None
    rivals: Sequence[Rival] = ()
    decisions: Sequence[Decided] = ()


async def stand(tx: Tx, world: str, cluster: str | None, name: str) -> Standing:
    """Where the workload stands, with the last decisions about it. NotFound; Invalid when several have the name."""
    await sessions.see_one_state(tx)
    found = await workloads.find(tx, world, cluster, name)
    which = Filter(*found.of.key)
    last = await listed_workloads.decisions(
        tx, world, which, workload=found.row.name, kinds=(), after=None, limit=MOST_TOLD
    )
    return _standing(await look(tx, found.of.scope, found.of.fleet), found, last)


def _standing(loaded: Loaded, found: Listed, last: Sequence[Decided]) -> Standing:
    state, name = loaded.state, found.row.name
    why, workload = reasoned(loaded, Survey(state), found.of.fleet, found.row), state.workloads.get(name)
    if workload is None:
        return Standing(found, state.now, why, decisions=last)
    return Standing(
        found,
        state.now,
        why,
        dict(workload.places),
        dict(workload.claim),
        workload.claim_due if workload.claim else None,
        workload.leaves_at if workload.status is Status.LEAVING else None,
        state.reservations.get(name),
        rivals(state, workload),
        last,
    )


def reasoned(loaded: Loaded, survey: Survey, fleet: str, row: Row) -> Reasoned:
    """Why the workload of the fleet does not run."""
    if row.status == ENDED:
        return Reasoned(row.end_reason or ENDED, "Nothing: it has ended.", 0)
    if row.status == NEW:
        return Reasoned(NOT_SEEN, NOT_SEEN_MESSAGE, row.gpus * row.replicas)
    workload = loaded.state.workloads.get(row.name)
    if workload is None:
        return Reasoned(NO_NODE, NO_NODE_MESSAGE, 0) if row.status == "waiting" else Reasoned(RUNS, RUNS_MESSAGE, 0)
    told = explained(survey, row.name)
    if row.name in loaded.state.holes:
        return Reasoned(HOLE, HOLE_MESSAGE, row.gpus * workload.missing, told)
    if is_managed(fleet) and told.reason in _OF_NODES:
        return Reasoned(Reason.FLEET_TOO_SMALL.value, POOL_MESSAGE, told.wanted, told)
    if told.reason is Reason.NO_SUCH_NODE and not loaded.state.hosts:
        return Reasoned(NO_NODE, NO_NODE_MESSAGE, told.wanted, told)
    return Reasoned(told.reason.value, told.unblocks, 0 if workload.places else told.wanted, told)
