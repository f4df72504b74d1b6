"""Why a workload waits, who is ahead, and when it could start at the earliest (FS-13)."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from app.core.errors import NotFound
from app.core.scheduling.admission import can_pay
from app.core.scheduling.budgets import Ratio
from app.core.scheduling.quota import Refusal
from app.core.scheduling.quotas import size
from app.core.scheduling.state import State
from app.core.scheduling.survey import ALL, FREE, YIELDING, Survey
from app.core.scheduling.victims import any_yields
from app.core.scheduling.workload import Status, Workload


class Reason(StrEnum):
    """Why a workload does not run; the first that holds is told."""

    RUNS = "runs"
    LEAVING = "leaving"
    STARTS_SOON = "starts-soon"
    NO_SUCH_NODE = "no-such-node"
    REPLICA_TOO_LARGE = "replica-too-large"
    FLEET_TOO_SMALL = "fleet-too-small"
    NODES_NOT_HEALTHY = "nodes-not-healthy"
    BUDGET_EXHAUSTED = "budget-exhausted"
    RESERVED_FOR_IT = "reserved-for-it"
    RESERVED_FOR_OTHERS = "reserved-for-others"
    FRAGMENTED = "fragmented"
    NOT_ITS_TURN = "not-its-turn"
    GPUS_PROTECTED = "gpus-protected"
    NO_FREE_GPUS = "no-free-gpus"
    MAY_NOT_BORROW = "may-not-borrow"
    OVER_BORROW_LIMIT = "over-borrow-limit"
    NOTHING_LENT = "nothing-lent"
    HELD_BACK = "held-back"
    NOTHING_TO_BORROW = "nothing-to-borrow"
    QUOTAS_IN_USE = "quotas-in-use"


_UNBLOCKS = {
    Reason.RUNS: "Nothing: it runs.",
    Reason.LEAVING: "It was evicted and stops when its grace is over.",
    Reason.STARTS_SOON: "It starts when the grace of those who leave for it is over.",
    Reason.NO_SUCH_NODE: "Nodes of its GPU model and zone, or a submission without them.",
    Reason.REPLICA_TOO_LARGE: "Larger nodes, or fewer GPUs a replica.",
    Reason.FLEET_TOO_SMALL: "More nodes, or fewer replicas.",
    Reason.NODES_NOT_HEALTHY: "The return of nodes that are being repaired.",
    Reason.BUDGET_EXHAUSTED: "A higher limit on the budget named, or a shorter minimum runtime.",
    Reason.RESERVED_FOR_IT: "The end of the protected work on the nodes reserved for it.",
    Reason.RESERVED_FOR_OTHERS: "The start of the gang that the nodes are reserved for, or a shorter minimum runtime.",
    Reason.FRAGMENTED: "Free GPUs on fewer nodes: it starts when enough of one node are free.",
    Reason.NOT_ITS_TURN: "GPUs held by budgets further above it in ratio, which time brings, or smaller work.",
    Reason.GPUS_PROTECTED: "The end of protected work.",
    Reason.NO_FREE_GPUS: "Free GPUs: unfunded work evicts nobody. Declare a minimum runtime on a budget to be funded.",
    Reason.MAY_NOT_BORROW: "Over quota, and its team borrows nothing: the end of its other work, or a larger quota.",
    Reason.OVER_BORROW_LIMIT: "Over quota and borrow limit: the end of its team's other work, or a higher limit.",
    Reason.NOTHING_LENT: "Over quota: GPUs that other teams leave unused and lend, or idle sharing of the rest.",
    Reason.HELD_BACK: "Held back by DontLend of the team named: more free GPUs, or a team that lends.",
    Reason.NOTHING_TO_BORROW: "Free GPUs: work beyond its team's quota, or without a team, evicts nobody.",
    Reason.QUOTAS_IN_USE: "Within its quota: the end of work that is within other quotas, or more nodes.",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one workload waits for. Times are milliseconds; ratios a numerator and a denominator."""

    workload: str
    reason: Reason
    unblocks: str
    wanted: int
    """GPUs."""
    free: int
    """GPUs free where it may run."""
    ratios: tuple[tuple[str, Ratio], ...]
    """Of each budget on its path, from the top down; of a team with a quota, GPUs that it uses and its quota."""
    ahead: tuple[str, ...]
    """Leaves with waiting work whose turn comes before, then the workload before it in its own leaf."""
    blocker: str | None
    """The budget that cannot pay, the workload that the nodes are reserved for, or the team that holds them back."""
    earliest: int | None
    """When enough protected work will be over; None: never with the nodes there are, or quotas decide, not time."""


