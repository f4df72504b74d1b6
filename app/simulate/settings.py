"""What the policies of a simulation can be told; each takes what it knows of."""

from dataclasses import dataclass, field

from app.core.scheduling.policy import DAY, Policy


@dataclass(frozen=True, slots=True)
class Settings:
    """Durations are milliseconds."""

    budget: Policy = field(default_factory=Policy)
    """Of ours; its window is also that of `kai`."""
    half_life: int = 7 * DAY
    """After which use counts half, for `fairtree`."""
    k: int = 1_000
    """How hard past use is punished by `kai`, in thousandths."""
    quota: int = 0
    """The part of its claim that `kai` treats as deserved, in thousandths."""
    caps: int = 1_400
    """What `priority` caps a team's work at, in thousandths of its claim."""
    backfill: bool = True
    """Whether `fifo` and `priority` let work pass a head that does not fit."""
