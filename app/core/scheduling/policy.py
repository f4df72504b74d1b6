"""The settings of the policy; pilots vary them (FS-2 to FS-15)."""

from dataclasses import dataclass

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


@dataclass(frozen=True, slots=True)
class Policy:
    """Durations are milliseconds; `margin` is in millionths of a ratio."""

    window: int = 7 * DAY
    least_commitment: int = 15 * MINUTE
    """K counts at least so much of what starts (FS-2)."""
    longest_minimum: int = 8 * HOUR
    margin: int = 10_000
    funded_grace: int = 60 * SECOND
    unfunded_grace: int = 10 * SECOND
    reservation_wait: int = 15 * MINUTE
    max_reservations: int = 2
    reservation_ban: int = 8 * HOUR
    """A leaf that withdrew the holder of a reservation may not reserve for so long (FS-18)."""
    waive_at_t: bool = True
    """Whether FS-8 is waived at T for expired work that was there before the reservation (FS-9)."""
    yields_in_leaf: bool = True
    """Whether expired work yields to waiting work of its own leaf (FS-8)."""
    move_interval: int = 8 * HOUR
    warning: int = 30 * MINUTE
    hole_wait: int = 10 * MINUTE
    tick: int = 60 * SECOND
    sessions_only: bool = False