def explain(state: State, name: str, now: int) -> Explanation:
    """Why the workload does not run now."""
    state.advance(now)
    return explained(Survey(state), name)


def explained(survey: Survey, name: str) -> Explanation:
    """The same of one of many at one instant."""
    state = survey.state
    if name not in state.workloads:
        raise NotFound(f"There is no workload {name} on this fleet.")
    workload = state.workloads[name]
    reason, blocker = _reason(survey, workload)
    path = [budget for budget in reversed(state.paths[workload.leaf]) if budget.parent is not None]
    return Explanation(
        name,
        reason,
        _UNBLOCKS[reason],
        workload.gpus * workload.replicas,
        survey.free(workload),
        tuple((budget.id, survey.ratio(budget)) for budget in path),
        _ahead(survey, workload) if workload.status is Status.WAITING else (),
        blocker,
        earliest(survey, workload),
    )


def _reason(survey: Survey, workload: Workload) -> tuple[Reason, str | None]:
    if workload.status is not Status.WAITING:
        return _OF_STATUS[workload.status], None
    hosts = survey.hosts(workload)
    if not hosts:
        return Reason.NO_SUCH_NODE, None
    if survey.largest(workload) < workload.gpus:
        return Reason.REPLICA_TOO_LARGE, None
    if not survey.fits(workload, ALL, healthy=False):
        return Reason.FLEET_TOO_SMALL, None
    if not survey.fits(workload, ALL):
        return Reason.NODES_NOT_HEALTHY, None
    if (budget := can_pay(survey.state, workload)) is not None:
        return Reason.BUDGET_EXHAUSTED, budget.id
    return _of_quotas(survey, workload) if survey.state.quotas is not None else _of_room(survey, workload)


_OF_STATUS = {Status.RUNNING: Reason.RUNS, Status.LEAVING: Reason.LEAVING, Status.HELD: Reason.STARTS_SOON}


def _of_room(survey: Survey, workload: Workload) -> tuple[Reason, str | None]:
    if workload.id in survey.state.reservations:
        return Reason.RESERVED_FOR_IT, None
    if survey.fits(workload, FREE):
        return Reason.RESERVED_FOR_OTHERS, survey.holder(workload)
    if survey.free(workload) >= workload.gpus * workload.replicas:
        return Reason.FRAGMENTED, None
    if not workload.wants_funds:
        return Reason.NO_FREE_GPUS, None
    if survey.fits(workload, YIELDING):
        if any_yields(survey.state, workload):
            return Reason.GPUS_PROTECTED, None
        return Reason.NOT_ITS_TURN, None
    return Reason.GPUS_PROTECTED, None


def _of_quotas(survey: Survey, workload: Workload) -> tuple[Reason, str | None]:
    now, team, gpus = survey.count, workload.leaf, size(workload)
    beyond = team is None or now.over(team, gpus) > 0
    refusal = now.refusal(team, gpus) if team is not None and beyond else None
    if refusal not in (None, Refusal.HELD_BACK):
        return Reason(refusal), None
    if now.free < gpus:
        return Reason.NOTHING_TO_BORROW if beyond else Reason.QUOTAS_IN_USE, None
    if not now.is_free(team, gpus):
        return Reason.HELD_BACK, now.holder(team)
    if survey.fits(workload, FREE):
        return Reason.QUOTAS_IN_USE, None
    return Reason.FRAGMENTED, None


def _ahead(survey: Survey, workload: Workload) -> tuple[str, ...]:
    if workload.leaf is None:
        return ()
    found = list(takewhile(lambda leaf: leaf != workload.leaf, survey.leaves_in_turn))
    before = survey.before(workload)
    return (*found, before) if before is not None else tuple(found)


def earliest(survey: Survey, workload: Workload) -> int | None:
    """When so many nodes are free of protected work as the gang needs, as things are; a held one when it is bound."""
    state = survey.state
    if workload.status in (Status.RUNNING, Status.LEAVING):
        return state.now
    if workload.status is Status.HELD:
        return workload.claim_due
    if workload.id in state.reservations:
        return max(state.now, state.reservations[workload.id].due)
    return survey.earliest(workload) if state.quotas is None else None
