"""What the scheduler decides, as values; each is the record of itself (FS-13)."""

from dataclasses import dataclass
from enum import StrEnum

Places = tuple[tuple[str, int], ...]
"""How many replicas are on each host."""


class Code(StrEnum):
    """Why a decision was taken."""

    FREE = "free"
    AFTER_EVICTION = "after-eviction"
    UNFUNDED_YIELDS = "unfunded-yields"
    FAIR_SHARE = "fair-share"
    RESERVATION_DUE = "reservation-due"
    DRAINING = "draining"
    DEFRAGMENTED = "defragmented"
    HOLE = "hole"
    HOLE_NOT_FILLED = "hole-not-filled"
    PREEMPTED = "preempted"
    WAITED = "waited"
    STARTED = "started"
    WITHDRAWN = "withdrawn"
    INFEASIBLE = "infeasible"
    NODES_CHANGED = "nodes-changed"
    LIMIT_MET = "limit-met"
    PROTECTION_ENDS = "protection-ends"
    WITHIN_QUOTA = "within-quota"
    OVER_QUOTA = "over-quota"
    BORROWED = "borrowed"
    QUOTA_RECLAIMED = "quota-reclaimed"
    LOWER_PRIORITY = "lower-priority"
    # Of what nobody decided here: why nodes with work on them were lost (FS-4)
    SCALED_DOWN = "scaled-down"
    DELETED = "deleted"
    REBOOTED = "rebooted"
    REPLACED = "replaced"
    SOFTWARE_UPDATE = "software-update"
    HEALTH_CHECK = "health-check"
    MOVED = "moved"
    NODE_FAILED = "node-failed"
    NODE_GONE = "node-gone"


@dataclass(frozen=True, slots=True)
class Standing:
    """The two budgets below the lowest common ancestor and their ratios, as numerator and denominator (FS-8)."""

    preemptor: str
    preemptor_ratio: tuple[int, int]
    victim: str
    victim_ratio: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Admit:
    """The gang is bound, whole, and protected until then."""

    at: int
    workload: str
    places: Places
    funded: bool
    protected_until: int
    code: Code


@dataclass(frozen=True, slots=True)
class Preempt:
    """The victims have their grace; `places` are held for the preemptor until `due`. Without one, they just leave."""

    at: int
    workload: str | None
    victims: tuple[tuple[str, int], ...]
    """Each with the end of its grace."""
    places: Places
    due: int
    code: Code
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A victim is bound to `places` when its grace is over, without fresh protection (FS-10)."""

    at: int
    workload: str
    places: Places
    due: int
    code: Code


@dataclass(frozen=True, slots=True)
class Requeue:
    """The gang stops and waits again with its submit time; `resumed` False: it ends as PREEMPTED (FS-5)."""

    at: int
    workload: str
    resumed: bool
    code: Code


@dataclass(frozen=True, slots=True)
class Release:
    """The gang waits again: a node that it was to get has gone, drains or has become smaller."""

    at: int
    workload: str
    code: Code


@dataclass(frozen=True, slots=True)
class Fill:
    """The gang's hole is filled (FS-19)."""

    at: int
    workload: str
    places: Places
    code: Code


@dataclass(frozen=True, slots=True)
class Reserve:
    """The hosts are kept for the workload, which may evict there at `due`, the T of FS-9."""

    at: int
    workload: str
    hosts: tuple[str, ...]
    due: int
    since: int
    code: Code


@dataclass(frozen=True, slots=True)
class Unreserve:
    """The workload's reservation ends."""

    at: int
    workload: str
    code: Code


@dataclass(frozen=True, slots=True)
class Unfund:
    """The workload goes on unfunded: a budget's limit is met (FS-3), or its team uses more than its quota (FS-17)."""

    at: int
    workload: str
    budget: str
    code: Code


@dataclass(frozen=True, slots=True)
class Fund:
    """There is room for the workload in its team's quota: it goes on funded, without fresh protection (FS-17)."""

    at: int
    workload: str
    code: Code


@dataclass(frozen=True, slots=True)
class Drained:
    """Nothing runs on the host any more; it may be repaired (FS-11)."""

    at: int
    host: str
    code: Code


@dataclass(frozen=True, slots=True)
class Warn:
    """A session's protection ends soon (FS-12)."""

    at: int
    workload: str
    protected_until: int
    code: Code


Decision = Admit | Preempt | Move | Requeue | Release | Fill | Reserve | Unreserve | Unfund | Fund | Drained | Warn


@dataclass(frozen=True, slots=True)
class Lost:
    """Nobody's decision here: so many of the workload's replicas went with their host (FS-4, FS-19)."""

    at: int
    workload: str
    host: str
    replicas: int
    code: Code
