"""A world: a universe with its own seed, timings and clock (CT-0, CT-1)."""

from dataclasses import dataclass

from app.core.times import WorldTime
from app.core.timings import PROFILES, Timings

MOST_RATE = 1_000_000.0
"""Virtual seconds in a second of the wall."""


@dataclass(frozen=True, slots=True)
class World:
    """A world as it is at the moment of reading; `now` is its time then."""

    name: str
    seed: int
    profile: str
    started_at: WorldTime
    rate: float
    frozen: bool
    leased: bool
    epoch: int
    now: WorldTime

    @property
    def timings(self) -> Timings:
        return PROFILES[self.profile]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the clock of a world was when the snapshot was saved, `at` an instant of the world's own time."""

    name: str
    at: WorldTime
    seed: int
    profile: str
    started_at: WorldTime
    rate: float
    frozen: bool
