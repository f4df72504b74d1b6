"""Compute quotas of a fleet's teams, as values (FS-17)."""

from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Quota:
    """What one team may use. Amounts are GPUs of the fleet."""

    team: str
    gpus: int
    lends: bool = True
    """Whether others may use what the team leaves unused."""
    borrow_limit: int = 0
    """How many GPUs more than its quota the team may use."""
    weight: int = 0
    """Divides what is lent when the fleet has fair share; 0 never borrows then."""
    preempts: bool = True
    """Whether the team's work yields to its own work of higher priority."""


@dataclass(frozen=True, slots=True)
class Quotas:
    """The quotas of all teams that have work on the fleet, and how they share."""

    by_team: dict[str, Quota] = field(default_factory=dict)
    fair_share: bool = True
    """Whether borrowers are served by weight; otherwise by priority, then submit time."""
    idle_sharing: bool = False
    """Whether GPUs that no quota claims may be borrowed."""

    @property
    def claimed(self) -> int:
        """The GPUs of all quotas."""
        return sum(quota.gpus for quota in self.by_team.values())


class Refusal(StrEnum):
    """Why a team may not use more than its quota now."""

    MAY_NOT_BORROW = "may-not-borrow"
    OVER_BORROW_LIMIT = "over-borrow-limit"
    NOTHING_LENT = "nothing-lent"
    HELD_BACK = "held-back"
